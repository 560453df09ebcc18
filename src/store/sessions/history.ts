// The messages of a session: how large each of them is, and whole ones (§2.7, G3).
import type { AssistantBlock, Attachment, Message, UserBlock } from '../../domain/sessions/content.ts';
import { notFound } from '../../domain/errors.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IN_STEPS, readReplies, readStoredReply, type StoredBlock } from '../runs/replies.ts';
import { plain, rowKind } from '../engine/row.ts';
import { type MessageRange, messageRanges } from '../forks/origins.ts';
import { ATTACHMENT } from './sessions.ts';

/** How many messages are measured at once: those of agents are summed over their steps. */
export const MEASURED_MESSAGES = 64;

/** A message, and about how many bytes its content has as it is stored. */
export interface MessageSize {
  readonly id: number;
  readonly runSeq: number;
  readonly bytes: number;
  readonly role: 'user' | 'assistant';
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

const FACTS = 'm.id, r.id AS runId, m.text_preview, m.created_at';
const FROM = 'FROM messages m CROSS JOIN runs r ON r.seq = m.run_seq';
const BETWEEN = 'm.session_seq = ? AND m.id BETWEEN ? AND ? AND m.run_seq <= ?';

const SIZE_OF_CALLS = `(SELECT coalesce(sum(octet_length(c.input) + coalesce(octet_length(c.output), 0)), 0)
  FROM tool_calls c WHERE c.run_seq = s.run_seq AND c.step = s.step)`;
const SIZE_OF_STEPS = `(SELECT coalesce(sum(octet_length(s.text) + ${SIZE_OF_CALLS}), 0) FROM steps s WHERE s.run_seq = runSeq)`;

// A comparison of the content itself would read all of it.
const SIZES = `SELECT id, runSeq, role, isInSteps, CASE WHEN isInSteps THEN ${SIZE_OF_STEPS} ELSE bytes END AS bytes
  FROM (SELECT m.id, m.run_seq AS runSeq, m.role, octet_length(m.content) AS bytes,
      m.role = 'assistant' AND octet_length(m.content) = ${Buffer.byteLength(IN_STEPS)} AS isInSteps FROM messages m`;

type SizeRow = Omit<MessageSize, 'isInSteps'> & { readonly isInSteps: number };

/** An attachment with its message. */
const ATTACHED = rowKind<{ readonly messageId: number; readonly attachment: Attachment }>({
  messageId: plain,
  attachment: ATTACHMENT,
});

/** The verbs. */
export function makeHistory({ read }: Database) {
  return {
    /** The sizes of up to `MEASURED_MESSAGES` messages with an id above `afterId`, oldest first. Those of a fork begin with its origins'. */
    listSizesAfter: read(function* (tx: Reader, sessionSeq: number, afterId: number): Step<MessageSize[]> {
      return yield* sizesOf(tx, yield* messageRanges(tx, sessionSeq, afterId + 1), 'ASC');
    }),

    /** The same of messages with an id below `beforeId`, newest first. */
    listSizesBefore: read(function* (tx: Reader, sessionSeq: number, beforeId: number): Step<MessageSize[]> {
      return yield* sizesOf(tx, (yield* messageRanges(tx, sessionSeq, 0, beforeId - 1)).toReversed(), 'DESC');
    }),

    /** The size of what a run's user said; undefined after a deletion. */
    findUserMessage: read(findUserMessageIn),

    /** The whole messages of a session from one to another, by their ids, oldest first. */
    listMessages: read(function* (tx: Reader, sessionSeq: number, from: number, to: number): Step<MessageOfRun[]> {
      const messages: MessageOfRun[] = [];
      for (const range of yield* messageRanges(tx, sessionSeq, from, to))
        messages.push(...(yield* messagesOf(tx, range)));
      return messages;
    }),

    /** What a user said, as JSON in UTF-8: decoding and parsing a long one takes long. Throws `not_found` after a deletion. */
    getUserContent: read(getUserContentIn),

    /** The attachments of a message. */
    listAttachments: read(
      (tx: Reader, id: number): Step<Attachment[]> =>
        tx.rows(ATTACHMENT).all('SELECT * FROM attachments WHERE message_id = ? ORDER BY seq', id),
    ),

    /** A message without its content. Throws `not_found` after a deletion. */
    getMessageFacts: read(function* (tx: Reader, id: number): Step<MessageFacts> {
      const row = yield* tx.get<MessageFacts>(`SELECT ${FACTS} ${FROM} WHERE m.id = ?`, id);
      if (row === undefined) throw notFound('Message');
      return row;
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

    /** What an agent said and did in one step, as it is stored. */
    getReply: read(
      (tx: Reader, runSeq: number, step: number): Step<StoredBlock[]> => readStoredReply(tx, runSeq, step),
    ),
  };
}

const USER_MESSAGE =
  "SELECT id, run_seq, octet_length(content) AS bytes, role FROM messages WHERE run_seq = ? AND role = 'user'";

function* findUserMessageIn(tx: Reader, runSeq: number): Step<MessageSize | undefined> {
  const row = yield* tx.get<Omit<MessageSize, 'isInSteps'>>(USER_MESSAGE, runSeq);
  return row && { ...row, isInSteps: false };
}

function* sizesOf(tx: Reader, ranges: readonly MessageRange[], order: 'ASC' | 'DESC'): Step<MessageSize[]> {
  const sizes: MessageSize[] = [];
  for (const { sessionSeq, from, to, untilRun } of ranges) {
    const room = MEASURED_MESSAGES - sizes.length;
    if (room === 0) break;
    const sql = `${SIZES} WHERE ${BETWEEN} ORDER BY m.id ${order} LIMIT ?)`;
    const rows = yield* tx.all<SizeRow>(sql, sessionSeq, from, to, untilRun, room);
    for (const row of rows) sizes.push({ ...row, isInSteps: row.isInSteps === 1 });
  }
  return sizes;
}

function* messagesOf(tx: Reader, { sessionSeq, from, to, untilRun }: MessageRange): Step<MessageOfRun[]> {
  const values = [sessionSeq, from, to, untilRun];
  const sql = `SELECT m.run_seq AS runSeq, m.role, m.content, ${FACTS} ${FROM} WHERE ${BETWEEN} ORDER BY m.id`;
  const rows = yield* tx.all<MessageRow>(sql, ...values);
  if (rows.length === 0) return [];
  const replies = yield* readReplies(tx, BETWEEN, values);
  const attached = `SELECT a.* FROM messages m CROSS JOIN attachments a ON a.message_id = m.id WHERE ${BETWEEN} ORDER BY a.seq`;
  const attachments = Map.groupBy(yield* tx.rows(ATTACHED).all(attached, ...values), ({ messageId }) => messageId);
  return rows.map(({ runSeq, role, content, ...facts }) => {
    const own = (attachments.get(facts.id) ?? []).map(({ attachment }) => attachment);
    const blocks = content === IN_STEPS ? (replies.get(runSeq) ?? []) : JSON.parse(content);
    if (role === 'user') return { ...facts, role, content: blocks as UserBlock[], attachments: own };
    return { ...facts, role, content: blocks as AssistantBlock[], attachments: own };
  });
}

function* getUserContentIn(tx: Reader, id: number): Step<Buffer> {
  const sql = 'SELECT CAST(content AS BLOB) AS content FROM messages WHERE id = ?';
  const row = yield* tx.get<{ content: Buffer }>(sql, id);
  if (row === undefined) throw notFound('Message');
  return row.content;
}
