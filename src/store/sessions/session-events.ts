// Reads the journal of a session and of one run, by pages in both directions (§4.8).
import type { EventPlace, JournalEvent } from '../../domain/journal-event.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { type EventRow, toEvent } from './events.ts';

/** Events with an id above `afterId` and below `beforeId`, which is null for no bound: from the oldest on, or from the newest. */
export interface EventRange {
  readonly afterId: number;
  readonly beforeId: number | null;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface RunOfSession {
  readonly seq: number;
  readonly id: string;
}

/** `fromStreamSeq`: the run's own events from there on; null: also those of its session that name it. */
export interface RunEventQuery {
  readonly range: EventRange;
  readonly fromStreamSeq: number | null;
}

/** An event with the id of its run; null in those that belong to the session alone. */
export interface EventOfSession {
  readonly event: JournalEvent;
  readonly runId: string | null;
}

type Row = EventRow & { readonly run_id: string | null };

const END_OF_JOURNAL = Number.MAX_SAFE_INTEGER;

export type SessionEvents = ReturnType<typeof makeSessionEvents>;

/** The verbs. */
export function makeSessionEvents({ read }: Database) {
  return {
    /** A page of a session's events. */
    listOfSession: read(function* (tx: Reader, sessionSeq: number, range: EventRange): Step<EventOfSession[]> {
      const { afterId, beforeId, order, limit } = range;
      const rows = yield* tx.all<Row>(
        `SELECT e.*, r.id AS run_id FROM events e LEFT JOIN runs r ON r.seq = e.run_seq
           WHERE e.session_seq = ? AND e.id > ? AND e.id < ? ORDER BY e.id ${order} LIMIT ?`,
        sessionSeq,
        afterId,
        beforeId ?? END_OF_JOURNAL,
        limit,
      );
      return rows.map(toEventOfSession);
    }),

    /** A page of a run's events. */
    listOfRunInSession: read(function* (tx: Reader, run: RunOfSession, query: RunEventQuery): Step<EventOfSession[]> {
      const { range, fromStreamSeq } = query;
      const own = yield* listOwn(tx, run, query);
      const naming = fromStreamSeq === null ? yield* listNaming(tx, run.id, range) : [];
      const direction = range.order === 'asc' ? 1 : -1;
      const rows = [...own, ...naming].sort((a, b) => (a.id - b.id) * direction);
      return rows.slice(0, range.limit).map(toEventOfSession);
    }),

    /** The id of a session's newest event, 0 before the first; undefined when the session was deleted. */
    newestId: read(function* (tx: Reader, sessionSeq: number): Step<number | undefined> {
      const session = yield* tx.get<{ newestId: number | null }>(
        `SELECT (SELECT id FROM events WHERE session_seq = s.seq ORDER BY id DESC LIMIT 1) AS newestId
           FROM sessions s WHERE s.seq = ? AND s.deleted_at IS NULL`,
        sessionSeq,
      );
      return session === undefined ? undefined : (session.newestId ?? 0);
    }),

    /** The place of an event: its session and its run. */
    placeOf: read(function* (tx: Reader, sessionSeq: number, runSeq: number | null): Step<EventPlace> {
      return (yield* tx.get<EventPlace>(
        'SELECT s.id AS sessionId, (SELECT id FROM runs WHERE seq = ?) AS runId FROM sessions s WHERE s.seq = ?',
        runSeq,
        sessionSeq,
      ))!;
    }),
  };
}

function* listOwn(
  tx: Reader,
  run: RunOfSession,
  { range: { afterId, beforeId, order, limit }, fromStreamSeq }: RunEventQuery,
): Step<Row[]> {
  const after = yield* firstStreamSeqAbove(tx, run.seq, afterId);
  const before = beforeId === null ? END_OF_JOURNAL : yield* firstStreamSeqAbove(tx, run.seq, beforeId - 1);
  return yield* tx.all<Row>(
    `SELECT *, ? AS run_id FROM events WHERE run_seq = ? AND stream_seq >= ? AND stream_seq < ?
     ORDER BY stream_seq ${order} LIMIT ?`,
    run.id,
    run.seq,
    Math.max(after, fromStreamSeq ?? 1),
    before,
    limit,
  );
}

/** The first place in a run's sequence with an id above a given one: both increase together, so a binary search finds it. */
function* firstStreamSeqAbove(tx: Reader, runSeq: number, id: number): Step<number> {
  const last = yield* tx.get<{ stream_seq: number }>(
    'SELECT stream_seq FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1',
    runSeq,
  );
  let [low, high] = [1, (last?.stream_seq ?? 0) + 1];
  while (low < high && id > 0) {
    const middle = Math.floor((low + high) / 2);
    // At the middle or after it: erased events leave gaps.
    const found = (yield* tx.get<{ id: number }>(
      'SELECT id FROM events WHERE run_seq = ? AND stream_seq >= ? ORDER BY stream_seq LIMIT 1',
      runSeq,
      middle,
    ))!;
    if (found.id > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

function* listNaming(tx: Reader, runId: string, { afterId, beforeId, order, limit }: EventRange): Step<Row[]> {
  return yield* tx.all<Row>(
    `SELECT *, payload ->> '$.runId' AS run_id FROM events
     WHERE run_seq IS NULL AND payload ->> '$.runId' = ? AND id > ? AND id < ? ORDER BY id ${order} LIMIT ?`,
    runId,
    afterId,
    beforeId ?? END_OF_JOURNAL,
    limit,
  );
}

function toEventOfSession({ run_id: runId, ...row }: Row): EventOfSession {
  return { event: toEvent(row), runId };
}
