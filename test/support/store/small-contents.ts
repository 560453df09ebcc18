// Small contents, and attachments that list them.
import { hash } from 'node:crypto';
import type { ContentSource } from '../../../src/domain/sessions/contents.ts';
import type { NewAttachment } from '../../../src/store/sessions/user-message.ts';

/** The key of a blob with this content. */
export const keyOf = (content: string | Buffer): string => hash('sha256', content);

/** An attachment with this content. */
export function attachmentOf(content: string | Buffer, id: string): NewAttachment & { readonly workspacePath: string } {
  const named = { id, name: `${id}.txt`, path: `attachments/${id}/${id}.txt`, workspacePath: `/uploads/${id}.txt` };
  return { ...named, mimeType: 'text/plain', size: Buffer.byteLength(content), sha256: keyOf(content) };
}

export const contentsOf = (...contents: readonly (string | Buffer)[]): ReadonlyMap<string, Buffer> =>
  new Map(contents.map((content) => [keyOf(content), Buffer.from(content)]));

/** As a holder has them. `read`: how many were read at once. */
export function sourceOf(contents: ReadonlyMap<string, Buffer>): ContentSource & {
  readonly reads: number[];
  readonly keys: string[];
} {
  const reads: number[] = [];
  return {
    reads,
    keys: [...contents.keys()],
    has: (key) => contents.has(key),
    read: async (keys) => {
      const some = new Map([...keys].flatMap((key) => (contents.has(key) ? [[key, contents.get(key)!] as const] : [])));
      reads.push(some.size);
      return some;
    },
  };
}
