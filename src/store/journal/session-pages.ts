// The journal of a session, by pages. A session executes one run at a time: text is that of the run that has started last.
import type { Reader, Step } from '../engine/statement.ts';
import { END_OF_JOURNAL, lastOfRun, lastMarkUpTo } from '../engine/journal/places.ts';
import { type EventRange, listPage, type Others } from './pages.ts';
import { type EventHead, HEAD, type RunOfSession } from '../engine/journal/rows.ts';

const LAST_STARTED = `SELECT r.seq, r.id FROM events e JOIN runs r ON r.seq = e.run_seq
  WHERE e.session_seq = ? AND e.type = 'run.started' AND e.id <= ? ORDER BY e.id DESC LIMIT 1`;
const NEWEST_BUT_TEXT = `SELECT id FROM events WHERE session_seq = ? AND type <> 'content_block_delta'
  ORDER BY id DESC LIMIT 1`;

/** The events of a page of a session. */
export function listOfSession(tx: Reader, sessionSeq: number, range: EventRange): Step<EventHead[]> {
  return listPage(tx, othersOf(sessionSeq), range);
}

/** The id of a session's newest event; 0 before the first. */
export function* newestOfSession(tx: Reader, sessionSeq: number): Step<number> {
  const run = yield* tx.get<RunOfSession>(LAST_STARTED, sessionSeq, END_OF_JOURNAL);
  const own = run === undefined ? undefined : yield* lastOfRun(tx, run.seq);
  const other = yield* tx.get<{ id: number }>(NEWEST_BUT_TEXT, sessionSeq);
  return Math.max(own?.id ?? 0, other?.id ?? 0);
}

function othersOf(sessionSeq: number): Others {
  return {
    list: (tx, { afterId, beforeId, order, limit }) =>
      tx.all<EventHead>(
        `SELECT ${HEAD}, r.id AS run_id FROM events e LEFT JOIN runs r ON r.seq = e.run_seq
         WHERE e.session_seq = ? AND e.type <> 'content_block_delta' AND e.id > ? AND e.id < ? ORDER BY e.id ${order} LIMIT ?`,
        sessionSeq,
        afterId,
        beforeId,
        limit,
      ),
    openAt: function* (tx, id) {
      const run = yield* tx.get<RunOfSession>(LAST_STARTED, sessionSeq, id);
      const mark = run === undefined ? undefined : yield* lastMarkUpTo(tx, run.seq, id);
      return run === undefined || mark === undefined ? undefined : { run, mark };
    },
  };
}
