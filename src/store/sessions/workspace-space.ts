// The space of workspaces, as sums per session and per user that move with the rows of files, so that nobody has to count.
import type { Reader, Step, Transaction } from '../engine/statement.ts';

const ADD = `UPDATE session_totals SET workspace_bytes = workspace_bytes + ? WHERE session_seq = ?
  AND EXISTS (SELECT 1 FROM sessions s WHERE s.seq = session_totals.session_seq AND s.deleted_at IS NULL)`;
const ADD_TO_OWNER = `UPDATE users SET workspace_bytes = workspace_bytes + ?
  WHERE seq = (SELECT user_seq FROM sessions WHERE seq = ?)`;

/** Adds what the files of a session have grown by; a deleted session has no space any more. */
export function* addSpaceIn(tx: Transaction, sessionSeq: number, bytes: number): Step<void> {
  if (bytes === 0 || (yield* tx.count(ADD, bytes, sessionSeq)) === 0) return;
  yield* tx.run(ADD_TO_OWNER, bytes, sessionSeq);
}

/** Takes the space of a session from its owner; called before the session is deleted. */
export function* freeSpaceIn(tx: Transaction, sessionSeq: number): Step<void> {
  const sql = 'SELECT workspace_bytes AS bytes FROM session_totals WHERE session_seq = ?';
  yield* addSpaceIn(tx, sessionSeq, -((yield* tx.get<{ bytes: number }>(sql, sessionSeq))?.bytes ?? 0));
}

/** What the workspaces of a user take if that is more than the quota, in bytes; undefined otherwise. A quota of 0 is none. */
export function* findOverQuota(tx: Reader, userSeq: number, quotaBytes: number): Step<number | undefined> {
  if (quotaBytes === 0) return undefined;
  const sql = 'SELECT workspace_bytes AS bytes FROM users WHERE seq = ? AND workspace_bytes > ?';
  return (yield* tx.get<{ bytes: number }>(sql, userSeq, quotaBytes))?.bytes;
}
