// Lays out a table in the columns there are: what is worth least goes first, what may grow takes the rest.
import { GUARD, hasRightToLeft } from './fit.ts';
import { cell, clip, type Line, type Span, span, widthOfSpans } from './line.ts';

export interface Column<R> {
  readonly title: string;
  /** Columns of the terminal that it needs. */
  readonly width: number;
  /** From how many on it is comfortable; a luxury stays only while every other column is. */
  readonly ample?: number;
  readonly isLuxury?: true;
  /** Up to how many it makes use of. */
  readonly most?: number;
  /** The higher, the longer it stays. */
  readonly worth: number;
  readonly align?: 'start' | 'end';
  /** The text of a row, or spans for one that has several colours; either is fitted to the width. */
  readonly cell: (row: R, width: number) => Span | readonly Span[];
}

export interface Layout<R> {
  readonly heading: Line;
  readonly row: (row: R) => readonly Span[];
}

const GAP = 2;

function gapAfter(cell: readonly Span[]): Span {
  const isGuarded = cell.some(({ text }) => hasRightToLeft(text));
  return span(isGuarded ? GUARD.padEnd(GAP) : ' '.repeat(GAP));
}

/** The layout of a table for a width. */
export function layOut<R>(columns: readonly Column<R>[], width: number): Layout<R> {
  const chosen = grown(affordable(columns, width), width);
  const inLine = (cells: readonly (readonly Span[])[]) =>
    clip(
      cells.flatMap((spans, at) => (at === 0 ? spans : [gapAfter(cells[at - 1] ?? []), ...spans])),
      width,
    );
  return {
    heading: { spans: inLine(chosen.map(([{ title, align }, columns]) => [cell(title, columns, 'dim', align)])) },
    row: (row) => inLine(chosen.map(([column, columns]) => fitted(column.cell(row, columns), columns, column.align))),
  };
}

type Sized<R> = readonly [column: Column<R>, width: number];

const needed = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

function affordable<R>(columns: readonly Column<R>[], width: number): readonly Column<R>[] {
  let left = columns;
  while (left.length > 1) {
    const least = left.reduce((a, b) => (b.worth < a.worth ? b : a));
    const widths = left.map((column) => (least.isLuxury ? (column.ample ?? column.width) : column.width));
    if (needed(widths) <= width) break;
    left = left.filter((column) => column !== least);
  }
  return left;
}

/** Shares what is left between the columns that may grow, in steps of one so that none starves. */
function grown<R>(columns: readonly Column<R>[], width: number): readonly Sized<R>[] {
  const widths = columns.map((column) => Math.min(column.width, width));
  let rest = width - needed(widths);
  while (rest > 0) {
    const growing = columns.flatMap(({ most = 0 }, at) => ((widths[at] ?? 0) < most ? [at] : []));
    if (growing.length === 0) break;
    for (const at of growing.slice(0, rest)) {
      widths[at] = (widths[at] ?? 0) + 1;
      rest -= 1;
    }
  }
  return columns.map((column, at) => [column, widths[at] ?? 0]);
}

function fitted(content: Span | readonly Span[], width: number, align: 'start' | 'end' = 'start'): readonly Span[] {
  if ('text' in content) return [cell(content.text, width, content.role, align)];
  const padding = Math.max(0, width - widthOfSpans(content));
  return align === 'end' ? clip([span(' '.repeat(padding)), ...content], width) : clip(content, width);
}
