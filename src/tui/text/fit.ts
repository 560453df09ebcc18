// Makes any text safe for the terminal and exactly as wide as its column.
import stringWidth from 'string-width';
import { safeLine as obeyedByNone } from '../../terminal/text.ts';

/** Longer texts are cut before they are looked at: no column shows more. */
const MAX_CHARACTERS = 4096;
/** A stack of marks on one letter ends here. */
const MAX_CLUSTER = 12;

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** Characters without a shape, lone surrogates. ZWJ is dealt with below. */
const INVISIBLE = /(?!\u200d)[\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** What makes terminals disagree about a width: joined emoji, skin tones, key caps. */
const DISPUTED = /\u200d.*|\u20e3|(?<=.)[\u{1f3fb}-\u{1f3ff}]/gsu;

const segmenter = new Intl.Segmenter();

interface Cluster {
  readonly text: string;
  readonly width: number;
}

/** Text on one line, without anything that a terminal would obey or draw elsewhere. */
export function safeLine(text: string): string {
  const short = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
  if (PRINTABLE_ASCII.test(short)) return short;
  const visible = obeyedByNone(short).replace(INVISIBLE, '');
  return clustersOf(visible)
    .map(({ text }) => text)
    .join('');
}

/** The width of a text in columns, as `fit` lays it out. */
export function widthOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  return clustersOf(text).reduce((sum, { width }) => sum + width, 0);
}

/**
 * Safe text of exactly `width` columns: padded, or cut between characters as people see them, with an ellipsis.
 * `end` aligns right.
 */
export function fit(text: string, width: number, align: 'start' | 'end' = 'start'): string {
  if (width <= 0) return '';
  const line = safeLine(text).trimEnd();
  const cut = PRINTABLE_ASCII.test(line) && line.length <= width ? line : cutTo(line, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'end' ? padding + cut : cut + padding;
}

function cutTo(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let cut = '';
  let used = 1;
  for (const { text, width: columns } of clustersOf(line)) {
    used += columns;
    if (used > width) break;
    cut += text;
  }
  return `${cut.trimEnd()}…`;
}

/** Characters as people see them, each reduced to what every terminal draws equally wide. */
function clustersOf(text: string): Cluster[] {
  return Array.from(segmenter.segment(text), ({ segment }) => {
    const plain = segment < '\u0300' ? segment : segment.replace(DISPUTED, '').slice(0, MAX_CLUSTER).toWellFormed();
    return { text: plain, width: stringWidth(plain) };
  });
}
