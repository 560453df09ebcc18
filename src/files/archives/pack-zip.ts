// Writes a zip that depends on names and contents only. What an earlier one has is copied from it as it is.
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';
import type { SnapshotFile } from '../snapshots/snapshot.ts';
import type { EarlierZip, PackedEntry } from './earlier-zip.ts';
import { uniqueName } from './entry-name.ts';
import { writableOf } from './pack-tar-gz.ts';
import { type Packing, readBlob, readSmallBlob } from './packing.ts';
import { dataDescriptor, directoryHeader, endOfDirectory, localHeader, type ZipEntry } from './zip-format.ts';

const LEVEL = 6;
/** Files up to this size are packed in memory, which costs less than a stream for each. */
const SMALL_BYTES = 262_144;
/** The length of a stored file must precede it, for readers that stream a zip. */
const MAX_STORED_BYTES = 8_388_608;
/** Parts of the directory that are written at once. */
const DIRECTORY_BYTES = 262_144;
/** Types that further compression does not shrink. */
const COMPRESSED = new Set(
  (
    '.7z .aac .apk .avif .br .bz2 .docx .epub .flac .gif .gz .jar .jpeg .jpg .lz4 .m4a .m4v .mkv .mov .mp3 .mp4 .odp ' +
    '.ods .odt .ogg .opus .png .pptx .rar .tgz .webm .webp .woff .woff2 .xlsx .xz .zip .zst'
  ).split(' '),
);

/** Packs the files in their order. Returns where each is. */
export async function packZip(packing: Packing, earlier?: EarlierZip): Promise<PackedEntry[]> {
  const entries: PackedEntry[] = [];
  const names = new Set<string>();
  let at = 0;
  const to: Packing = {
    ...packing,
    write: (bytes) => {
      packing.write(bytes);
      at += bytes.length;
    },
  };
  for (const file of packing.files) {
    await packing.pace.rest();
    const [name, offset] = [uniqueName(file.path, names), at];
    const known = earlier?.find(name, file.sha256);
    const entry = known ?? (await packFile(to, file, name));
    if (known !== undefined) earlier!.copy(known, to.write);
    entries.push({ ...entry, offset, end: at, sha256: file.sha256 });
  }
  writeDirectory(entries, at, packing.write);
  return entries;
}

function writeDirectory(entries: readonly ZipEntry[], offset: number, write: Packing['write']): void {
  let [size, bytes, parts]: [number, number, Buffer[]] = [0, 0, []];
  const flush = () => {
    if (bytes > 0) write(Buffer.concat(parts));
    [size, bytes, parts] = [size + bytes, 0, []];
  };
  for (const entry of entries) {
    const header = directoryHeader(entry);
    parts.push(header);
    bytes += header.length;
    if (bytes >= DIRECTORY_BYTES) flush();
  }
  flush();
  write(endOfDirectory({ count: entries.length, size, offset }));
}

type Packed = Omit<ZipEntry, 'offset'>;

async function packFile(to: Packing, file: SnapshotFile, name: string): Promise<Packed> {
  const isStored = file.size <= MAX_STORED_BYTES && COMPRESSED.has(extname(file.path).toLowerCase());
  if (isStored || file.size <= SMALL_BYTES) return packSmall(to, file, { name, isStored });
  return packStream(to, file, name);
}

function packSmall(to: Packing, file: SnapshotFile, { name, isStored }: { name: string; isStored: boolean }): Packed {
  const bytes = readSmallBlob(to, file);
  const deflated = isStored ? bytes : deflateRawSync(bytes, { level: LEVEL });
  const isDeflated = deflated.length < bytes.length;
  const packed = isDeflated ? deflated : bytes;
  const sizes = { crc: crc32(bytes), packedSize: packed.length, size: bytes.length };
  const entry = { name, isDeflated, isStreamed: false, ...sizes };
  to.write(Buffer.concat([localHeader(entry), packed]));
  return entry;
}

async function packStream(to: Packing, file: SnapshotFile, name: string): Promise<Packed> {
  const kind = { name, isDeflated: true, isStreamed: true, size: file.size };
  let [crc, packedSize] = [0, 0];
  async function* counted() {
    for await (const bytes of readBlob(to, file)) {
      crc = crc32(bytes, crc);
      yield bytes;
    }
  }
  to.write(localHeader({ ...kind, crc, packedSize }));
  const sink = writableOf((bytes) => {
    packedSize += bytes.length;
    to.write(bytes);
  });
  const source = Readable.from(counted(), { objectMode: false });
  await pipeline(source, createDeflateRaw({ level: LEVEL }), sink, { signal: to.pace.signal });
  to.write(dataDescriptor({ crc, packedSize, size: file.size }));
  return { ...kind, crc, packedSize };
}
