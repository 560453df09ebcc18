// Soft deletion of sessions (E9): what was under way is stopped, and what cannot be undone is left to a clean-up.
import type { Run } from '../../domain/sessions/run.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { freeSpaceIn } from '../sessions/workspace-space.ts';
import { type StopCommit, stopIn } from './stop-runs.ts';

/** `shared`: the session has other runs than the one, and was left as it is. */
export type DeleteCommit = StopCommit | { readonly kind: 'shared' };

/** The verbs. */
export function makeDeleteSession(database: Database) {
  const write = makeAuditedWrite(database);
  return {
    /** Cancels the unfinished runs of a session and schedules the clean-up. `gone` when it was already deleted. */
    deleteSession: (sessionSeq: number, note?: Note<DeleteCommit>): Promise<DeleteCommit> =>
      write(note, (tx) => deleteSessionIn(tx, sessionSeq), FREES),

    /** The same with a session of one run. */
    deleteSessionOfRun: (
      { seq, sessionSeq }: Pick<Run, 'seq' | 'sessionSeq'>,
      note?: Note<DeleteCommit>,
    ): Promise<DeleteCommit> => write(note, (tx) => deleteSessionOfRunIn(tx, sessionSeq, seq), FREES),
  };
}

const OTHER_RUN = 'SELECT 1 FROM runs WHERE session_seq = ? AND seq <> ? LIMIT 1';

function* deleteSessionOfRunIn(tx: Transaction, sessionSeq: number, runSeq: number): Step<DeleteCommit> {
  if ((yield* tx.get(OTHER_RUN, sessionSeq, runSeq)) !== undefined) return { kind: 'shared' };
  return yield* deleteSessionIn(tx, sessionSeq);
}

/** Deletes within a transaction. */
export function* deleteSessionIn(tx: Transaction, sessionSeq: number): Step<StopCommit> {
  const stop = yield* stopIn(tx, { sessionSeq, runSeq: null }, 'session_deleted');
  if (stop.kind === 'gone') return stop;
  const { title } = (yield* tx.get<{ title: string }>('SELECT title FROM sessions WHERE seq = ?', sessionSeq))!;
  yield* freeSpaceIn(tx, sessionSeq);
  yield* tx.run('UPDATE sessions SET deleted_at = ? WHERE seq = ? AND deleted_at IS NULL', tx.now, sessionSeq);
  yield* tx.run('INSERT INTO cleanups (session_seq, created_at) VALUES (?, ?)', sessionSeq, tx.now);
  yield* tx.run(
    "UPDATE runs SET artifact_status = 'failed' WHERE session_seq = ? AND artifact_status = 'pending'",
    sessionSeq,
  );
  yield* tx.run(
    "UPDATE workspace_exports SET status = 'failed' WHERE session_seq = ? AND status = 'pending'",
    sessionSeq,
  );
  tx.emit(sessionSeq, null, { type: 'session.deleted', payload: { title } });
  return stop;
}
