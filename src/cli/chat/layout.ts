// Where a draft's text and cursor are on a terminal.
import { widthOf } from '../../terminal/text.ts';
import type { Draft } from './draft.ts';

export interface Layout {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

/** The room that a draft has. `first` and `more` stand before its first and its other lines. */
export interface Room {
  readonly columns: number;
  readonly first: string;
  readonly more: string;
}

/** The rows of a draft. The last column stays free, because terminals differ in where the cursor is after it. */
export function layoutOf({ text, cursor }: Draft, { columns, first, more }: Room): Layout {
  const rows: string[] = [];
  let [row, width] = [first, widthOf(first)];
  let [cursorRow, cursorColumn] = [0, width];
  const end = () => {
    rows.push(row);
    [row, width] = [more, widthOf(more)];
  };
  for (const { segment, index } of new Intl.Segmenter().segment(text)) {
    const shown = segment === '\t' ? '  ' : segment;
    const wide = widthOf(shown);
    if (segment !== '\n' && width + wide >= columns) end();
    if (index === cursor) [cursorRow, cursorColumn] = [rows.length, width];
    if (segment === '\n') end();
    else {
      row += shown;
      width += wide;
    }
  }
  if (cursor === text.length) [cursorRow, cursorColumn] = [rows.length, width];
  rows.push(row);
  return { rows, cursorRow, cursorColumn };
}

/** At most a number of rows, with the cursor's among them. */
export function windowOf({ rows, cursorRow, cursorColumn }: Layout, height: number): Layout {
  if (rows.length <= height) return { rows, cursorRow, cursorColumn };
  const start = Math.min(Math.max(0, cursorRow - Math.floor(height / 2)), rows.length - height);
  return { rows: rows.slice(start, start + height), cursorRow: cursorRow - start, cursorColumn };
}
