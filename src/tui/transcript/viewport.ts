// A view on a list of items of several lines each, of which only those in sight are laid out. Pure.
import type { ScrollPosition } from '../state/desk-state.ts';
import type { Line } from '../text/line.ts';

/** Items with rising keys; `startsAtEnd` where the newest is what one looks for first. */
export interface Items {
  readonly count: number;
  readonly keyAt: (index: number) => number;
  readonly linesAt: (index: number) => readonly Line[];
  readonly startsAtEnd: boolean;
}

interface At {
  readonly index: number;
  readonly row: number;
}

/** The lines in sight. `isAtStart`: nothing is above them. `isAtEnd`: nothing below. */
export interface View {
  readonly lines: readonly Line[];
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

export function viewOf(items: Items, position: ScrollPosition | undefined, rows: number): View {
  const top = topOf(items, position, rows);
  const lines: Line[] = [];
  let index = top.index;
  for (; index < items.count && lines.length <= rows; index += 1) {
    const own = items.linesAt(index);
    lines.push(...(index === top.index ? own.slice(top.row) : own));
  }
  return {
    lines: lines.slice(0, rows),
    isAtStart: top.index === 0 && top.row === 0,
    isAtEnd: index >= items.count && lines.length <= rows,
  };
}

/** The position so many lines further; undefined where the list begins by itself: there it follows what comes. */
export function scrolled(
  items: Items,
  position: ScrollPosition | undefined,
  by: number,
  rows: number,
): ScrollPosition | undefined {
  const at = moved(items, topOf(items, position, rows), by);
  const last = endOf(items, rows);
  const isPast = at.index > last.index || (at.index === last.index && at.row >= last.row);
  if (isPast && items.startsAtEnd) return undefined;
  const { index, row } = isPast ? last : at;
  const isAtTop = index === 0 && row === 0;
  return items.count === 0 || (isAtTop && !items.startsAtEnd) ? undefined : { key: items.keyAt(index), row };
}

/** The position at which the item at an index is in sight: as it was where it is already, else as near as it can be. */
export function revealed(
  items: Items,
  position: ScrollPosition | undefined,
  index: number,
  rows: number,
): ScrollPosition | undefined {
  const top = topOf(items, position, rows);
  const itself = { key: items.keyAt(index), row: 0 };
  if (index < top.index || (index === top.index && top.row > 0)) return itself;
  const height = items.linesAt(index).length;
  let end = -top.row;
  for (let at = top.index; at <= index && end <= rows; at += 1) end += items.linesAt(at).length;
  if (end <= rows) return position;
  if (height >= rows) return itself;
  // Its last line becomes the last one in sight.
  let above = rows - height;
  let first = index;
  while (first > 0 && above >= items.linesAt(first - 1).length) {
    first -= 1;
    above -= items.linesAt(first).length;
  }
  return { key: items.keyAt(first), row: 0 };
}

function topOf(items: Items, position: ScrollPosition | undefined, rows: number): At {
  const end = endOf(items, rows);
  if (position === undefined) return items.startsAtEnd ? end : { index: 0, row: 0 };
  const index = firstFrom(items, position.key);
  if (index >= items.count || index > end.index) return end;
  const row = items.keyAt(index) === position.key ? position.row : 0;
  return index === end.index ? { index, row: Math.min(row, end.row) } : { index, row };
}

/** Where the view begins that ends with the last line. */
function endOf(items: Items, rows: number): At {
  let missing = rows;
  for (let index = items.count - 1; index >= 0; index -= 1) {
    const height = items.linesAt(index).length;
    if (height >= missing) return { index, row: height - missing };
    missing -= height;
  }
  return { index: 0, row: 0 };
}

function moved(items: Items, { index, row }: At, by: number): At {
  let at = index;
  let to = row + by;
  while (to < 0 && at > 0) {
    at -= 1;
    to += items.linesAt(at).length;
  }
  while (at < items.count - 1 && to >= items.linesAt(at).length) {
    to -= items.linesAt(at).length;
    at += 1;
  }
  return { index: at, row: Math.max(0, to) };
}

/** The first item whose key is not lower. */
function firstFrom(items: Items, key: number): number {
  let [low, high] = [0, items.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items.keyAt(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
