// Makes foreign text safe for a terminal, measures it there, and cuts and pads it by that width.
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

const require = createRequire(import.meta.url);

/** Text of one column a character. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Loaded for the first text that needs it: the table of all emoji takes as long to load as a small command to run. */
let measure: ((text: string) => number) | undefined;

/** Marks that change the direction of text, so that it looks like a different text. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters without a shape, and halves of characters; ZWJ joins emoji. */
const INVISIBLE = /(?!\u200d)[\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Text without escape sequences, control characters and direction marks; line breaks and tabs are kept. */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(DIRECTION_MARKS, '');
}

/** Safe text on one line, without characters that cannot be seen. */
export function safeLine(text: string): string {
  return safeText(text).replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

/** The width of a text on a terminal, in columns: East Asian characters and emoji take two, combining marks none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  measure ??= (require('string-width') as typeof import('string-width')).default;
  return measure(text);
}

/** Pads with spaces to a number of columns; wider text is unchanged. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Pads on the left, for numbers. */
export function padStartTo(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text;
}

/** Cuts to a number of columns, the last of them an ellipsis, and never within a grapheme. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return '';
  let cut = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** Breaks a line at its spaces into lines of at most a number of columns; a longer word, such as a path, stays whole. */
export function wrapTo(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || widthOf(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
