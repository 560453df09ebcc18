// Where the journal of a run ends, and where a place in it is.
import type { Reader, Step } from '../statement.ts';
import { BEFORE_TEXT, type EventRow, type Mark, mayPrecedeText } from './rows.ts';
import { listTexts } from './text.ts';

/** Above all ids, and above all places. */
export const END_OF_JOURNAL = Number.MAX_SAFE_INTEGER;

type LastEvent = Mark & Pick<EventRow, 'createdAt'>;

const LAST = `SELECT id, stream_seq, type, created_at FROM events WHERE run_seq = ? AND type <> 'content_block_delta'
  ORDER BY stream_seq DESC LIMIT 1`;
const LAST_UP_TO = `SELECT id, stream_seq, type FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND id <= ?
  ORDER BY stream_seq DESC LIMIT 1`;
const LAST_BEFORE = `SELECT id, stream_seq, type FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND stream_seq < ?
  ORDER BY stream_seq DESC LIMIT 1`;
const FIRST_FROM = `SELECT id, stream_seq, type FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND stream_seq >= ?
  ORDER BY stream_seq LIMIT 1`;

/** The last event of a run, which may be text. */
export function* lastOfRun(tx: Reader, runSeq: number): Step<LastEvent | undefined> {
  const last = yield* tx.get<LastEvent>(LAST, runSeq);
  return last !== undefined && BEFORE_TEXT.has(last.type) ? ((yield* textBehind(tx, runSeq, last.id)) ?? last) : last;
}

/** The last text of the block that a run has open, by the id of its start. */
export function* textBehind(tx: Reader, runSeq: number, startId: number): Step<LastEvent | undefined> {
  const span = { runSeq, afterId: startId, beforeId: END_OF_JOURNAL };
  const [text] = yield* listTexts(tx, span, { order: 'desc', limit: 1 });
  return (
    text && (yield* tx.get<LastEvent>('SELECT id, stream_seq, type, created_at FROM events WHERE id = ?', text.id))
  );
}

/** The last event of a run up to an id that isn't text. */
export const lastMarkUpTo = (tx: Reader, runSeq: number, id: number): Step<Mark | undefined> =>
  tx.get<Mark>(LAST_UP_TO, runSeq, id);

/** The first event of a run from a place on that isn't text. */
export const firstMarkFrom = (tx: Reader, runSeq: number, place: number): Step<Mark | undefined> =>
  tx.get<Mark>(FIRST_FROM, runSeq, place);

/** An id between the events of a run before a place and those from there on: at least that of the last one before it. */
export function* lastIdBefore(tx: Reader, runSeq: number, place: number): Step<number> {
  const mark = yield* tx.get<Mark>(LAST_BEFORE, runSeq, place);
  if (mark === undefined) return 0;
  const next = yield* firstMarkFrom(tx, runSeq, place);
  if (mark.streamSeq === place - 1 || !mayPrecedeText(mark, next)) return mark.id;
  const newest = (yield* lastOfRun(tx, runSeq))!;
  let [low, high] = [mark.id, next?.id ?? newest.id + 1];
  // A binary search for the first id with no text of an earlier place above it, up to the next event.
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    const span = { runSeq, afterId: middle - 1, beforeId: high };
    const [text] = yield* listTexts(tx, span, { order: 'asc', limit: 1 });
    if (text !== undefined && text.streamSeq! < place) low = text.id;
    else high = middle;
  }
  return low;
}
