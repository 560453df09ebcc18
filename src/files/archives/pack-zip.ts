// Writes a zip that depends on names and contents only.
import { once } from 'node:events';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ZipEntryData, ZipArchive } from 'archiver';
import { memoryFor, type Packing } from './packing.ts';
import { makeEntryNames } from './entry-name.ts';

/** The earliest time that a zip can represent. */
const NO_TIME = new Date('1980-01-01T00:00:00Z');
const LEVEL = 6;
/** Files up to this size are passed as a whole, which costs less than a stream for each. */
const SMALL_BYTES = 262_144;
/** The length of a stored file must precede it, for readers that stream a zip. */
const MAX_STORED_BYTES = 8_388_608;
/** Types that further compression does not shrink. */
const COMPRESSED = new Set(
  (
    '.7z .aac .apk .avif .br .bz2 .docx .epub .flac .gif .gz .jar .jpeg .jpg .lz4 .m4a .m4v .mkv .mov .mp3 .mp4 .odp ' +
    '.ods .odt .ogg .opus .png .pptx .rar .tgz .webm .webp .woff .woff2 .xlsx .xz .zip .zst'
  ).split(' '),
);

/** Packs the files in their order. */
export async function packZip(packing: Packing): Promise<void> {
  const zip = new ZipArchive({ zlib: { level: LEVEL, ...memoryFor(largestOf(packing.files)) } });
  // A failure of one part must end the others: a stream's errors are not forwarded along a pipe.
  const broken = new AbortController();
  const fail = (error: unknown) => broken.abort(error);
  const signal = AbortSignal.any([packing.signal, broken.signal]);
  zip.on('error', fail);
  const written = pipeline(zip, packing.to, { signal });
  written.catch(fail);
  try {
    await append(zip, packing, { signal, fail });
    // The archive's own promise never settles when it fails.
    zip.finalize().catch(fail);
    await written;
  } catch (error) {
    fail(error);
    await written.catch(() => undefined);
    throw signal.reason;
  }
}

const largestOf = (files: Packing['files']) => files.reduce((largest, { size }) => Math.max(largest, size), 0);

interface Ends {
  readonly signal: AbortSignal;
  readonly fail: (error: unknown) => void;
}

async function append(zip: ZipArchive, { files, bytesOf }: Packing, { signal, fail }: Ends): Promise<void> {
  const nameOf = makeEntryNames();
  for (const file of files) {
    const store = file.size <= MAX_STORED_BYTES && COMPRESSED.has(extname(file.path).toLowerCase());
    const entry = { name: nameOf(file.path), date: NO_TIME, mode: 0o644, store };
    if (store || file.size <= SMALL_BYTES) {
      await appendOne(zip, await whole(bytesOf(file)), entry, signal);
      continue;
    }
    const stream = Readable.from(bytesOf(file), { objectMode: false });
    stream.on('error', fail);
    try {
      await appendOne(zip, stream, entry, signal);
    } finally {
      stream.destroy();
    }
  }
}

async function appendOne(zip: ZipArchive, source: Buffer | Readable, entry: ZipEntryData, signal: AbortSignal) {
  const taken = once(zip, 'entry', { signal });
  zip.append(source, entry);
  await taken;
}

async function whole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(bytes));
}
