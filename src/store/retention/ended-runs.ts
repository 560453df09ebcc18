// Runs in the order of their ends, from the place on that a kind of removal has reached. The place is kept.
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Batch, type Cursor, START } from './batch.ts';

/** What is removed of a run, and the column that says when that was done. */
export type RunPart = 'events' | 'details';

/** How the removal of one run was: done, not in this commit, or not yet in any. */
export type RunRemoval = 'done' | 'more' | 'waits';

interface Ended extends Cursor {
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
  return between((yield* tx.get<Cursor>(PLACE, part)) ?? START, before);
}

const between = ({ at, key }: Cursor, before: number) => [at, before, at, key];

/**
 * Calls `remove` with each run that ended before a moment and is left, the oldest first, and marks those that are done. Those that
 * were done before are passed, many at a time: after a clock was set back, that may be all. Returns whether more may be left.
 */
export function* removeOfEnded(
  tx: Transaction,
  { part, before, batch }: { readonly part: RunPart; readonly before: number; readonly batch: Batch },
  remove: (runSeq: number) => Step<RunRemoval>,
): Step<boolean> {
  const start = (yield* tx.get<Cursor>(PLACE, part)) ?? START;
  let [place, removal]: [Cursor, RunRemoval] = [start, 'done'];
  while (removal === 'done') {
    const [run] = yield* listFrom(tx, { part, before, place }, 1);
    if (run === undefined) break;
    if (run.isLeft) {
      removal = yield* remove(run.key);
      if (removal !== 'done') break;
      yield* tx.run(MARK[part], tx.now, run.key);
      place = run;
    } else {
      const room = batch.room();
      if (room === 0) removal = 'more';
      else place = lastDone(yield* listFrom(tx, { part, before, place }, room));
    }
  }
  if (place !== start) yield* keepIn(tx, part, place);
  return removal === 'more';
}

interface From {
  readonly part: RunPart;
  readonly before: number;
  readonly place: Cursor;
}

const listFrom = (tx: Reader, { part, before, place }: From, limit: number): Step<Ended[]> =>
  tx.all<Ended>(
    `SELECT finished_at AS at, seq AS key, ${IS_LEFT[part]} AS isLeft ${ENDED_FROM} LIMIT ?`,
    ...between(place, before),
    limit,
  );

/** The last run before the first that is left. The first of these runs is done. */
function lastDone(runs: readonly Ended[]): Cursor {
  const left = runs.findIndex(({ isLeft }) => isLeft === 1);
  return runs.at(left === -1 ? -1 : left - 1)!;
}

function* keepIn(tx: Transaction, part: RunPart, { at, key }: Cursor): Step<void> {
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
