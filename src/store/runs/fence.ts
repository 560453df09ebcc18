// The attempt that a write of a running run belongs to: once it no longer holds the run, it writes nothing (D7).
import type { Scope } from '../engine/database.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
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

/** Which of the attempts still hold their runs. */
export function* holding(tx: Transaction, fences: readonly Fence[]): Step<readonly boolean[]> {
  if (fences.length === 1) return [yield* holds(tx, fences[0]!)];
  const held: boolean[] = [];
  for (let at = 0; at < fences.length; at += MOST_LISTED)
    held.push(...(yield* together(tx, fences.slice(at, at + MOST_LISTED))));
  return held;
}

function* together(tx: Transaction, fences: readonly Fence[]): Step<readonly boolean[]> {
  const { marks, values } = listed(fences.map(({ runSeq }) => runSeq));
  const rows = yield* tx.all<{ seq: number; attempt: number }>(
    `SELECT seq, attempt FROM runs WHERE seq IN (${marks}) AND status = 'running'`,
    ...values,
  );
  const attempts = new Map(rows.map(({ seq, attempt }) => [seq, attempt]));
  return fences.map(({ runSeq, attempt }) => attempts.get(runSeq) === attempt);
}

/**
 * Of a verb that changes one run. What it reads is of its session; what it shares with others it only adds to, in one statement, or finds
 * by a unique key.
 */
export const OF_RUN = { scope: ({ sessionSeq }: Fence): Scope => [sessionSeq] };
