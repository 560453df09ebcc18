// Waiting for a worker after the claim: the time of such a wait is not time at work.
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds } from './record-progress.ts';
import { NEVER } from './work-time.ts';

/** The verbs around the wait. Each answers false, and writes nothing, when the attempt no longer holds the run (D7). */
export function makeWaitForWorker({ write }: Database) {
  return {
    /** The attempt has no worker yet: nothing is added to the run's time at work, not even what passed since the claim. */
    waitForWorker: write(function* (tx: Transaction, fence: Fence): Step<boolean> {
      return (yield* holds(tx, fence)) && (yield* countFrom(tx, fence, NEVER));
    }),

    /** From now on it has one. */
    beginWork: write(function* (tx: Transaction, fence: Fence): Step<boolean> {
      return (yield* holds(tx, fence)) && (yield* countFrom(tx, fence, tx.steadyNow));
    }),
  };
}

function* countFrom(tx: Transaction, { runSeq }: Fence, moment: number): Step<true> {
  yield* tx.run('UPDATE runs SET worked_until = ? WHERE seq = ?', moment, runSeq);
  return true;
}
