// Lists with filters: their WHERE clause, and a page of one.
import type { Page } from '../../domain/listing.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** A clause from the conditions that always apply and those whose value is not null, with these values in order. */
export function conditions(
  always: readonly string[],
  filters: Readonly<Record<string, string | number | null>>,
): { readonly where: string; readonly values: readonly (string | number)[] } {
  const given = Object.entries(filters).filter((entry): entry is [string, string | number] => entry[1] !== null);
  return {
    where: `WHERE ${[...always, ...given.map(([condition]) => condition)].join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}

/** A list: its tables and what is read of each row, under the same names, with its filters and order. */
export interface ListQuery {
  readonly from: string;
  readonly select: string;
  readonly where: string;
  readonly values: readonly (string | number)[];
  readonly order: string;
}

/** One page of a list, and the number of all its rows. */
export function* readPage<Row>(
  tx: Reader,
  list: ListQuery,
  { limit, offset }: Page,
): Step<{ rows: Row[]; total: number }> {
  const { from, select, where, values, order } = list;
  const { total } = (yield* tx.get<{ total: number }>(`SELECT count(*) AS total FROM ${from} ${where}`, ...values))!;
  const rows = yield* tx.all<Row>(`${select} ${where} ORDER BY ${order} LIMIT ? OFFSET ?`, ...values, limit, offset);
  return { rows, total };
}
