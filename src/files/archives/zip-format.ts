// The records of a zip file, with 64-bit fields where the old ones are too small.

/** An entry: how its bytes are stored, and where. */
export interface ZipEntry {
  readonly name: string;
  readonly isDeflated: boolean;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  /** Whether its sizes follow its bytes, because they weren't known before. */
  readonly isStreamed: boolean;
  /** Where its header begins. */
  readonly offset: number;
}

const MAX_32 = 0xff_ff_ff_ff;
const MAX_16 = 0xff_ff;
/** A file of this size may be larger when packed, but by less than what is left to the limit of 32 bits. */
const LARGE_BYTES = 0xff_00_00_00;
const [VERSION, VERSION_64] = [20, 45];
const UNIX = 3 << 8;
const REGULAR_0644 = 0o100_644 * 0x1_00_00;
const [STREAMED, UTF_8] = [0x00_08, 0x08_00];
/** 1980-01-01 00:00, the earliest time that a zip can represent. */
const [NO_TIME, NO_DATE] = [0, 0x00_21];
const ZIP_64_FIELD = 1;

/** The fields of a record in order: a number with its length in bytes. */
type Field = readonly [bytes: 2 | 4 | 8, value: number];

/** The header before an entry's bytes. Of a streamed one, only its name and `size` need be known. */
export function localHeader(entry: Omit<ZipEntry, 'offset'>): Buffer {
  const isLarge = entry.isStreamed && entry.size >= LARGE_BYTES;
  const name = Buffer.from(entry.name);
  const extra = isLarge ? extraOf([0, 0]) : Buffer.alloc(0);
  const inFront = (value: number) => (entry.isStreamed ? 0 : value);
  const fixed = record([
    [4, 0x04_03_4b_50],
    [2, isLarge ? VERSION_64 : VERSION],
    ...kindOf(entry),
    [4, inFront(entry.crc)],
    [4, isLarge ? MAX_32 : inFront(entry.packedSize)],
    [4, isLarge ? MAX_32 : inFront(entry.size)],
    [2, name.length],
    [2, extra.length],
  ]);
  return Buffer.concat([fixed, name, extra]);
}

/** What follows the bytes of a streamed entry. */
export function dataDescriptor({ crc, packedSize, size }: Pick<ZipEntry, 'crc' | 'packedSize' | 'size'>): Buffer {
  const bytes = size >= LARGE_BYTES ? 8 : 4;
  return record([
    [4, 0x08_07_4b_50],
    [4, crc],
    [bytes, packedSize],
    [bytes, size],
  ]);
}

/** An entry's line in the directory at the end. */
export function directoryHeader(entry: ZipEntry): Buffer {
  const { crc, packedSize, size, offset } = entry;
  const name = Buffer.from(entry.name);
  const isLarge = size >= LARGE_BYTES;
  const large = [...(isLarge ? [size, packedSize] : []), ...(offset >= MAX_32 ? [offset] : [])];
  const extra = large.length > 0 ? extraOf(large) : Buffer.alloc(0);
  const version = large.length > 0 ? VERSION_64 : VERSION;
  const fixed = record([
    [4, 0x02_01_4b_50],
    [2, UNIX + version],
    [2, version],
    ...kindOf(entry),
    [4, crc],
    [4, isLarge ? MAX_32 : packedSize],
    [4, isLarge ? MAX_32 : size],
    [2, name.length],
    [2, extra.length],
    // No comment, first disk, no internal attributes.
    [2, 0],
    [2, 0],
    [2, 0],
    [4, REGULAR_0644],
    [4, Math.min(offset, MAX_32)],
  ]);
  return Buffer.concat([fixed, name, extra]);
}

/** The end of an archive, whose directory has so many entries and bytes and begins at `offset`. */
export function endOfDirectory({ count, size, offset }: { count: number; size: number; offset: number }): Buffer {
  const end = record([
    [4, 0x06_05_4b_50],
    [4, 0],
    [2, Math.min(count, MAX_16)],
    [2, Math.min(count, MAX_16)],
    [4, Math.min(size, MAX_32)],
    [4, Math.min(offset, MAX_32)],
    [2, 0],
  ]);
  if (count < MAX_16 && size < MAX_32 && offset < MAX_32) return end;
  const end64 = record([
    [4, 0x06_06_4b_50],
    [8, 44],
    [2, UNIX + VERSION_64],
    [2, VERSION_64],
    [8, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, offset],
  ]);
  const locator = record([
    [4, 0x07_06_4b_50],
    [4, 0],
    [8, offset + size],
    [4, 1],
  ]);
  return Buffer.concat([end64, locator, end]);
}

/** Flags, method and time. */
function kindOf({ isDeflated, isStreamed }: Pick<ZipEntry, 'isDeflated' | 'isStreamed'>): Field[] {
  return [
    [2, UTF_8 + (isStreamed ? STREAMED : 0)],
    [2, isDeflated ? 8 : 0],
    [2, NO_TIME],
    [2, NO_DATE],
  ];
}

function extraOf(values: readonly number[]): Buffer {
  return record([[2, ZIP_64_FIELD], [2, 8 * values.length], ...values.map((value): Field => [8, value])]);
}

function record(fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [length]) => sum + length, 0));
  let at = 0;
  for (const [length, value] of fields) {
    if (length === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, length);
    at += length;
  }
  return bytes;
}
