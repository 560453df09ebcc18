// What every screen stands in: the header above, hints or news below, and the body between, all of exact size.
import type { AppState } from '../state/state.ts';
import { cell, EMPTY, type Line, lineOf, type Span, span, widthOfSpans } from '../text/line.ts';
import { header } from './header.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A key and what it does, for hints and help. */
export type KeyHint = readonly [key: string, meaning: string];

export const SMALLEST: Size = { columns: 60, rows: 15 };

/** From here on, a line stays empty above the hints. */
const ROOMY_ROWS = 24;

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows;
}

/** Lines for the whole screen. `body` gets the size that is left to it. */
export function frameOf(
  state: AppState,
  size: Size,
  body: (size: Size) => readonly Line[],
  hints: readonly KeyHint[],
): readonly Line[] {
  if (isTooSmall(size)) return tooSmall(size);
  const isRoomy = size.rows >= ROOMY_ROWS;
  const inner = { columns: size.columns, rows: size.rows - (isRoomy ? 4 : 3) };
  return [
    header(state, size.columns),
    EMPTY,
    ...exactly(body(inner), inner.rows),
    ...(isRoomy ? [EMPTY] : []),
    footer(state, size.columns, hints),
  ];
}

/** As many lines as asked for. */
export function exactly(lines: readonly Line[], rows: number): readonly Line[] {
  const kept = lines.slice(0, Math.max(0, rows));
  return [...kept, ...Array.from({ length: Math.max(0, rows - kept.length) }, () => EMPTY)];
}

/** Names the size it needs, in whatever room there is. */
function tooSmall({ columns, rows }: Size): readonly Line[] {
  const texts = ['errand office', `needs ${SMALLEST.columns}×${SMALLEST.rows},`, `this is ${columns}×${rows}`];
  return exactly(
    texts.map((text) => ({ spans: [cell(text, columns)] })),
    rows,
  );
}

/** Hints, as many as fit; or news while there is some. */
function footer({ notice }: AppState, width: number, hints: readonly KeyHint[]): Line {
  if (notice !== null) return { spans: [span(' '), cell(notice.text, width - 1, 'accent')] };
  const help = [span('? ', 'accent'), span('help ', 'dim')];
  const shown: Span[] = [];
  let room = width - widthOfSpans(help) - 1;
  for (const [key, meaning] of hints) {
    const hint = [span(` ${key}`, 'accent'), span(` ${meaning} `, 'dim')];
    room -= widthOfSpans(hint);
    if (room < 0) break;
    shown.push(...hint);
  }
  return lineOf(shown, help, width);
}
