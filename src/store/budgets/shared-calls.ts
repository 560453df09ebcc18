// Calls in progress where several processes share the database: what each holds back is a row that all of them read.
import { forgetIn, readReserved, takeIn } from './call-rows.ts';
import { type HeldCalls, makeOwnCalls } from './held-calls.ts';

/** Makes them. The row of a call is written by the verb that grants it. */
export function makeSharedCalls(): HeldCalls {
  const own = makeOwnCalls();
  return {
    // Rows go in the commits that add to what is spent, so one snapshot has a call in one of both.
    look: () => readReserved,
    hold: own.hold,
    release: (call) => void own.release(call),
    ofAttempt: own.ofAttempt,
    isWritten: () => true,
    written: () => undefined,
    *recordedIn(tx, attempt, hasBudgets) {
      // Another process may have written it, but none does without a budget.
      if (hasBudgets || own.ofAttempt(attempt).length > 0) yield* forgetIn(tx, attempt);
    },
    lostIn: takeIn,
  };
}
