// The input of an archive format: names, and the bytes of their blobs in chunks.
import { closeSync, openSync, readSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { blobPath } from '../blobs/blob-place.ts';
import type { Pace } from '../snapshots/pace.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';

export interface Packing {
  readonly files: readonly SnapshotFile[];
  /** The bytes of a file, in chunks that the reader may keep. */
  readonly bytesOf: (file: SnapshotFile) => AsyncGenerator<Buffer>;
  readonly to: Writable;
  readonly signal: AbortSignal;
}

const CHUNK_BYTES = 262_144;
const [MIN_WINDOW, MAX_WINDOW] = [9, 15];

/** The memory for compressing some bytes: that for many is cleared for each archive, which takes longer than a few bytes do. */
export function memoryFor(bytes: number): { readonly windowBits: number; readonly memLevel: number } {
  const windowBits = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, Math.ceil(Math.log2(bytes + 1))));
  return { windowBits, memLevel: windowBits - 7 };
}

/** The bytes of one file. Throws `unavailable` when its blob is gone or damaged. */
export async function* readBlob(
  directory: string,
  { path, size, sha256 }: SnapshotFile,
  pace: Pace,
): AsyncGenerator<Buffer> {
  const file = openBlob(blobPath(directory, sha256), path);
  try {
    for (let at = 0; at < size; ) {
      await pace.rest();
      const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
      const count = readSync(file, bytes, 0, bytes.length, at);
      // An archive whose entry is shorter than declared could not be read beyond it.
      if (count === 0) throw new ErrandError('unavailable', `${path} is no longer complete.`);
      at += count;
      yield bytes.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

function openBlob(place: string, path: string): number {
  try {
    return openSync(place, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new ErrandError('unavailable', `${path} no longer exists.`);
    throw error;
  }
}
