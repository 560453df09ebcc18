// The trees of versions: a version never changes, so the tree of its files is made once, and kept as a blob of its manifest.
import { TREE_PATH } from '../../domain/publishing/manifest.ts';
import { PORTION_ROWS, type Portions, portionsOf } from '../../domain/portions.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Store } from '../../store/open-store.ts';

export interface VersionTreeParts {
  readonly manifests: Pick<Store['manifests'], 'listFiles' | 'findFile' | 'keepTree'>;
  readonly blobs: Pick<BlobStore, 'hold' | 'open'>;
}

/** Makes the tree of some files as text, in pieces. */
export type RenderTree = (files: Portions<FileVersion>) => AsyncIterable<string>;

/** Bytes that are written or read at once. */
const PIECE_BYTES = 65_536;

/** The functions. Versions are named by their `seq`. */
export function makeVersionTrees({ manifests, blobs }: VersionTreeParts) {
  const making = new Map<number, Promise<string>>();

  /** The files of a version, in the order of their workspace paths. */
  const filesOf = (seq: number): Portions<FileVersion> =>
    portionsOf((last) => manifests.listFiles(seq, last?.path ?? '/', PORTION_ROWS));

  async function make(seq: number, render: RenderTree): Promise<string> {
    const hold = blobs.hold();
    let size = 0;
    async function* counted(): AsyncIterable<Uint8Array> {
      for await (const bytes of written(render(filesOf(seq)))) {
        size += bytes.length;
        yield bytes;
      }
    }
    try {
      const sha256 = await hold.put(counted());
      await manifests.keepTree(seq, { size, sha256 }, await hold.contents.read([sha256]));
      return sha256;
    } finally {
      hold.release();
    }
  }

  return {
    filesOf,

    /** The key of the blob with the tree of a version; whoever asks first has it made. Rejects when it can't be kept. */
    keyOf: async (seq: number, render: RenderTree): Promise<string> => {
      const known = await manifests.findFile(seq, TREE_PATH);
      if (known !== undefined) return known.sha256;
      const made = making.get(seq) ?? make(seq, render).finally(() => making.delete(seq));
      making.set(seq, made);
      return made;
    },

    /** The text of such a blob, in pieces. */
    async *textOf(key: string): AsyncIterable<string> {
      const blob = await blobs.open(key);
      try {
        const decoder = new TextDecoder();
        for (let at = 0; at < blob.size; at += PIECE_BYTES) {
          const bytes = Buffer.allocUnsafe(Math.min(PIECE_BYTES, blob.size - at));
          await blob.read(bytes, at);
          yield decoder.decode(bytes, { stream: true });
        }
      } finally {
        await blob.close();
      }
    },
  };
}

async function* written(pieces: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < PIECE_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
