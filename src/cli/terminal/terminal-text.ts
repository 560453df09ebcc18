// Makes foreign text safe for a terminal, and pads it by its width there.
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';

/** Marks that reverse the direction of text, so that it looks like a different text. */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Text without escape sequences, control characters and direction marks; line breaks and tabs are kept. */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(DIRECTION_MARKS, '');
}

/** Safe text on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ').trim();
}

/** Pads by display width: East Asian characters and emoji take two columns, combining marks none. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/** The width of a text on a terminal, in columns. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Cuts to a number of columns, the last of them an ellipsis, and never within a grapheme. */
export function cutTo(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let cut = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment);
    if (width > columns) break;
    cut += segment;
  }
  return `${cut}…`;
}

export type Style = 'bold' | 'green' | 'yellow' | 'red' | 'dim';

/** Colours text; the caller decides whether colours are wanted. */
export function paint(text: string, style: Style): string {
  return styleText(style, text, { validateStream: false });
}
