// Blobs as files below a directory: all that are larger than a row takes, and small ones of earlier versions.
import { createHash, randomUUID } from 'node:crypto';
import { constants, rmSync, statSync } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, notFound } from '../../domain/errors.ts';
import { blobPath, incomingPath, listKeys } from './blob-place.ts';
import type { Pieces } from './gather.ts';
import { endedEarly, type OpenBlob } from './open-blob.ts';

const { COPYFILE_FICLONE } = constants;

export interface FileBlobs {
  /** Stores bytes durably, and returns their key. `hold` is called with it before there can be such a file. */
  keep(pieces: Pieces, hold: (key: string) => void): Promise<string>;
  read(key: string): Promise<Buffer>;
  copyTo(key: string, path: string): Promise<void>;
  open(key: string): Promise<OpenBlob>;
  list(): AsyncIterable<string>;
  /** Removes one within this call. Returns its size, or undefined when there was none. */
  remove(key: string): number | undefined;
}

/** Opens them, and removes what a crash left half-written. */
export async function openFileBlobs(directory: string): Promise<FileBlobs> {
  const incoming = incomingPath(directory);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => blobPath(directory, key);

  async function place(temporary: string, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (await exists(path)) await rm(temporary);
    else await rename(temporary, path);
    // Also for an existing blob: its writer may not have synced yet. Syncing an unchanged directory costs little.
    await syncDirectory(dirname(path));
    await syncDirectory(directory);
  }

  return {
    keep: async (pieces, hold) => {
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
    },
    read: async (key) => readFile(pathOf(key)),
    copyTo: async (key, path) => copyFile(pathOf(key), path, COPYFILE_FICLONE).catch(refuseMissing),
    open: async (key) => openFile(pathOf(key)),
    list: () => listKeys(directory),
    remove: (key) => {
      const size = statSync(pathOf(key), { throwIfNoEntry: false })?.size;
      if (size !== undefined) rmSync(pathOf(key), { force: true });
      return size;
    },
  };
}

function refuseMissing(error: unknown): never {
  throw codeOf(error) === 'ENOENT' ? notFound('File') : error;
}

async function openFile(path: string): Promise<OpenBlob> {
  const file = await open(path, 'r').catch(refuseMissing);
  try {
    const { size } = await file.stat();
    return { size, read: (bytes, start) => fill(file, bytes, start), close: async () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function fill(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) throw endedEarly();
    at += bytesRead;
  }
}

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
