// Names the type of bytes that are not text.
import { isUtf8, markOf, wideCharsetOf } from '../../domain/charsets/detect-charset.ts';

const SNIFFED_BYTES = 8192;

const PDF = 'PDF document';
const ZIP = 'zip archive (or an Office document)';
/** Kinds of binary data that may contain text. */
export const DOCUMENT_KINDS: ReadonlySet<string> = new Set([PDF, ZIP]);

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ['PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['JPEG image', [0xff, 0xd8, 0xff]],
  ['GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['RIFF media (WebP, WAV or AVI)', [0x52, 0x49, 0x46, 0x46]],
  [PDF, [0x25, 0x50, 0x44, 0x46]],
  [ZIP, [0x50, 0x4b, 0x03, 0x04]],
  ['gzip data', [0x1f, 0x8b]],
  ['bzip2 data', [0x42, 0x5a, 0x68]],
  ['xz data', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['zstd data', [0x28, 0xb5, 0x2f, 0xfd]],
  ['7-Zip archive', [0x37, 0x7a, 0xbc, 0xaf]],
  ['ELF program', [0x7f, 0x45, 0x4c, 0x46]],
  ['SQLite database', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65]],
  ['WebAssembly module', [0x00, 0x61, 0x73, 0x6d]],
];

const startsWith = (bytes: Uint8Array, signature: readonly number[]) =>
  signature.every((byte, index) => bytes[index] === byte);

const UNKNOWN = 'unknown kind';

/** Bytes that no text has, whatever its charset: what is left of ASCII's controls without white space, backspace and escape. */
const isControl = (byte: number) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
/** Random bytes have a tenth of them. */
const MOST_CONTROLS = 0.02;

function hasManyControls(head: Uint8Array): boolean {
  const start = head.subarray(0, SNIFFED_BYTES);
  if (isUtf8(start)) return false;
  let controls = 0;
  for (const byte of start) if (isControl(byte)) controls += 1;
  return controls > start.length * MOST_CONTROLS;
}

/** The kind of binary data that begins with these bytes, in words; undefined for text. */
export function binaryKind(head: Uint8Array): string | undefined {
  const known = SIGNATURES.find(([, signature]) => startsWith(head, signature));
  const hasNul = head.subarray(0, SNIFFED_BYTES).includes(0);
  if (known !== undefined && (hasNul || !isUtf8(head))) return known[0];
  if (known?.[0] === PDF) return known[0];
  if (hasNul) return markOf(head) === undefined && wideCharsetOf(head) === undefined ? UNKNOWN : undefined;
  return hasManyControls(head) ? UNKNOWN : undefined;
}
