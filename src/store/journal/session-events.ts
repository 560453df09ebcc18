// Reads the journal of a session and of one run, by pages in both directions (§4.8).
import type { EventScope, JournalEvent } from '../../domain/sessions/journal-event.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { toEvent } from './events.ts';
import { END_OF_JOURNAL, lastIdBefore } from '../engine/journal/places.ts';
import type { EventRange, JournalPage } from './pages.ts';
import { type EventHead, HEAD, type RowOfSession, type RunOfSession } from '../engine/journal/rows.ts';
import { listOfRun } from './run-pages.ts';
import { listOfSession, newestOfSession } from './session-pages.ts';
import { type PageOfRows, parsed, wholeRows } from './whole-rows.ts';

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

export type EventsOfSession = JournalPage<EventOfSession>;

export type SessionEvents = ReturnType<typeof makeSessionEvents>;

/** The verbs. */
export function makeSessionEvents({ read }: Database) {
  const rowsOfSession = read(function* (tx: Reader, sessionSeq: number, range: EventRange): Step<PageOfRows> {
    return yield* wholeRows(tx, yield* listOfSession(tx, sessionSeq, range));
  });

  const rowsOfRun = read(function* (tx: Reader, run: RunOfSession, query: RunEventQuery): Step<PageOfRows> {
    const { range, fromStreamSeq } = query;
    const own = yield* listOwn(tx, run, query);
    const naming = fromStreamSeq === null ? yield* listNaming(tx, run, range) : [];
    const direction = range.order === 'asc' ? 1 : -1;
    const rows = [...own, ...naming].sort((a, b) => (a.id - b.id) * direction);
    return yield* wholeRows(tx, rows.slice(0, range.limit));
  });

  return {
    /** A page of a session's events. */
    listOfSession: async (sessionSeq: number, range: EventRange): Promise<EventsOfSession> =>
      parsed(await rowsOfSession(sessionSeq, range), toEventOfSession),

    /** A page of a run's events. */
    listOfRunInSession: async (run: RunOfSession, query: RunEventQuery): Promise<EventsOfSession> =>
      parsed(await rowsOfRun(run, query), toEventOfSession),

    /** The id of a session's newest event, 0 before the first; undefined when the session was deleted. */
    newestId: read(function* (tx: Reader, sessionSeq: number): Step<number | undefined> {
      const session = yield* tx.get('SELECT 1 FROM sessions WHERE seq = ? AND deleted_at IS NULL', sessionSeq);
      return session === undefined ? undefined : yield* newestOfSession(tx, sessionSeq);
    }),

    /** The scope of an event: its session and its run. */
    scopeOf: read(function* (tx: Reader, sessionSeq: number, runSeq: number | null): Step<EventScope> {
      return (yield* tx.get<EventScope>(
        'SELECT s.id AS sessionId, (SELECT id FROM runs WHERE seq = ?) AS runId FROM sessions s WHERE s.seq = ?',
        runSeq,
        sessionSeq,
      ))!;
    }),
  };
}

function* listOwn(tx: Reader, run: RunOfSession, { range, fromStreamSeq }: RunEventQuery): Step<EventHead[]> {
  const before = fromStreamSeq === null ? 0 : yield* lastIdBefore(tx, run.seq, fromStreamSeq);
  return yield* listOfRun(tx, run, { ...range, afterId: Math.max(range.afterId, before) });
}

function* listNaming(tx: Reader, run: RunOfSession, range: EventRange): Step<EventHead[]> {
  const { afterId, beforeId, order, limit } = range;
  return yield* tx.all<EventHead>(
    `SELECT ${HEAD}, payload ->> '$.runId' AS run_id FROM events e
     WHERE session_seq = (SELECT session_seq FROM runs WHERE seq = ?) AND run_seq IS NULL AND payload ->> '$.runId' = ?
       AND id > ? AND id < ? ORDER BY id ${order} LIMIT ?`,
    run.seq,
    run.id,
    afterId,
    beforeId ?? END_OF_JOURNAL,
    limit,
  );
}

function toEventOfSession({ runId, ...row }: RowOfSession): EventOfSession {
  return { event: toEvent(row), runId };
}
