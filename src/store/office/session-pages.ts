// What a session consists of, page by page: heads of messages, and runs (§2.14, G23).
import type { RunState } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { isReportedAs } from '../runs/run-states.ts';

/** A message without its content. */
export interface MessageHead {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly preview: string;
  readonly createdAt: number;
}

/** A run in a session's list. `steps`: replies of its model; 0 unless it is running. */
export interface RunHead {
  readonly seq: number;
  readonly id: string;
  readonly status: RunState;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly costUsd: number;
  readonly steps: number;
}

/** The verbs. Each reads little enough not to delay other requests. */
export function makeSessionPages({ read }: Database) {
  return {
    /** Up to `limit` messages with an id above `afterId`, oldest first. */
    listMessageHeads: read(
      (tx: Reader, sessionSeq: number, afterId: number, limit: number): Step<MessageHead[]> =>
        tx.all<MessageHead>(
          `SELECT id, role, text_preview AS preview, created_at FROM messages
           WHERE session_seq = ? AND id > ? ORDER BY id LIMIT ?`,
          sessionSeq,
          afterId,
          limit,
        ),
    ),

    /** Up to `limit` runs after a run (0: from the first), oldest first. */
    listRunHeads: read(
      (tx: Reader, sessionSeq: number, afterSeq: number, limit: number): Step<RunHead[]> =>
        tx.all<RunHead>(
          `SELECT r.seq, r.id, r.status, r.started_at, r.finished_at, r.cost_usd,
             CASE WHEN ${isReportedAs('running')} THEN
               coalesce((SELECT step FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1), 0) ELSE 0 END AS steps
           FROM runs r WHERE r.session_seq = ? AND r.seq > ? ORDER BY r.seq LIMIT ?`,
          sessionSeq,
          afterSeq,
          limit,
        ),
    ),
  };
}
