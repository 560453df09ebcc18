// What a run has used of its time limit: the time that it had a worker. Its executor measures it, the row keeps it.
import { larger } from '../engine/larger.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** To be set in an UPDATE of `runs` that a run under way makes; takes the attempt's `workedMs`, twice. */
export const KEEP_WORK = `worked_ms = ${larger('worked_ms', '?')}`;

const NOTE_WORK = `UPDATE runs SET ${KEEP_WORK} WHERE seq = ?`;

/** Keeps how long the run has been at work until now, over all its attempts. */
export function* noteWork(tx: Transaction, { runSeq, workedMs }: { runSeq: number; workedMs: number }): Step<void> {
  yield* tx.run(NOTE_WORK, workedMs, workedMs, runSeq);
}
