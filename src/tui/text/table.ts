// Lays out a table in the columns there are.
import { fitColumns, GAP, type Sizing } from '../../terminal/fit-columns.ts';
import { GUARD, hasRightToLeft } from './fit.ts';
import { cell, clip, type Line, type Role, type Span, span, widthOfSpans } from './line.ts';

export interface Column<R> extends Sizing {
  readonly title: string;
  /** Of its heading; dim without one. */
  readonly titleRole?: Role;
  readonly align?: 'start' | 'end';
  /** The text of a row, or spans for one that has several colours; either is fitted to the width. */
  readonly cell: (row: R, width: number) => Span | readonly Span[];
}

export interface Layout<R> {
  readonly heading: Line;
  readonly row: (row: R) => readonly Span[];
}

function gapAfter(cell: readonly Span[]): Span {
  const isGuarded = cell.some(({ text }) => hasRightToLeft(text));
  return span(isGuarded ? GUARD.padEnd(GAP) : ' '.repeat(GAP));
}

/** The layout of a table for a width. */
export function layOut<R>(columns: readonly Column<R>[], width: number): Layout<R> {
  const shown = fitColumns(columns, width);
  const inLine = (cells: readonly (readonly Span[])[]) =>
    clip(
      cells.flatMap((spans, at) => (at === 0 ? spans : [gapAfter(cells[at - 1] ?? []), ...spans])),
      width,
    );
  return {
    heading: {
      spans: inLine(shown.map(({ title, titleRole = 'dim', width, align }) => [cell(title, width, titleRole, align)])),
    },
    row: (row) => inLine(shown.map(({ cell, width, align }) => fitted(cell(row, width), width, align))),
  };
}

function fitted(content: Span | readonly Span[], width: number, align: 'start' | 'end' = 'start'): readonly Span[] {
  if ('text' in content) return [cell(content.text, width, content.role, align)];
  const padding = Math.max(0, width - widthOfSpans(content));
  return align === 'end' ? clip([span(' '.repeat(padding)), ...content], width) : clip(content, width);
}
