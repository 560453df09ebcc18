// Runs in the order of their ends, from the place on that a kind of removal has reached. The place is kept.
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Batch, type Place, START } from './batch.ts';

/** What is removed of a run, and the column that says when that was done. */
export type RunPart = 'events' | 'details';

/** How the removal of one run was: done, not in this commit, or not yet in any. */
export type RunRemoval = 'done' | 'more' | 'waits';

interface Ended extends Place {
  readonly isLeft: number;
}

const IS_LEFT: Record<RunPart, string> = {
  events: 'events_removed_at IS NULL',
  details: 'details_removed_at IS NULL',
};
const ENDED_FROM = `FROM runs WHERE finished_at >= ? AND finished_at < ? AND finished_at IS NOT NULL
  AND (finished_at, seq) > (?, ?) ORDER BY finished_at, seq`;
const MARK: Record<RunPart, string> = {
  events: 'UPDATE runs SET events_removed_at = ? WHERE seq = ?',
  details: 'UPDATE runs SET details_removed_at = ? WHERE seq = ?',
};
const PLACE = 'SELECT at, key FROM retention_places WHERE kind = ?';

/** Rows with `seq` and `isLeft`. The values are those of `valuesFrom`, and a limit. */
export const runsFrom = (part: RunPart) => `SELECT seq, ${IS_LEFT[part]} AS isLeft ${ENDED_FROM} LIMIT ?`;

/** Those that ended from where the removal is, and before a moment. */
export function* valuesFrom(tx: Reader, part: RunPart, before: number): Step<number[]> {
  return between((yield* tx.get<Place>(PLACE, part)) ?? START, before);
}

const between = ({ at, key }: Place, before: number) => [at, before, at, key];

/**
 * Calls `remove` with each run that ended before a moment and is left, the oldest first, and marks those that are done. Returns
 * whether more may be left.
 */
export function* removeOfEnded(
  tx: Transaction,
  { part, before, batch }: { readonly part: RunPart; readonly before: number; readonly batch: Batch },
  remove: (runSeq: number) => Step<RunRemoval>,
): Step<boolean> {
  const start = (yield* tx.get<Place>(PLACE, part)) ?? START;
  const sql = `SELECT finished_at AS at, seq AS key, ${IS_LEFT[part]} AS isLeft ${ENDED_FROM} LIMIT 1`;
  let [place, removal]: [Place, RunRemoval] = [start, 'done'];
  while (removal === 'done') {
    const run = yield* tx.get<Ended>(sql, ...between(place, before));
    if (run === undefined) break;
    removal = run.isLeft ? yield* remove(run.key) : batch.room() === 0 ? 'more' : 'done';
    if (removal !== 'done') break;
    if (run.isLeft) yield* tx.run(MARK[part], tx.now, run.key);
    place = run;
  }
  if (place !== start) yield* keepIn(tx, part, place);
  return removal === 'more';
}

function* keepIn(tx: Transaction, part: RunPart, { at, key }: Place): Step<void> {
  yield* tx.run(
    `INSERT INTO retention_places (kind, at, key) VALUES (?, ?, ?)
     ON CONFLICT (kind) DO UPDATE SET at = excluded.at, key = excluded.key`,
    part,
    at,
    key,
  );
}

/** The clock was set back: runs end before where the removal is, so it begins anew. Those that are done are passed. */
export function* forgetPlacesIn(tx: Transaction): Step<void> {
  yield* tx.run('DELETE FROM retention_places');
}
