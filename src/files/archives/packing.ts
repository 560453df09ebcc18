// The input of an archive format: names, and the bytes of their blobs in chunks.
import { closeSync, openSync, readSync } from 'node:fs';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { blobPath } from '../blobs/blob-place.ts';
import type { Pace } from '../snapshots/pace.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';

export interface Packing {
  readonly files: readonly SnapshotFile[];
  /** The directory of the blobs. */
  readonly blobs: string;
  /** Takes the next bytes of the archive. */
  readonly write: (bytes: Buffer) => void;
  readonly pace: Pace;
}

const CHUNK_BYTES = 262_144;

/** The bytes of one file, in chunks that the reader may keep. Throws `unavailable` when its blob is gone or damaged. */
export async function* readBlob({ blobs, pace }: Packing, file: SnapshotFile): AsyncGenerator<Buffer> {
  const blob = openBlob(blobs, file);
  try {
    for (let at = 0; at < file.size; ) {
      await pace.rest();
      const bytes = readPart(blob, file, at);
      at += bytes.length;
      yield bytes;
    }
  } finally {
    closeSync(blob);
  }
}

/** All bytes of one file that is known to be small. As `readBlob` otherwise. */
export function readSmallBlob({ blobs }: Packing, file: SnapshotFile): Buffer {
  const blob = openBlob(blobs, file);
  try {
    const parts: Buffer[] = [];
    for (let at = 0; at < file.size; at += parts.at(-1)!.length) parts.push(readPart(blob, file, at));
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  } finally {
    closeSync(blob);
  }
}

function readPart(blob: number, { path, size }: SnapshotFile, at: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
  const count = readSync(blob, bytes, 0, bytes.length, at);
  // An archive whose entry is shorter than declared could not be read beyond it.
  if (count === 0) throw new ErrandError('unavailable', `${path} is no longer complete.`);
  return bytes.subarray(0, count);
}

function openBlob(directory: string, { path, sha256 }: SnapshotFile): number {
  try {
    return openSync(blobPath(directory, sha256), 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new ErrandError('unavailable', `${path} no longer exists.`);
    throw error;
  }
}
