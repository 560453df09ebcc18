// Writes a tar.gz that depends on names and contents only: no times, no owners.
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { Header, Pax } from 'tar';
import { makeEntryNames } from './entry-name.ts';
import { memoryFor, type Packing } from './packing.ts';

const BLOCK_BYTES = 512;
/** Two empty blocks end an archive. */
const END = Buffer.alloc(2 * BLOCK_BYTES);
const NO_TIME = new Date(0);
/** Archives of this size are packed in memory, which costs less than streams. */
const SMALL_BYTES = 262_144;

/** Packs the files in their order. */
export async function packTarGz(packing: Packing): Promise<void> {
  if (packing.files.reduce((sum, { size }) => sum + size + BLOCK_BYTES, 0) <= SMALL_BYTES) {
    const tar = Buffer.concat(await Array.fromAsync(blocks(packing)));
    packing.to.end(gzipSync(tar, memoryFor(tar.length)));
    return finished(packing.to, { signal: packing.signal });
  }
  const tar = Readable.from(blocks(packing), { objectMode: false, highWaterMark: 1 });
  await pipeline(tar, createGzip(), packing.to, { signal: packing.signal });
}

async function* blocks({ files, bytesOf }: Packing): AsyncGenerator<Buffer> {
  const nameOf = makeEntryNames();
  for (const file of files) {
    yield headOf(nameOf(file.path), file.size);
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
