// Writes a tar.gz that depends on names and contents only: no times, no owners.
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { Header, Pax } from 'tar';
import { uniqueName } from './entry-name.ts';
import { type Packing, readBlob } from './packing.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';

const BLOCK_BYTES = 512;
/** Two empty blocks end an archive. */
const END = Buffer.alloc(2 * BLOCK_BYTES);
const NO_TIME = new Date(0);
/** Archives of files and names up to this size are packed in memory, which costs less than streams. */
const SMALL_BYTES = 262_144;

type BytesOf = (file: SnapshotFile) => AsyncIterable<Buffer>;

/** Packs the files in their order. */
export async function packTarGz(packing: Packing): Promise<void> {
  const { files, pace, write } = packing;
  const bytesOf: BytesOf = (file) => readBlob(packing, file);
  const size = files.reduce((sum, file) => sum + file.size + BLOCK_BYTES, 0);
  if (size <= SMALL_BYTES) write(gzipSync(Buffer.concat(await Array.fromAsync(blocks(files, bytesOf)))));
  else await streamTarGz(files, bytesOf, writableOf(write), pace.signal);
}

/** Packs the files in their order into a stream, and ends it. */
export async function streamTarGz(
  files: readonly SnapshotFile[],
  bytesOf: BytesOf,
  to: Writable,
  signal: AbortSignal,
): Promise<void> {
  const tar = Readable.from(blocks(files, bytesOf), { objectMode: false, highWaterMark: 1 });
  await pipeline(tar, createGzip(), to, { signal });
}

/** A stream to a function that may throw. */
export function writableOf(write: (bytes: Buffer) => void): Writable {
  return new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      try {
        write(bytes);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

async function* blocks(files: readonly SnapshotFile[], bytesOf: BytesOf): AsyncGenerator<Buffer> {
  const names = new Set<string>();
  for (const file of files) {
    yield headOf(uniqueName(file.path, names), file.size);
    yield* bytesOf(file);
    const over = file.size % BLOCK_BYTES;
    if (over > 0) yield Buffer.alloc(BLOCK_BYTES - over);
  }
  yield END;
}

/** A name or size that does not fit into the old header is in an extended header before it. */
function headOf(path: string, size: number): Buffer {
  const facts = { path, size, mode: 0o644, uid: 0, gid: 0, mtime: NO_TIME };
  const header = new Header({ ...facts, type: 'File' });
  const block = Buffer.alloc(BLOCK_BYTES);
  if (!header.encode(block)) return block;
  return Buffer.concat([new Pax({ path, size, mtime: NO_TIME, uid: 0, gid: 0 }).encode(), block]);
}
