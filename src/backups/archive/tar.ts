// The tar format, as far as backups need it: small files with short names.
import { ErrandError } from '../../domain/errors.ts';

const BLOCK_BYTES = 512;
const SIZE = { at: 124, length: 12 };
const CHECKSUM = { at: 148, length: 8 };

/** The two empty blocks at the end. */
export const endOfTar = Buffer.alloc(2 * BLOCK_BYTES);

/** The parts of an entry: its header, its content, and what fills its last block. */
export function tarEntry(name: string, content: Uint8Array): readonly Uint8Array[] {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${octal(content.length, SIZE.length - 1)}\0`, SIZE.at);
  header.write(`${octal(0, 11)}\0`, 136);
  header.write('0', 156);
  header.write('ustar', 257);
  header.write('00', 263);
  header.write(`${octal(checksumOf(header), 6)}\0 `, CHECKSUM.at);
  const rest = content.length % BLOCK_BYTES;
  return rest === 0 ? [header, content] : [header, content, Buffer.alloc(BLOCK_BYTES - rest)];
}

export interface TarEntry {
  readonly name: string;
  /** Where its content begins. */
  readonly start: number;
  readonly size: number;
}

/** The entries of an archive. `read` fills bytes from a position, and returns how many there were. Throws `conflict`. */
export function* tarEntries(read: (bytes: Buffer, position: number) => number): Generator<TarEntry> {
  const header = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; ; ) {
    if (read(header, at) < BLOCK_BYTES) throw cutOff();
    if (header.every((byte) => byte === 0)) return;
    const size = sizeIn(header, at);
    const start = at + BLOCK_BYTES;
    if (header[156] === 0x30 || header[156] === 0) yield { name: text(header, { at: 0, length: 100 }), start, size };
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

/** The size of the content that begins somewhere. Throws `conflict`. */
export function sizeBefore(start: number, read: (bytes: Buffer, position: number) => number): number {
  const [header, at] = [Buffer.alloc(BLOCK_BYTES), start - BLOCK_BYTES];
  if (read(header, at) < BLOCK_BYTES) throw cutOff();
  return sizeIn(header, at);
}

function sizeIn(header: Buffer, at: number): number {
  const size = Number.parseInt(text(header, SIZE), 8);
  if (Number.parseInt(text(header, CHECKSUM), 8) !== checksumOf(header)) throw damaged(at);
  if (!Number.isSafeInteger(size) || size < 0) throw damaged(at);
  return size;
}

/** With spaces in place of itself. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const [index, byte] of header.entries())
    sum += index >= CHECKSUM.at && index < CHECKSUM.at + CHECKSUM.length ? 0x20 : byte;
  return sum;
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');

function text(header: Buffer, { at, length }: { readonly at: number; readonly length: number }): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end === -1 ? length : end).trim();
}

const damaged = (at: number) => new ErrandError('conflict', `The archive is damaged at byte ${at}.`);
const cutOff = () => new ErrandError('conflict', 'The archive ends too early: it was cut off while it was written.');
