// Blobs: bytes stored under the SHA-256 of their content, each content once.
import { createHash, randomUUID } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, notFound } from '../../domain/errors.ts';
import { blobPath, incomingPath, listKeys } from './blob-place.ts';
import { type Held, type HeldRest, makeHolds } from './holds.ts';
import { makeSmallBlobs, SMALL_BYTES, type SmallBlobs } from './small-blobs.ts';

const { COPYFILE_FICLONE } = constants;

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The interface to where bytes are stored (design: only `Database` and `BlobStore` have twins). */
export interface BlobStore {
  /** Starts to store bytes that no row refers to yet: a held blob is not removed before it is released. */
  hold(): BlobHold;
  /** Holds all blobs, until those up to a key have been copied, one after another. */
  holdRest(): HeldRest;
  /** The bytes of a blob. Rejects when no blob has that key. */
  read(key: string): Promise<Buffer>;
  /**
   * Copies the bytes of a blob into an existing file, without passing them through this process. Throws `not_found` when no
   * blob has that key.
   */
  copyTo(key: string, path: string): Promise<void>;
  /** Opens a blob to send parts of it; the caller closes it. Throws `not_found` when no blob has that key. */
  open(key: string): Promise<OpenBlob>;
  /** Keys of all blobs, a few at a time, unordered. */
  list(): AsyncIterable<string>;
  /** Whether someone holds a blob: a row may soon refer to it. */
  isHeld(key: string): boolean;
  /** Removes a blob unless it is in use or held. Returns false when it is held, so that the caller must retry. */
  removeUnless(key: string, isInUse: (key: string) => Promise<boolean>): Promise<boolean>;
}

/** A blob being read. Its bytes remain until it is closed, even when it is removed meanwhile. */
export interface OpenBlob {
  /** Bytes. */
  readonly size: number;
  /** Fills `bytes` from `start` on. Rejects when the blob has fewer. */
  read(bytes: Uint8Array, start: number): Promise<void>;
  close(): Promise<void>;
}

/** `add` holds an existing blob. */
export interface BlobHold extends Held {
  /** Stores bytes durably, passed whole or in chunks, and returns their key: lower-case hex SHA-256. */
  put(bytes: Uint8Array | Pieces): Promise<string>;
}

/** Opens the blob store below a directory, and removes what a crash left half-written. */
export async function openBlobStore(directory: string): Promise<BlobStore> {
  const incoming = incomingPath(directory);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => blobPath(directory, key);
  const small = makeSmallBlobs();
  const holds = makeHolds((key) => {
    small.remove(key);
    rmSync(pathOf(key), { force: true });
  });

  /** Writes the chunks to a temporary file, and moves it to its place once its key is known and held. */
  async function keep(pieces: Pieces, hold: (key: string) => void): Promise<string> {
    const temporary = join(incoming, randomUUID());
    try {
      const key = await writeDurably(temporary, pieces);
      // Before the look-up: from here on it must not be removed.
      hold(key);
      await place(temporary, pathOf(key));
      return key;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async function place(temporary: string, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (await exists(path)) await rm(temporary);
    else await rename(temporary, path);
    // Also for an existing blob: its writer may not have synced yet. Syncing an unchanged directory costs little.
    await syncDirectory(dirname(path));
    await syncDirectory(directory);
  }

  return {
    hold: () => {
      const { add, release } = holds.open();
      return {
        put: async (bytes) => keep(bytes instanceof Uint8Array ? [bytes] : bytes, add),
        add,
        release,
      };
    },
    holdRest: holds.openRest,
    read: async (key) => readFile(pathOf(key)),
    copyTo: async (key, path) => copyFile(pathOf(key), path, COPYFILE_FICLONE).catch(refuseMissing),
    open: async (key) => {
      const known = small.find(key);
      return known === undefined ? openFile(pathOf(key), key, small) : inMemory(known);
    },
    list: () => listKeys(directory),
    isHeld: holds.isHeld,
    removeUnless: holds.removeUnless,
  };
}

function refuseMissing(error: unknown): never {
  throw codeOf(error) === 'ENOENT' ? notFound('File') : error;
}

async function openFile(path: string, key: string, small: SmallBlobs): Promise<OpenBlob> {
  const file = await open(path, 'r').catch(refuseMissing);
  try {
    const { size } = await file.stat();
    const read: OpenBlob['read'] = (bytes, start) => fill(file, bytes, start);
    if (size > SMALL_BYTES) return { size, read, close: async () => file.close() };
    const whole = await small.keep(key, async () => {
      // Not from the pool, of which it would keep more than itself.
      const bytes = Buffer.allocUnsafeSlow(size);
      await read(bytes, 0);
      return bytes;
    });
    await file.close();
    return inMemory(whole);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function inMemory(whole: Buffer): OpenBlob {
  return {
    size: whole.length,
    read: async (bytes, start) => {
      if (whole.copy(bytes, 0, start) < bytes.length) throw endedEarly();
    },
    close: async () => undefined,
  };
}

async function fill(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) throw endedEarly();
    at += bytesRead;
  }
}

const endedEarly = () => new Error('A blob ended before its size.');

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes a new file, and returns the hash of its content. */
async function writeDurably(path: string, pieces: Pieces): Promise<string> {
  const hash = createHash('sha256');
  await using file = await open(path, 'wx', 0o600);
  for await (const piece of pieces) {
    hash.update(piece);
    await file.writeFile(piece);
  }
  await file.sync();
  return hash.digest('hex');
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
