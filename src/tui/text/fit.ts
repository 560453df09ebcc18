// Makes any text safe for the terminal and exactly as wide as its column.
import stringWidth from 'string-width';
import { safeLine as obeyedByNone } from '../../terminal/text.ts';

/** Longer texts are cut before they are looked at: no column shows more. */
const MAX_CHARACTERS = 4096;
/** A stack of marks on one letter ends here. */
const MAX_CLUSTER = 12;

/** Characters of one column each that need no looking at: Latin, Greek, Cyrillic, lines, blocks, and this view's glyphs. */
const PLAIN =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u0391-\u03c9\u0400-\u0482\u2013\u2018-\u201d\u2016\u2022\u2026\u2190-\u2193\u2500-\u259f\u25a0\u25cb\u25cf\u276f\u2713\u2717]*$/;

/**
 * A blank after text that is written from right to left: it keeps terminals from drawing what follows within that text.
 * `terminal/output.ts` makes a mark and a space of it, which Ink would not let through.
 */
export const GUARD = '\ue000';

/** Whether a text has characters that are written from right to left. */
export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
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
  if (PLAIN.test(short)) return short;
  return clustersOf(obeyedByNone(short).replaceAll(GUARD, ''))
    .map(({ text }) => text)
    .join('');
}

/** The width of a text in columns, as `fit` lays it out. */
export function widthOf(text: string): number {
  return PLAIN.test(text) ? text.length : widths.get(text);
}

/** How many columns foreign text takes in full. */
export function shownWidth(text: string): number {
  return widthOf(safeLines.get(text).trimEnd());
}

const widths = remember((text) => clustersOf(text).reduce((sum, { width }) => sum + width, 0));

/**
 * Safe text of exactly `width` columns: padded, or cut between characters as people see them, with an ellipsis.
 * `end` aligns right.
 */
export function fit(text: string, width: number, align: 'start' | 'end' = 'start'): string {
  if (width <= 0) return '';
  const line = safeLines.get(text).trimEnd();
  const cut = widthOf(line) <= width ? line : cutTo(line, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'end' ? padding + cut : cut + padding;
}

const safeLines = remember(safeLine);

/** The same, but cut at its beginning: of what is being written, the end matters. It begins with a whole word where it can. */
export function fitTail(text: string, width: number): string {
  if (width <= 0) return '';
  const line = safeLines.get(text).trim();
  return fit(widthOf(line) <= width ? line : tails.get(`${width} ${line}`), width);
}

/** Of a width, a blank and a line that is wider. */
const tails = remember((key) => {
  const line = key.slice(key.indexOf(' ') + 1);
  const room = Number.parseInt(key, 10) - 1;
  const tail = PLAIN.test(line) ? line.slice(line.length - room) : tailOf(line, room);
  const isWhole = tail.startsWith(' ') || line[line.length - tail.length - 1] === ' ';
  const next = tail.indexOf(' ');
  return `…${isWhole || next < 0 || next > tail.length / 2 ? tail.trimStart() : tail.slice(next + 1)}`;
});

function tailOf(line: string, room: number): string {
  const clusters = clustersOf(line);
  let from = clusters.length;
  for (let left = room; from > 0 && left >= clusters[from - 1]!.width; from -= 1) left -= clusters[from - 1]!.width;
  return clusters
    .slice(from)
    .map(({ text }) => text)
    .join('');
}

function cutTo(line: string, width: number): string {
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

const MAX_REMEMBERED = 4000;
/** Long texts are rare, and would make what is remembered large. */
const MAX_REMEMBERED_CHARACTERS = 256;

/** Remembers results for texts, which return in every frame. Forgets all of them when there are too many. */
function remember<T>(compute: (text: string) => T): { readonly get: (text: string) => T } {
  const known = new Map<string, T>();
  return {
    get(text) {
      const before = known.get(text);
      if (before !== undefined) return before;
      const result = compute(text);
      if (known.size >= MAX_REMEMBERED) known.clear();
      if (text.length <= MAX_REMEMBERED_CHARACTERS) known.set(text, result);
      return result;
    },
  };
}
