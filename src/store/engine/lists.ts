// Lists with filters: their WHERE clause, and a page of one.
import type { Page } from '../../domain/listing.ts';
import type { RowKind } from './row.ts';
import type { Reader, Step } from './statement.ts';

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
export interface ListQuery<Row> {
  /** Absent: rows of plain columns. */
  readonly rows?: RowKind<Row>;
  readonly from: string;
  readonly select: string;
  readonly where: string;
  readonly values: readonly (string | number)[];
  readonly order: string;
}

/** A page, as it is read from one end of a list: `order` is `DESC` for the end where the newest rows are. */
export interface PageFromEnd extends Page {
  readonly order: 'ASC' | 'DESC';
}

/**
 * Where a page of a list, the newest row first, is read with the fewest rows to skip. `total`: of all its rows; `hidden`: of those that
 * are skipped in any case, most of them among the oldest.
 */
export function fromNearerEnd({ limit, offset }: Page, total: number, hidden = 0): PageFromEnd {
  const left = total - offset;
  if (offset <= left + hidden) return { order: 'DESC', limit, offset };
  return { order: 'ASC', limit: Math.max(0, Math.min(limit, left)), offset: Math.max(0, left - limit) };
}

/** One page of a list, and the number of all its rows. */
export function* readPage<Row>(
  tx: Reader,
  list: ListQuery<Row>,
  { limit, offset }: Page,
): Step<{ items: Row[]; total: number }> {
  const { rows, from, select, where, values, order } = list;
  const { total } = (yield* tx.get<{ total: number }>(`SELECT count(*) AS total FROM ${from} ${where}`, ...values))!;
  const page = `${select} ${where} ORDER BY ${order} LIMIT ? OFFSET ?`;
  const all = [page, ...values, limit, offset] as const;
  const items = rows === undefined ? yield* tx.all<Row>(...all) : yield* tx.rows(rows).all(...all);
  return { items, total };
}
