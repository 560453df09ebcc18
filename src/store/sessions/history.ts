// The messages of a session: how large each of them is, and whole ones (§2.7, G3).
import type { AssistantBlock, Message, UserBlock } from '../../domain/sessions/content.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IN_STEPS, readRepliesOfRun, readReply } from '../runs/progress/replies.ts';
import { type AttachmentRow, toAttachment } from './sessions.ts';

/** How many messages are measured at once: those of agents are summed over their steps. */
export const MEASURED_MESSAGES = 16;

/** A message, and about how many bytes its content has as it is stored. */
export interface MessageSize {
  readonly id: number;
  readonly runSeq: number;
  readonly bytes: number;
  /** Whether it is what an agent said and did in the steps of its run. */
  readonly isInSteps: boolean;
}

/** A message without its content. */
export interface MessageFacts {
  readonly id: number;
  readonly runId: string;
  readonly textPreview: string;
  readonly createdAt: number;
}

/** A message with its run. */
export type MessageOfRun = Message & Pick<MessageFacts, 'runId'>;

/** What a step stores, about in bytes. */
export interface StepSize {
  readonly step: number;
  readonly bytes: number;
}

interface MessageRow extends MessageFacts {
  readonly runSeq: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const HEAD = `m.id, r.id AS runId, m.text_preview AS textPreview, m.created_at AS createdAt
  FROM messages m JOIN runs r ON r.seq = m.run_seq WHERE m.id = ?`;

const SIZE_OF_CALLS = `(SELECT coalesce(sum(octet_length(c.input) + coalesce(octet_length(c.output), 0)), 0)
  FROM tool_calls c WHERE c.run_seq = s.run_seq AND c.step = s.step)`;

const SIZES = `SELECT m.id, m.run_seq AS runSeq, m.role = 'assistant' AND m.content = '${IN_STEPS}' AS isInSteps,
    octet_length(m.content) + CASE WHEN m.role = 'assistant' AND m.content = '${IN_STEPS}' THEN
      (SELECT coalesce(sum(octet_length(s.text) + ${SIZE_OF_CALLS}), 0) FROM steps s WHERE s.run_seq = m.run_seq)
      ELSE 0 END AS bytes
  FROM messages m`;

type SizeRow = Omit<MessageSize, 'isInSteps'> & { readonly isInSteps: number };

/** The verbs. */
export function makeHistory({ read }: Database) {
  return {
    /** The sizes of up to `MEASURED_MESSAGES` messages with an id above `afterId`, oldest first. */
    listSizesAfter: read(
      (tx: Reader, sessionSeq: number, afterId: number): Step<MessageSize[]> =>
        sizesOf(tx, 'm.id > ? ORDER BY m.id', [sessionSeq, afterId]),
    ),

    /** The same of messages with an id below `beforeId`, newest first. */
    listSizesBefore: read(
      (tx: Reader, sessionSeq: number, beforeId: number): Step<MessageSize[]> =>
        sizesOf(tx, 'm.id < ? ORDER BY m.id DESC', [sessionSeq, beforeId]),
    ),

    /** A whole message. */
    getMessage: read(function* (tx: Reader, id: number): Step<MessageOfRun> {
      const row = (yield* tx.get<MessageRow>(`SELECT m.run_seq AS runSeq, m.role, m.content, ${HEAD}`, id))!;
      const { runSeq, role, content, ...head } = row;
      if (role === 'assistant') {
        const blocks = content === IN_STEPS ? yield* readRepliesOfRun(tx, runSeq) : JSON.parse(content);
        return { ...head, role, content: blocks as AssistantBlock[], attachments: [] };
      }
      const sql = 'SELECT * FROM attachments WHERE message_id = ? ORDER BY seq';
      const attachments = (yield* tx.all<AttachmentRow>(sql, id)).map(toAttachment);
      return { ...head, role, content: JSON.parse(content) as UserBlock[], attachments };
    }),

    /** A message without its content. */
    getMessageFacts: read(function* (tx: Reader, id: number): Step<MessageFacts> {
      return (yield* tx.get<MessageFacts>(`SELECT ${HEAD}`, id))!;
    }),

    /** The sizes of up to `limit` steps of a run after a step, in order. */
    listStepSizes: read(
      (tx: Reader, runSeq: number, afterStep: number, limit: number): Step<StepSize[]> =>
        tx.all<StepSize>(
          `SELECT s.step, octet_length(s.text) + ${SIZE_OF_CALLS} AS bytes FROM steps s
           WHERE s.run_seq = ? AND s.step > ? ORDER BY s.step LIMIT ?`,
          runSeq,
          afterStep,
          limit,
        ),
    ),

    /** What an agent said and did in one step. */
    getReply: read((tx: Reader, runSeq: number, step: number): Step<AssistantBlock[]> => readReply(tx, runSeq, step)),
  };
}

function* sizesOf(tx: Reader, which: string, values: readonly [number, number]): Step<MessageSize[]> {
  const sql = `${SIZES} WHERE m.session_seq = ? AND ${which} LIMIT ${MEASURED_MESSAGES}`;
  const rows = yield* tx.all<SizeRow>(sql, ...values);
  return rows.map((row) => ({ ...row, isInSteps: row.isInSteps === 1 }));
}
