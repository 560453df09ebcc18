// What a run has used of its time limit: the time that it had a worker, by the clock that does not jump.
import type { Transaction } from '../engine/database.ts';

// `worked_until` is set by each claim, so what passes between two attempts is never added: a queue, an outage, a user who
// is asked. What passed in an attempt is added with its progress and its leases. A crash loses what came after the last.

/** To be set in an UPDATE of `runs` that a run at work makes; takes `tx.steadyNow` twice. */
export const ADD_WORK = 'worked_ms = worked_ms + ? - worked_until, worked_until = ?';

const NOTE_WORK = `UPDATE runs SET ${ADD_WORK} WHERE seq = ?`;

/** Adds the time since the last such note, or since the claim. Only for a run that had a worker until now. */
export function noteWork(tx: Transaction, runSeq: number): void {
  tx.run(NOTE_WORK, tx.steadyNow, tx.steadyNow, runSeq);
}
