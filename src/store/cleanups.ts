// Deleting sessions softly, and the durable list of what is still to be cleaned up after them (E9).
import type { Database } from './database.ts';
import { type StopCommit, stopIn } from './stop-runs.ts';

/** A deleted session whose files are still there. */
export interface Cleanup {
  readonly sessionSeq: number;
  readonly sessionId: string;
}

/** The verbs that delete and clean up. */
export function makeCleanups({ write, reader }: Database) {
  return {
    /** Deletes a session: what runs is canceled, the clean-up is noted. `gone` when it was deleted before. */
    deleteSession: (sessionSeq: number): Promise<StopCommit> =>
      write((tx) => {
        const stop = stopIn(tx, { sessionSeq, runSeq: null }, 'session_deleted');
        if (stop.kind === 'gone') return stop;
        const { title } = tx.get<{ title: string }>('SELECT title FROM sessions WHERE seq = ?', sessionSeq)!;
        tx.run('UPDATE sessions SET deleted_at = ? WHERE seq = ? AND deleted_at IS NULL', tx.now, sessionSeq);
        tx.run('INSERT INTO cleanups (session_seq, created_at) VALUES (?, ?)', sessionSeq, tx.now);
        tx.emit(sessionSeq, null, { type: 'session.deleted', payload: { title } });
        return stop;
      }),

    /** Up to `limit` clean-ups after the given session, leaving out those whose executor may still be at work. */
    listCleanups: async (afterSessionSeq: number, limit: number): Promise<Cleanup[]> =>
      reader.all<Cleanup>(
        `SELECT c.session_seq AS sessionSeq, s.id AS sessionId FROM cleanups c JOIN sessions s ON s.seq = c.session_seq
         WHERE c.session_seq > ? AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)
         ORDER BY c.session_seq LIMIT ?`,
        afterSessionSeq,
        limit,
      ),

    /** Keys of the blobs that a session's attachments refer to. */
    listBlobs: async (sessionSeq: number): Promise<string[]> =>
      reader
        .all<{ sha256: string }>(
          `SELECT DISTINCT a.sha256 FROM attachments a JOIN messages m ON m.id = a.message_id WHERE m.session_seq = ?`,
          sessionSeq,
        )
        .map(({ sha256 }) => sha256),

    /** Whether a session that is not deleted refers to a blob. Answers at once, so that nothing comes between. */
    isBlobInUse: (sha256: string): boolean =>
      reader.get(
        `SELECT 1 FROM attachments a JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
         WHERE a.sha256 = ? AND s.deleted_at IS NULL LIMIT 1`,
        sha256,
      ) !== undefined,

    /** Strikes a clean-up off the list. */
    finishCleanup: (sessionSeq: number): Promise<void> =>
      write((tx) => void tx.run('DELETE FROM cleanups WHERE session_seq = ?', sessionSeq)),
  };
}
