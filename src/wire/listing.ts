// Lists: every item of a kind, or a page of them (§4.6, §8).
import { array, object } from './shapes/composites.ts';
import { digits } from './shapes/query.ts';
import { integer } from './shapes/scalars.ts';
import type { Shape } from './shapes/shape.ts';

/** A page as a query names it: `limit` from 1 to 500, 100 when absent; `offset` from 0. */
export const pageFields = {
  limit: digits({ from: 1, to: 500, absent: 100 }),
  offset: digits({ from: 0, to: Number.MAX_SAFE_INTEGER, absent: 0 }),
};

export const pageQuery = object(pageFields);

/** A list of the management interface. `total` counts what is on other pages, too. */
export function listOf<T, J, D>(item: Shape<T, J, D>) {
  return { ...object({ items: array(item), total: integer({ from: 0 }) }), item };
}

/** The shape of such a list. */
export type ListShape<T, J, D> = ReturnType<typeof listOf<T, J, D>>;

/** A list for programs, which repeats what page it is. */
export function pageOf<T, J, D>(item: Shape<T, J, D>) {
  return object({ ...listOf(item).fields, limit: integer({ from: 1 }), offset: integer({ from: 0 }) });
}

/** Every list of the management interface. */
export interface ListWire<T> {
  readonly items: readonly T[];
  readonly total: number;
}
