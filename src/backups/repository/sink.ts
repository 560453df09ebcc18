// Where a backup is written to: pieces of content, each stored once, and a manifest at the end.
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncDiskOf } from '../../disk/sync-disk.ts';
import { MB } from '../../domain/byte-units.ts';
import { blobPath, placeBlobs } from '../../files/blobs/blob-place.ts';
import { writeAtomically } from '../../files/blobs/write-atomically.ts';
import { incomingOf, manifestPath, objectsOf } from './repository.ts';

/** What a backup has added. */
export interface Added {
  objects: number;
  bytes: number;
}

export interface Sink {
  /** Stores a piece unless it is known, and returns its SHA-256. The bytes may be overwritten when it resolves. */
  put(piece: Uint8Array): Promise<string>;
  /** Makes everything durable, then the manifest. */
  finish(id: string, manifest: (added: Added) => string): Promise<void>;
}

/** Pieces are made durable together, in batches of so many or of so many bytes: commits of the daemon wait for a larger sync. */
const BATCH = 256;
const BATCH_BYTES = 8 * MB;

export const keyOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Writes to a repository that the caller has opened. `requireSpace` throws when it must not be filled further. */
export function makeRepositorySink(repository: string, requireSpace: () => void): Sink {
  const objects = objectsOf(repository);
  const added: Added = { objects: 0, bytes: 0 };
  let batch = new Map<string, string>();
  let batchBytes = 0;

  async function flush(): Promise<void> {
    const written = Array.from(batch, ([key, path]) => ({ key, path }));
    batch = new Map();
    batchBytes = 0;
    requireSpace();
    await placeBlobs(objects, written);
  }

  return {
    put: async (piece) => {
      const key = keyOf(piece);
      if (batch.has(key) || isStored(objects, key, piece.length)) return key;
      const path = join(incomingOf(repository), String(added.objects));
      write(path, piece);
      batch.set(key, path);
      added.objects += 1;
      added.bytes += piece.length;
      batchBytes += piece.length;
      if (batch.size >= BATCH || batchBytes >= BATCH_BYTES) await flush();
      return key;
    },
    finish: async (id, manifest) => {
      await flush();
      // Those of a backup that was killed may have names that are not durable yet.
      if (!(await syncDiskOf(objects))) syncNames(objects);
      writeAtomically(manifestPath(repository, id), manifest(added), 0o600);
    },
  };
}

/** Of another size, it is damaged: it is written again. */
function isStored(objects: string, key: string, size: number): boolean {
  return statSync(blobPath(objects, key), { throwIfNoEntry: false })?.size === size;
}

function write(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at);
  } finally {
    closeSync(file);
  }
}

function syncNames(objects: string): void {
  for (const path of [objects, ...readdirSync(objects).map((shard) => join(objects, shard))]) {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}
