// The content of a session, page by page: heads of messages, whole messages, and runs (§2.14, G3, G23).
import type { AssistantBlock, Message, UserBlock } from '../../domain/sessions/content.ts';
import type { RunState } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IN_STEPS, readRepliesOfRun } from '../runs/progress/replies.ts';
import { type AttachmentRow, toAttachment } from '../sessions/sessions.ts';
import { isReportedAs } from '../runs/run-states.ts';

/** A message without its content. */
export interface MessageHead {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly preview: string;
  readonly createdAt: number;
}

/** A message with its run. */
export type MessageOfRun = Message & { readonly runId: string };

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

interface MessageRow {
  id: number;
  run_seq: number;
  run_id: string;
  role: 'user' | 'assistant';
  content: string;
  text_preview: string;
  created_at: number;
}

/** The verbs. Each reads little enough not to delay other requests. */
export function makeSessionPages({ read }: Database) {
  return {
    /** Up to `limit` messages with an id above `afterId`, oldest first. */
    listMessageHeads: read(
      (tx: Reader, sessionSeq: number, afterId: number, limit: number): Step<MessageHead[]> =>
        tx.all<MessageHead>(
          `SELECT id, role, text_preview AS preview, created_at AS createdAt FROM messages
           WHERE session_seq = ? AND id > ? ORDER BY id LIMIT ?`,
          sessionSeq,
          afterId,
          limit,
        ),
    ),

    /** Ids of up to `limit` messages with an id below `beforeId`, newest first. */
    listMessageIds: read(function* (tx: Reader, sessionSeq: number, beforeId: number, limit: number): Step<number[]> {
      const rows = yield* tx.all<{ id: number }>(
        'SELECT id FROM messages WHERE session_seq = ? AND id < ? ORDER BY id DESC LIMIT ?',
        sessionSeq,
        beforeId,
        limit,
      );
      return rows.map(({ id }) => id);
    }),

    /** A whole message. */
    getMessage: read(function* (tx: Reader, id: number): Step<MessageOfRun> {
      const row = (yield* tx.get<MessageRow>(
        `SELECT m.id, m.run_seq, r.id AS run_id, m.role, m.content, m.text_preview, m.created_at
           FROM messages m JOIN runs r ON r.seq = m.run_seq WHERE m.id = ?`,
        id,
      ))!;
      const head = { id, runId: row.run_id, textPreview: row.text_preview, createdAt: row.created_at };
      if (row.role === 'assistant') {
        const isInSteps = row.content === IN_STEPS;
        const content = isInSteps ? yield* readRepliesOfRun(tx, row.run_seq) : JSON.parse(row.content);
        return { ...head, role: 'assistant', content: content as AssistantBlock[], attachments: [] };
      }
      const attachments = yield* tx.all<AttachmentRow>(
        'SELECT * FROM attachments WHERE message_id = ? ORDER BY seq',
        id,
      );
      const content = JSON.parse(row.content) as UserBlock[];
      return { ...head, role: 'user', content, attachments: attachments.map(toAttachment) };
    }),

    /** Up to `limit` runs after a run (0: from the first), oldest first. */
    listRunHeads: read(
      (tx: Reader, sessionSeq: number, afterSeq: number, limit: number): Step<RunHead[]> =>
        tx.all<RunHead>(
          `SELECT r.seq, r.id, r.status, r.started_at AS startedAt, r.finished_at AS finishedAt, r.cost_usd AS costUsd,
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
