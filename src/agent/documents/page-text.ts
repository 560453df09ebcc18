// The text of an attached HTML page, decoded with the character set that it declares.
import { readPage } from '../tools/page-text.ts';
import { decodeText } from '../../domain/charsets/charset-text.ts';
import { wideCharset } from '../../domain/charsets/detect-charset.ts';

const HEAD_BYTES = 2048;
const CHARSET = /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i;
/** An attached page has no address, so its relative links lead nowhere. */
const NOWHERE = 'about:blank';

export async function readHtml(bytes: Uint8Array): Promise<string> {
  return textOfHtml(await decode(bytes));
}

/** The title and text of HTML; only the title when it has no text. */
export function textOfHtml(html: string): string {
  const { title, text } = readPage(html, NOWHERE);
  return title === '' ? text : `${title}\n\n${text}`;
}

async function decode(bytes: Uint8Array): Promise<string> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString('latin1');
  const charset = wideCharset(bytes) === undefined ? CHARSET.exec(head)?.[1] : undefined;
  try {
    if (charset !== undefined) return new TextDecoder(charset).decode(bytes);
  } catch {
    // An unknown character set.
  }
  return (await decodeText(bytes))?.text ?? '';
}
