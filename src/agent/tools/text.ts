// Converts bytes of an unknown type to text for a model, and names their type when they are not text.

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

/** The kind of binary data that begins with these bytes, in words; undefined for text. */
export function binaryKind(head: Uint8Array): string | undefined {
  const known = SIGNATURES.find(([, signature]) => startsWith(head, signature));
  const hasNul = head.subarray(0, SNIFFED_BYTES).includes(0);
  if (known !== undefined && (hasNul || !isUtf8(head))) return known[0];
  if (known?.[0] === PDF) return known[0];
  return hasNul && utf16Of(head) === undefined ? 'unknown kind' : undefined;
}

/** Whether all of it is UTF-8, except for a character truncated at the end. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    // `stream` tolerates a character that is truncated at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The byte order according to the mark at the start. */
export function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** Text from bytes, with the encoding it was read as. NULs become U+FFFD: stored text must not contain them (A5). */
export interface DecodedText {
  readonly text: string;
  readonly encoding: 'UTF-8' | 'UTF-16' | 'Latin-1';
}

/**
 * Reads bytes as UTF-8, as UTF-16 when they begin with its mark, otherwise as Latin-1. A truncated character at the end is
 * dropped.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const wide = utf16Of(bytes);
  const clean = (text: string) => text.replaceAll('\u0000', '\uFFFD').toWellFormed();
  if (wide !== undefined) {
    return { text: clean(new TextDecoder(wide).decode(bytes, { stream: true })), encoding: 'UTF-16' };
  }
  if (!isUtf8(bytes)) return { text: clean(Buffer.from(bytes).toString('latin1')), encoding: 'Latin-1' };
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return { text: clean(decoder.decode(bytes, { stream: true })), encoding: 'UTF-8' };
}
