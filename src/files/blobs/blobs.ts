// Blobs: bytes stored under the SHA-256 of their content, each content once. Small ones are rows, the others files.
import { writeFile } from 'node:fs/promises';
import { type Contents, type ContentSource, SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import { openFileBlobs } from './file-blobs.ts';
import { gather, type Pieces } from './gather.ts';
import type { Portion } from './held-contents.ts';
import { type Held, type HeldRest, makeHolds } from './holds.ts';
import { inMemory, type OpenBlob, wholeOf } from './open-blob.ts';
import { makeSmallContent, type SmallBlobRows } from './small-content.ts';

/** The interface to where bytes are stored (design: only `Database` and `BlobStore` have twins). */
export interface BlobStore {
  /** Starts to store bytes that no row refers to yet: a held blob is not removed before it is released. */
  hold(): BlobHold;
  /** Holds all blobs, until those up to a key have been copied, one after another. */
  holdRest(): HeldRest;
  /** The bytes of a blob. Rejects when no blob has that key. */
  read(key: string): Promise<Buffer>;
  /** The bytes of those of some blobs that are rows, or will be. The caller limits how much that is. */
  readSmall(keys: readonly string[]): Promise<Contents>;
  /** Copies the bytes of a blob into an existing file. Throws `not_found` when no blob has that key. */
  copyTo(key: string, path: string): Promise<void>;
  /** Opens a blob to send parts of it; the caller closes it. Throws `not_found` when no blob has that key. */
  open(key: string): Promise<OpenBlob>;
  /** Keys of blobs that may be unused, a few at a time, unordered: of the files of its directory. */
  listHere(): AsyncIterable<string>;
  /** The same of what all nodes share: of objects of a bucket, and of those rows that no other lists. */
  listShared(): AsyncIterable<string>;
  /** Whether someone holds a blob: a row may soon refer to it. */
  isHeld(key: string): boolean;
  /** Keys of those that someone holds by themselves, not with all; one may be there more than once. */
  listHeld(): Iterable<string>;
  /** Removes a blob unless it is in use or held. Returns false when it is held, so that the caller must retry. */
  removeUnless(key: string, isInUse: (key: string) => Promise<boolean>): Promise<boolean>;
}

/** `add` holds an existing blob. */
export interface BlobHold extends Held {
  /** Takes bytes, whole or in chunks, and returns their key: lower-case hex SHA-256. They are stored durably, or among the contents. */
  put(bytes: Uint8Array | Pieces): Promise<string>;
  /** Takes small blobs of the snapshot thread among the contents. */
  take(portion: Portion): void;
  /** The bytes of small blobs, which whoever lists one stores in the same commit. */
  readonly contents: ContentSource;
}

/** Opens the blob store below a directory, and removes what a crash left half-written. */
export async function openBlobStore(directory: string, rows: SmallBlobRows): Promise<BlobStore> {
  const files = await openFileBlobs(directory);
  const small = makeSmallContent(rows);
  const holds = makeHolds(async (key, isHeld) => {
    // First, as no other code may run between the check and this.
    const size = files.remove(key);
    small.forget(key);
    return size !== undefined && size > SMALL_BLOB_BYTES ? true : small.remove(key, isHeld);
  });

  function makeHold(): BlobHold {
    const { add, release } = holds.open();
    const contents = small.open();
    return {
      contents,
      put: async (bytes) => {
        const given = await gather(bytes instanceof Uint8Array ? [bytes] : bytes, SMALL_BLOB_BYTES);
        if (!Buffer.isBuffer(given)) return files.keep(given, add);
        return contents.put(given, add) ?? files.keep([given], add);
      },
      take: contents.add,
      add,
      release: () => {
        contents.release();
        return release();
      },
    };
  }

  return {
    hold: makeHold,
    holdRest: holds.openRest,
    read: async (key) => {
      const known = await small.find(key);
      return known === undefined ? files.read(key) : Buffer.from(known);
    },
    readSmall: small.findSome,
    copyTo: async (key, path) => {
      const known = await small.find(key);
      await (known === undefined ? files.copyTo(key, path) : writeFile(path, known));
    },
    open: async (key) => {
      const known = await small.find(key);
      if (known !== undefined) return inMemory(known);
      const file = await files.open(key);
      return file.size > SMALL_BLOB_BYTES ? file : inMemory(await small.keep(key, () => wholeOf(file)));
    },
    listHere: files.list,
    listShared: small.listUnused,
    isHeld: holds.isHeld,
    listHeld: holds.list,
    removeUnless: holds.removeUnless,
  };
}
