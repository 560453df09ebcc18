// The text of an attached HTML page, in the character set that it names.
import { readPage } from '../tools/page-text.ts';
import { decodeText, utf16Of } from '../tools/text.ts';

const HEAD_BYTES = 2048;
const CHARSET = /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i;
/** A page that was attached has no address; links that name no host lead nowhere. */
const NOWHERE = 'about:blank';

export async function readHtml(bytes: Uint8Array): Promise<string> {
  return textOfHtml(decode(bytes));
}

/** The title and the text of HTML; nothing but the title when there is no text. */
export function textOfHtml(html: string): string {
  const { title, text } = readPage(html, NOWHERE);
  return title === '' ? text : `${title}\n\n${text}`;
}

function decode(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString('latin1');
  const charset = utf16Of(bytes) === undefined ? CHARSET.exec(head)?.[1] : undefined;
  try {
    if (charset !== undefined) return new TextDecoder(charset).decode(bytes);
  } catch {
    // A name that nobody knows.
  }
  return decodeText(bytes).text;
}
