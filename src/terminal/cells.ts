// One value as a terminal shows it.
import { isUuid } from '../domain/ids.ts';
import type { Style } from './colours.ts';
import type { Cell, Column } from './columns.ts';
import { relativeTime } from './moments.ts';
import { shortIds } from './short-ids.ts';
import { readableSize } from './sizes.ts';
import { stateStyleOf } from './states.ts';
import { safeLine } from './text.ts';

/** A cell as text, with its colour. */
export interface ShownCell {
  readonly text: string;
  readonly style: Style | undefined;
}

type Kind = 'id' | 'hash' | 'moment' | 'size' | 'plain';

/** As many characters of a hash as people compare. */
const HASH_SHOWN = 12;

/** How a value is shown, by its name in the API and its form. */
function kindOf(name: string, cell: Cell): Kind {
  if (typeof cell === 'string' && /(^|_)id$/.test(name) && isUuid(cell)) return 'id';
  if (typeof cell === 'string' && name.endsWith('_at') && !Number.isNaN(Date.parse(cell))) return 'moment';
  if (typeof cell === 'string' && name === 'sha256') return 'hash';
  if (typeof cell === 'number' && name === 'size') return 'size';
  return 'plain';
}

/** Whether a cut cell still says something: ids, times, numbers, states and what is for copying do not. */
export function isCuttable<T>({ name, value, state, isWhole }: Column<T>, rows: readonly T[]): boolean {
  if (state !== undefined || isWhole === true) return false;
  return rows.some((row) => typeof value(row) === 'string' && kindOf(name, value(row)) === 'plain');
}

/** Whether every value of a column is a number. */
export function isNumeric<T>({ value }: Column<T>, rows: readonly T[]): boolean {
  const types = new Set(rows.map((row) => typeof (value(row) ?? undefined)));
  types.delete('undefined');
  return types.size === 1 && types.has('number');
}

/** Whether a column has no value in any row. */
export function isEmpty<T>({ value }: Column<T>, rows: readonly T[]): boolean {
  return rows.every((row) => wholeText(value(row)) === NOTHING);
}

const NOTHING = '-';

/** A value in full. */
export function wholeText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return NOTHING;
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return safeLine(String(cell));
}

/** How the values of one column are shown in the table of a list: `now` is epoch ms. */
export function briefTexts<T>({ name, value }: Column<T>, rows: readonly T[], now: number): string[] {
  const cells = rows.map(value);
  const ids = shortIds(cells.filter((cell): cell is string => kindOf(name, cell) === 'id'));
  const TEXTS: Readonly<Record<Kind, (cell: Cell) => string>> = {
    id: (cell) => ids.get(String(cell))!,
    hash: (cell) => String(cell).slice(0, HASH_SHOWN),
    moment: (cell) => relativeTime(Date.parse(String(cell)), now),
    size: (cell) => readableSize(Number(cell)),
    plain: wholeText,
  };
  return cells.map((cell) => TEXTS[kindOf(name, cell)](cell));
}

/** A value in full, with a reading of it that is easier for people: `2026-01-31T12:00:00.000Z (3 min ago)`. */
export function explainedText<T>({ name, value }: Column<T>, row: T, now: number): string {
  const cell = value(row);
  const text = wholeText(cell);
  const kind = kindOf(name, cell);
  if (kind === 'moment') {
    const relative = relativeTime(Date.parse(String(cell)), now);
    return text.startsWith(relative) ? text : `${text} (${relative})`;
  }
  return kind === 'size' && Number(cell) >= 1000 ? `${text} (${readableSize(Number(cell))})` : text;
}

/** The text with the glyph and the colour of its state, otherwise with the colour of its column. */
export function dressedCell<T>({ state, style }: Column<T>, row: T, text: string): ShownCell {
  if (state === undefined) return { text, style: text === NOTHING ? 'dim' : style?.(row) };
  const look = stateStyleOf(state(row));
  return { text: `${look.glyph} ${text}`, style: look.style };
}
