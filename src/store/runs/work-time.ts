// What a run has used of its time limit: the time that it had a worker, by the clock that does not jump.
import type { Step, Transaction } from '../engine/statement.ts';

// `worked_until` is set by each claim, so what passes between two attempts is never added: a queue, an outage, a user who
// is asked. What passed in an attempt is added with its progress and its leases. A crash loses what came after the last.
// That of an attempt which waits for its worker is a moment that never comes, so that nothing is added.

/** `worked_until` of an attempt that has no worker yet. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** To be set in an UPDATE of `runs` that a run under way makes; takes `tx.steadyNow` twice. */
export const ADD_WORK = 'worked_ms = worked_ms + max(0, ? - worked_until), worked_until = max(?, worked_until)';

const NOTE_WORK = `UPDATE runs SET ${ADD_WORK} WHERE seq = ?`;

/** Adds the time since the last such note, or since the claim; nothing for an attempt that waits for its worker. */
export function* noteWork(tx: Transaction, runSeq: number): Step<void> {
  yield* tx.run(NOTE_WORK, tx.steadyNow, tx.steadyNow, runSeq);
}
