// The attempt that a write of a running run belongs to: once it no longer holds the run, it writes nothing (D7).
import type { Scope } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** The run that a write belongs to, and the attempt that makes it. */
export interface Fence {
  readonly sessionSeq: number;
  readonly runSeq: number;
  readonly attempt: number;
}

/** An attempt, and how long its run has been at work until now, over all its attempts. */
export interface Progress extends Fence {
  readonly workedMs: number;
}

/** Returns whether the attempt still holds the run. No attempt holds a run that waits for its user. */
export function* holds(tx: Transaction, fence: Fence): Step<boolean> {
  const found = yield* tx.get(
    "SELECT 1 FROM runs WHERE seq = ? AND attempt = ? AND status = 'running'",
    fence.runSeq,
    fence.attempt,
  );
  return found !== undefined;
}

/**
 * Of a verb that changes one run. What it reads is of its session; what it shares with others it only adds to, in one statement, or finds
 * by a unique key.
 */
export const OF_RUN = { scope: ({ sessionSeq }: Fence): Scope => [sessionSeq] };
