// The journal of one run, by pages in both directions. Ids and places in the run's sequence increase together.
import type { Reader, Step } from '../engine/statement.ts';
import type { EventRow } from './events.ts';

/** Events with an id above `afterId` and below `beforeId`, which is null for no bound: from the oldest on, or from the newest. */
export interface EventRange {
  readonly afterId: number;
  readonly beforeId: number | null;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface RunOfSession {
  readonly seq: number;
  readonly id: string;
}

/** `run_id` is null in events that belong to the session alone. */
export type RowOfSession = EventRow & { readonly run_id: string | null };

/** Above all ids, and above all places. */
export const END_OF_JOURNAL = Number.MAX_SAFE_INTEGER;

/** Up to `limit` events of a run from a place in its sequence on, and before another. */
export function listPlaces(
  tx: Reader,
  run: RunOfSession,
  { from, before, order, limit }: { from: number; before: number } & Pick<EventRange, 'order' | 'limit'>,
): Step<RowOfSession[]> {
  return tx.all<RowOfSession>(
    `SELECT *, ? AS run_id FROM events WHERE run_seq = ? AND stream_seq >= ? AND stream_seq < ?
     ORDER BY stream_seq ${order} LIMIT ?`,
    run.id,
    run.seq,
    from,
    before,
    limit,
  );
}

/** The first place in a run's sequence with an id above a given one, by a binary search. */
export function* firstPlaceAbove(tx: Reader, runSeq: number, id: number): Step<number> {
  if (id >= END_OF_JOURNAL - 1) return END_OF_JOURNAL;
  const last = yield* tx.get<{ stream_seq: number }>(
    'SELECT stream_seq FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1',
    runSeq,
  );
  let [low, high] = [1, (last?.stream_seq ?? 0) + 1];
  while (low < high && id > 0) {
    const middle = Math.floor((low + high) / 2);
    // At the middle or after it: erased events leave gaps.
    const found = (yield* tx.get<{ id: number }>(
      'SELECT id FROM events WHERE run_seq = ? AND stream_seq >= ? ORDER BY stream_seq LIMIT 1',
      runSeq,
      middle,
    ))!;
    if (found.id > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
