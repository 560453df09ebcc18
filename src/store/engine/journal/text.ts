// Streamed text in the journal. The index of a run lacks it: an index of all text has it by stretches of the journal, and in each by run.
import type { Reader, Step, Transaction } from '../statement.ts';
import { type EventHead, HEAD } from './rows.ts';

/** Where text of a run may be: between two ids. */
export interface TextSpan {
  readonly runSeq: number;
  /** That of rows which are read. */
  readonly runId?: string;
  readonly afterId: number;
  readonly beforeId: number;
}

/** What is read of a span, or changed: so many pieces from its beginning, or from its end. */
interface Portion {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** The ids of a stretch, as the index has them. */
const STRETCH = 512;
/** Stretches that the first statement looks at, and how many times more each one behind it, up to a limit: the text may be near. */
const [FIRST_STRETCHES, GROWTH, MAX_STRETCHES] = [16, 4, 1_024];

const WITH_STRETCHES =
  'WITH RECURSIVE stretches (no) AS (SELECT ? UNION ALL SELECT no + 1 FROM stretches WHERE no < ?)';
const OF_SPAN = `type = 'content_block_delta' AND id >> 9 IN (SELECT no FROM stretches) AND run_seq = ? AND id > ? AND id < ?`;
const inOrder = ({ order }: Portion) => `ORDER BY id >> 9 ${order}, id ${order} LIMIT ?`;
const NEWEST = 'SELECT id FROM events ORDER BY id DESC LIMIT 1';

/** Up to `limit` pieces of text in a span, without the text. */
export function* listTexts(tx: Reader, span: TextSpan, portion: Portion): Step<EventHead[]> {
  const sql = `${WITH_STRETCHES} SELECT ${HEAD}, ? AS run_id FROM events e WHERE ${OF_SPAN} ${inOrder(portion)}`;
  const texts: EventHead[] = [];
  const { runSeq, runId = null, afterId, beforeId } = yield* clip(tx, span);
  for (const [from, to] of partsOf({ afterId, beforeId }, portion.order)) {
    const values = [from, to, runId, runSeq, afterId, beforeId, portion.limit - texts.length];
    texts.push(...(yield* tx.all<EventHead>(sql, ...values)));
    if (texts.length >= portion.limit) break;
  }
  return texts;
}

/** Removes up to `limit` pieces, the first ones first. Returns how many there were. */
export function* removeTexts(tx: Transaction, span: TextSpan, limit: number): Step<number> {
  const sql = `${WITH_STRETCHES} DELETE FROM events WHERE ${OF_SPAN} ${inOrder({ order: 'asc', limit })}`;
  let removed = 0;
  const { runSeq, afterId, beforeId } = yield* clip(tx, span);
  for (const [from, to] of partsOf({ afterId, beforeId }, 'asc')) {
    removed += yield* tx.count(sql, from, to, runSeq, afterId, beforeId, limit - removed);
    if (removed >= limit) break;
  }
  return removed;
}

/** A long span may end behind the journal. */
function* clip(tx: Reader, span: TextSpan): Step<TextSpan> {
  if (span.beforeId - span.afterId <= STRETCH) return span;
  const newest = (yield* tx.get<{ id: number }>(NEWEST))?.id ?? 0;
  return { ...span, beforeId: Math.min(span.beforeId, newest + 1) };
}

/** The first and the last stretch of each statement that a span takes, in its order. */
function* partsOf(
  { afterId, beforeId }: Pick<TextSpan, 'afterId' | 'beforeId'>,
  order: Portion['order'],
): Generator<readonly [from: number, to: number]> {
  if (afterId + 1 >= beforeId) return;
  let [first, last] = [Math.floor((afterId + 1) / STRETCH), Math.floor((beforeId - 1) / STRETCH)];
  for (let count = FIRST_STRETCHES; first <= last; count = Math.min(count * GROWTH, MAX_STRETCHES)) {
    const [from, to] =
      order === 'asc' ? [first, Math.min(first + count - 1, last)] : [Math.max(last - count + 1, first), last];
    yield [from, to];
    if (order === 'asc') first = to + 1;
    else last = from - 1;
  }
}
