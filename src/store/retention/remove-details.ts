// Removes what runs did on the way to their answer: tool calls with their results, replies as their models gave them, and what
// these were asked with. What was said stays, and so do the sums of what was used.
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { FORGET_SETUPS } from '../runs/run-setups.ts';
import { type Batch, LARGE, type Removed } from './batch.ts';

const OLDEST_RUN = `SELECT seq FROM runs WHERE finished_at < ? AND finished_at IS NOT NULL AND details_removed_at IS NULL
  ORDER BY finished_at LIMIT 1`;

/**
 * One after another, each in as many commits as it takes. Replies go first: one that is there without its calls would be shown
 * to a model as calls that have no results, which no protocol allows.
 */
const DETAILS = [
  "UPDATE steps SET message = 'null' WHERE run_seq = ? AND message <> 'null' LIMIT ?",
  'DELETE FROM tool_calls WHERE run_seq = ? LIMIT ?',
  ...FORGET_SETUPS,
];

/** The verb, which is called until nothing is left. */
export function makeRemoveDetails({ write }: Database) {
  return {
    /** Removes details of runs that ended before a moment, the oldest runs first. */
    ofRuns: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      let [rows, marked] = [0, 0];
      for (;;) {
        const run = yield* tx.get<{ seq: number }>(OLDEST_RUN, before);
        if (run === undefined) return { rows, more: false };
        for (const sql of DETAILS) {
          for (let removed = Infinity, room = 0; removed >= room; rows += removed) {
            // Each commit gets further, however little time it has.
            room = batch.room(LARGE) || Number(rows + marked === 0);
            if (room === 0) return { rows, more: true };
            removed = yield* tx.run(sql, run.seq, room);
          }
        }
        yield* tx.run('UPDATE runs SET details_removed_at = ? WHERE seq = ?', tx.now, run.seq);
        marked += 1;
      }
    }, 'free'),
  };
}
