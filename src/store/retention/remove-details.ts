// Removes what runs did on the way to their answer: tool calls with their results, replies as their models gave them, and what
// these were asked with. What was said stays, and so do the sums of what was used.
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { FORGET_SETUPS } from '../runs/run-setups.ts';
import { type Batch, LARGE, type Removed } from './batch.ts';
import { removeOfEnded } from './ended-runs.ts';

/**
 * One after another, each in as many commits as it takes. Replies go first: one that is there without its calls would be shown
 * to a model as calls that have no results, which no protocol allows.
 */
const DETAILS = [
  { sql: "UPDATE steps SET message = 'null' WHERE run_seq = ? AND message <> 'null' LIMIT ?", counts: 1 },
  { sql: 'DELETE FROM tool_calls WHERE run_seq = ? LIMIT ?', counts: 1 },
  // Shared by runs, so that nobody can say before how many go.
  ...FORGET_SETUPS.map((sql) => ({ sql, counts: 0 })),
];

/** The verb, which is called until nothing is left. */
export function makeRemoveDetails({ write }: Database) {
  return {
    /** Removes details of runs that ended before a moment, the oldest runs first. */
    ofRuns: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      let [rows, changed] = [0, 0];
      const more = yield* removeOfEnded(tx, { part: 'details', before, batch }, function* (runSeq) {
        for (const { sql, counts } of DETAILS) {
          for (let removed = Infinity, room = 0; removed >= room; rows += removed * counts) {
            // Each commit gets further, however little time it has.
            room = batch.room(LARGE) || Number(changed === 0);
            if (room === 0) return 'more';
            removed = yield* tx.count(sql, runSeq, room);
            changed += removed;
          }
        }
        changed += 1;
        return 'done';
      });
      return { rows, more };
    }, FREES),
  };
}
