// Text from bytes of any charset, and back into the same.
import { storableText } from '../text-pieces.ts';
import { type Charset, detectCharset, markOf } from './detect-charset.ts';

/** A text, and what it was read as. */
export interface DecodedText {
  /** Without a byte-order mark. NULs are U+FFFD: stored text must not contain them (A5). */
  readonly text: string;
  readonly charset: Charset;
}

/** Reads bytes in a charset. A truncated character at the end is dropped. */
export function decodeAs(bytes: Uint8Array, charset: Charset): string {
  return storableText(new TextDecoder(charset).decode(bytes, { stream: true }));
}

/** Reads bytes in the charset that they are likely in; undefined when they are no text. */
export async function decodeText(bytes: Uint8Array): Promise<DecodedText | undefined> {
  const charset = await detectCharset(bytes);
  return charset === undefined ? undefined : { text: decodeAs(bytes, charset), charset };
}

/** Reads bytes in the charset of their mark, else in the declared one, else in the likely one; undefined when they are no text. */
export async function decodeDeclared(
  bytes: Uint8Array,
  declared: string | undefined,
): Promise<DecodedText | undefined> {
  const charset = markOf(bytes)?.charset ?? (declared === undefined ? undefined : charsetNamed(declared));
  return charset === undefined ? decodeText(bytes) : { text: decodeAs(bytes, charset), charset };
}

/** The charsets that a text can be written in, by the label of `TextDecoder` for any of their names; undefined for others. */
export function charsetNamed(name: string): Charset | undefined {
  try {
    const { encoding } = new TextDecoder(name.trim());
    return encoding === 'replacement' || encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}

export type Encoded =
  | { readonly ok: true; readonly bytes: Buffer }
  /** `lacks`: the first character that the charset has no bytes for; null when it can't be written at all. */
  | { readonly ok: false; readonly lacks: string | null };

/** What iconv-lite calls a charset, where the names differ. */
const WRITTEN_AS: Readonly<Record<Charset, string>> = {
  ibm866: 'cp866',
  'windows-874': 'win874',
  'x-mac-cyrillic': 'maccyrillic',
};

/** Writes a text in a charset, with the mark that its file had. What is written reads as the same text, or nothing is. */
export async function encodeAs(text: string, charset: Charset, mark: Uint8Array = new Uint8Array()): Promise<Encoded> {
  const bytes = await bytesOf(text, charset);
  if (bytes === undefined) return { ok: false, lacks: null };
  const read = new TextDecoder(charset, { ignoreBOM: true }).decode(bytes);
  if (read === text) return { ok: true, bytes: Buffer.concat([mark, bytes]) };
  let at = 0;
  while (read[at] === text[at]) at += 1;
  return { ok: false, lacks: String.fromCodePoint(text.codePointAt(at) ?? 0xfffd) };
}

async function bytesOf(text: string, charset: Charset): Promise<Buffer | undefined> {
  if (charset === 'utf-8') return Buffer.from(text);
  if (charset === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (charset === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  const { default: iconv } = await import('iconv-lite');
  const name = WRITTEN_AS[charset] ?? charset;
  return iconv.encodingExists(name) ? iconv.encode(text, name) : undefined;
}

/** What a file's text is, and what has to be kept when it is written back. */
export interface OpenedText extends DecodedText {
  readonly mark: Uint8Array;
}

/** Reads a text that is to be written back; undefined where that would change bytes elsewhere, or where it is no text. */
export async function openText(bytes: Uint8Array): Promise<OpenedText | { readonly charset: Charset | undefined }> {
  const decoded = await decodeText(bytes);
  if (decoded === undefined) return { charset: undefined };
  const { text, charset } = decoded;
  const mark = markOf(bytes)?.mark ?? new Uint8Array();
  const written = await encodeAs(text, charset, mark);
  return written.ok && written.bytes.equals(bytes) ? { text, charset, mark } : { charset };
}
