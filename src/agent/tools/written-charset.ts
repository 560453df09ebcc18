// The charset that a tool writes a file in: the one that the file has, unless the agent says otherwise (M6).
import { charsetNamed, encodeAs } from '../../domain/charsets/charset-text.ts';
import { type Charset, markFor } from '../../domain/charsets/detect-charset.ts';

export const CHARSET_INPUT = {
  type: 'string',
  description: 'Charset to write the file in, such as "utf-8". Default: the one that the file has, or UTF-8.',
} as const;

/** How a file was written until now. */
export interface WrittenAs {
  readonly charset: Charset;
  readonly mark: Uint8Array;
}

export type Written =
  | { readonly ok: true; readonly bytes: Buffer; readonly charset: Charset }
  /** In words for the model. */
  | { readonly ok: false; readonly why: string };

/** The bytes of a text, in the charset that was asked for, or else in that of the file before. */
export async function bytesToWrite(text: string, asked: string, before: WrittenAs): Promise<Written> {
  const charset = asked === '' ? before.charset : charsetNamed(asked);
  if (charset === undefined) return { ok: false, why: `There is no charset ${JSON.stringify(asked)}.` };
  const mark = charset === before.charset ? before.mark : markFor(charset);
  const encoded = await encodeAs(text.replace(/^\uFEFF/, mark.length > 0 ? '' : '\uFEFF'), charset, mark);
  if (encoded.ok) return { ok: true, bytes: encoded.bytes, charset };
  const why =
    encoded.lacks === null
      ? `Nothing can be written in ${charset}.`
      : `The file is ${charset}, which has no ${JSON.stringify(encoded.lacks)}.`;
  return { ok: false, why: `${why} Set \`charset\` to "utf-8" to convert the whole file, or leave that out.` };
}

/** Says which charset it was, where that isn't UTF-8. */
export const noteOn = ({ charset }: { readonly charset: Charset }): string =>
  charset === 'utf-8' ? '' : ` It is written in ${charset}.`;
