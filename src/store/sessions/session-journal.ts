// The journal of a session, by pages in both directions. The index of its session lacks streamed text, which is most of a journal: that
// is read by run, where there may be any.
import { TERMINAL_EVENTS } from '../../domain/journal-event.ts';
import type { Reader, Step } from '../engine/statement.ts';
import {
  END_OF_JOURNAL,
  type EventRange,
  firstPlaceAbove,
  type RowOfSession,
  type RunOfSession,
} from './run-events.ts';

/** Between two events of a session, where a run may have streamed text. The places are those of the two, where they are the run's own. */
interface Stretch {
  readonly run: RunOfSession;
  readonly afterId: number;
  readonly beforeId: number;
  readonly afterPlace: number | null;
  readonly beforePlace: number | null;
}

const LAST_STARTED = `SELECT r.seq, r.id FROM events e JOIN runs r ON r.seq = e.run_seq
  WHERE e.session_seq = ? AND e.type = 'run.started' AND e.id <= ? ORDER BY e.id DESC LIMIT 1`;
const NEWEST_BUT_TEXT = `SELECT id FROM events WHERE session_seq = ? AND type <> 'content_block_delta'
  ORDER BY id DESC LIMIT 1`;
const NEWEST_OF_RUN = 'SELECT id FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1';

/** A page of a session's events. */
export function* listOfSession(tx: Reader, sessionSeq: number, range: EventRange): Step<RowOfSession[]> {
  const { order, limit } = range;
  const others = yield* listButText(tx, sessionSeq, range);
  const stretches = yield* listStretches(tx, sessionSeq, range, others);
  const texts: RowOfSession[] = [];
  for (const stretch of stretches) {
    if (texts.length === limit) break;
    texts.push(...(yield* listTexts(tx, stretch, { order, limit: limit - texts.length })));
  }
  return [...others, ...texts].sort(inOrder(order)).slice(0, limit);
}

/** The id of a session's newest event; 0 before the first. */
export function* newestOfSession(tx: Reader, sessionSeq: number): Step<number> {
  const run = yield* tx.get<RunOfSession>(LAST_STARTED, sessionSeq, END_OF_JOURNAL);
  const own = run === undefined ? undefined : yield* tx.get<{ id: number }>(NEWEST_OF_RUN, run.seq);
  const other = yield* tx.get<{ id: number }>(NEWEST_BUT_TEXT, sessionSeq);
  return Math.max(own?.id ?? 0, other?.id ?? 0);
}

function listButText(tx: Reader, sessionSeq: number, range: EventRange): Step<RowOfSession[]> {
  const { afterId, beforeId, order, limit } = range;
  return tx.all<RowOfSession>(
    `SELECT e.*, r.id AS run_id FROM events e LEFT JOIN runs r ON r.seq = e.run_seq
     WHERE e.session_seq = ? AND e.type <> 'content_block_delta' AND e.id > ? AND e.id < ? ORDER BY e.id ${order} LIMIT ?`,
    sessionSeq,
    afterId,
    beforeId ?? END_OF_JOURNAL,
    limit,
  );
}

/** Where a page may have text, in its order. It ends with the last of its other events, when these alone would fill it. */
function* listStretches(
  tx: Reader,
  sessionSeq: number,
  { afterId, beforeId, order, limit }: EventRange,
  others: readonly RowOfSession[],
): Step<Stretch[]> {
  const last = others.length === limit ? others.at(-1)!.id : null;
  const from = order === 'desc' ? (last ?? afterId) : afterId;
  const before = order === 'asc' ? (last ?? beforeId) : beforeId;
  const executing = yield* tx.get<RunOfSession>(LAST_STARTED, sessionSeq, from);
  const begin = executing === undefined ? null : { run: executing, afterId: from, afterPlace: null };
  const stretches = stretchesOf(others.toSorted(inOrder('asc')), begin, before ?? END_OF_JOURNAL);
  return order === 'asc' ? stretches : stretches.toReversed();
}

type Begin = Pick<Stretch, 'run' | 'afterId' | 'afterPlace'>;

/** A session executes one run at a time: from its start to its end, or to the next start. `begin`: the last that had started before. */
function stretchesOf(others: readonly RowOfSession[], begin: Begin | null, beforeId: number): Stretch[] {
  const stretches: Stretch[] = [];
  let open = begin;
  const end = ({ id, stream_seq: place, run_seq: runSeq }: Pick<RowOfSession, 'id' | 'stream_seq' | 'run_seq'>) => {
    if (open !== null && id > open.afterId + 1)
      stretches.push({ ...open, beforeId: id, beforePlace: runSeq === open.run.seq ? place : null });
    open = null;
  };
  for (const row of others) {
    const isOwn = row.run_seq === open?.run.seq;
    if (row.type === 'run.started' && !isOwn) {
      end(row);
      open = { run: { seq: row.run_seq!, id: row.run_id! }, afterId: row.id, afterPlace: row.stream_seq };
    } else if (isOwn && TERMINAL_EVENTS.has(row.type)) end(row);
  }
  end({ id: beforeId, stream_seq: null, run_seq: null });
  return stretches;
}

function* listTexts(
  tx: Reader,
  { run, afterId, beforeId, afterPlace, beforePlace }: Stretch,
  { order, limit }: Pick<EventRange, 'order' | 'limit'>,
): Step<RowOfSession[]> {
  const from = afterPlace === null ? yield* firstPlaceAbove(tx, run.seq, afterId) : afterPlace + 1;
  const before = beforePlace ?? (yield* firstPlaceAbove(tx, run.seq, beforeId - 1));
  return yield* tx.all<RowOfSession>(
    `SELECT *, ? AS run_id FROM events WHERE run_seq = ? AND stream_seq >= ? AND stream_seq < ? AND type = 'content_block_delta'
     ORDER BY stream_seq ${order} LIMIT ?`,
    run.id,
    run.seq,
    from,
    before,
    limit,
  );
}

function inOrder(order: EventRange['order']) {
  const direction = order === 'asc' ? 1 : -1;
  return (a: RowOfSession, b: RowOfSession) => (a.id - b.id) * direction;
}
