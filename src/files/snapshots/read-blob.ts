// Reads the bytes of blobs on the snapshot thread: small ones are asked for, some at a time, the others are files.
import { closeSync, openSync, readSync } from 'node:fs';
import { MB } from '../../domain/byte-units.ts';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import { blobPath } from '../blobs/blob-place.ts';
import type { Pace } from './pace.ts';
import type { SnapshotFile } from './snapshot.ts';
import type { Work } from './take-snapshot.ts';

const CHUNK_BYTES = 262_144;

/** The bytes of a file, in chunks that the reader may keep. */
export type ReadBlob = (file: SnapshotFile) => AsyncGenerator<Buffer>;

/** The content of a recorded file is gone, or a part of it. */
export class LostContentError extends ErrandError {
  readonly path: string;

  constructor(path: string, words: string) {
    super('unavailable', `${path} ${words}.`);
    this.path = path;
  }
}

export interface PackedBlobs {
  /** Of blobs that are files. */
  readonly directory: string;
  /** All, in the order in which they are read. */
  readonly files: readonly SnapshotFile[];
  readonly ask: Work['ask'];
  readonly pace: Pace;
}

/** Small blobs that are asked for at once. */
const [MOST_ASKED, MOST_ASKED_BYTES] = [256, MB];

/** Makes what reads the bytes of each file. It throws `unavailable` when a blob is gone or damaged. */
export function makeReadBlob({ directory, files, ask, pace }: PackedBlobs): ReadBlob {
  /** Those that were asked for last; without those that are files of an earlier version. */
  let small: ReadonlyMap<string, Uint8Array> = new Map();
  let asked: ReadonlySet<string> = new Set();

  async function askFor(file: SnapshotFile): Promise<void> {
    let next = files.indexOf(file);
    const keys = new Set<string>();
    for (let bytes = 0; next < files.length && keys.size < MOST_ASKED && bytes <= MOST_ASKED_BYTES; next += 1) {
      const { size, sha256 } = files[next]!;
      if (size > SMALL_BLOB_BYTES) continue;
      bytes += keys.has(sha256) ? 0 : size;
      keys.add(sha256);
    }
    asked = keys;
    small = await ask([...keys]);
  }

  return async function* (file) {
    if (file.size <= SMALL_BLOB_BYTES) {
      if (!asked.has(file.sha256)) await askFor(file);
      await pace.rest();
      const bytes = small.get(file.sha256);
      if (bytes !== undefined) {
        yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        return;
      }
    }
    yield* readBlob(directory, file, pace);
  };
}

async function* readBlob(directory: string, { path, size, sha256 }: SnapshotFile, pace: Pace): AsyncGenerator<Buffer> {
  const file = openBlob(blobPath(directory, sha256), path);
  try {
    for (let at = 0; at < size; ) {
      await pace.rest();
      const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
      const count = readSync(file, bytes, 0, bytes.length, at);
      // An archive whose entry is shorter than declared could not be read beyond it.
      if (count === 0) throw new LostContentError(path, 'is no longer complete');
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
    if (codeOf(error) === 'ENOENT') throw new LostContentError(path, 'no longer exists');
    throw error;
  }
}
