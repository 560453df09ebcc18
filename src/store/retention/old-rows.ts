// Rows of a kind that end at some time and are removed later, but not all of them: counted, and removed a part at a time.
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Batch, type Cursor, type Removed, START } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

interface Old extends Cursor {
  readonly goes: number;
}

export interface OldKind {
  /** Lists rows of `Old` that ended from a moment on and before another, behind a place. */
  readonly sql: string;
  readonly weight: number;
  readonly bytes: number;
  remove(tx: Transaction, key: number): Step<unknown>;
}

/** How many there are from before a moment. */
export function* countOld(tx: Reader, { sql, bytes }: OldKind, before: number): Step<Amount> {
  const values = [START.at, before, START.at, START.key, MAX_COUNTED];
  const { looked, rows } = (yield* tx.get<{ looked: number; rows: number }>(
    `SELECT count(*) AS looked, count(CASE WHEN goes THEN 1 END) AS rows FROM (${sql})`,
    ...values,
  ))!;
  return { rows, bytes: rows * bytes, isAtLeast: looked === MAX_COUNTED };
}

/** What stays is passed, some at a time. */
export function* removeOldIn(
  tx: Transaction,
  { sql, weight, remove }: OldKind,
  { before, batch, from }: { readonly before: number; readonly batch: Batch; readonly from: Cursor },
): Step<Removed> {
  let [rows, next] = [0, from];
  for (;;) {
    const room = batch.room(weight);
    if (room === 0) return { rows, more: true, next };
    const old = yield* tx.all<Old>(sql, next.at, before, next.at, next.key, room);
    for (const { key } of old.filter(({ goes }) => goes === 1)) {
      yield* remove(tx, key);
      rows += 1;
    }
    next = old.at(-1) ?? next;
    if (old.length < room) return { rows, more: false, next };
  }
}
