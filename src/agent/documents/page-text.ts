// The text of an attached HTML page, decoded with the character set that its mark, or else the page, declares.
import { readPage } from '../tools/page-text.ts';
import { type DecodedText, decodeDeclared } from '../../domain/charsets/charset-text.ts';
import { wideCharset } from '../../domain/charsets/detect-charset.ts';

const HEAD_BYTES = 2048;
const CHARSET = /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i;
/** An attached page has no address, so its relative links lead nowhere. */
const NOWHERE = 'about:blank';

/** Undefined for bytes that are no text. */
export async function readHtml(bytes: Uint8Array): Promise<DecodedText | undefined> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString('latin1');
  const declared = wideCharset(bytes) === undefined ? CHARSET.exec(head)?.[1] : undefined;
  const decoded = await decodeDeclared(bytes, declared);
  return decoded === undefined ? undefined : { ...decoded, text: textOfHtml(decoded.text) };
}

/** The title and text of HTML; only the title when it has no text. */
export function textOfHtml(html: string): string {
  const { title, text } = readPage(html, NOWHERE);
  return title === '' ? text : `${title}\n\n${text}`;
}
