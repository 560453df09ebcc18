// Names what a backup or a restore leaves out.
import type { LeftOut } from '../../../backups/left-out.ts';
import type { Output } from '../../frame/output.ts';

/** `what`: the rest of a sentence that begins with a path. Says nothing when nothing is left out. */
export function hintLeftOut(out: Pick<Output, 'hint'>, what: string, { count, named }: LeftOut): void {
  // As JSON: names may have control characters and escape sequences in them.
  for (const { path, why } of named) out.hint(`${asJson(path)} ${what}: ${why}.`);
  if (count > named.length) out.hint(`${count - named.length} more: ${count} in all.`);
}

/** Also the characters that JSON leaves: those that change the direction of text, and those that can't be seen. */
const asJson = (text: string) =>
  JSON.stringify(text).replace(/[\u007f-\u009f\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
