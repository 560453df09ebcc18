// What a list or a record shows: its columns, and what each is worth when there is no room for all.
import type { Style } from './colours.ts';

export type Cell = string | number | boolean | null | undefined;

/**
 * One column of a list, or one line of a record. `name` is the API's name of the field, and says how a terminal shows it:
 * an `id` or `…_id` or `sha256` short, `…_at` relative to now, a `size` in a readable unit.
 */
export interface Column<T> {
  readonly name: string;
  readonly value: (row: T) => Cell;
  /** From 0 to 9, usually 5; those worth least are left out first when a terminal is narrow. */
  readonly worth?: number;
  /** The word of a state whose glyph and colour the cell has. */
  readonly state?: (row: T) => string;
  /** As the last column, it is broken into lines where others would be cut. */
  readonly wraps?: true;
  /** Its texts are for copying, such as addresses: where there is no room for them they are left out, never cut. */
  readonly isWhole?: true;
  /** Colour of a cell on a terminal. */
  readonly style?: (row: T) => Style | undefined;
}

export const USUAL_WORTH = 5;

/** A column whose value is the field of the same name. */
export function field<T, Name extends keyof T & string>(name: Name, worth: number = USUAL_WORTH): Column<T> {
  return { name, value: (row) => row[name] as Cell, worth };
}

/** A column whose value is computed. */
export function column<T>(name: string, value: (row: T) => Cell, worth: number = USUAL_WORTH): Column<T> {
  return { name, value, worth };
}

/** A column whose value is a state. */
export function state<T>(name: string, value: (row: T) => string, worth: number = USUAL_WORTH): Column<T> {
  return { name, value, worth, state: value };
}
