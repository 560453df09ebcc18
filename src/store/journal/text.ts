// Streamed text in the journal. The index of a run lacks it: an index of all text has it by stretches of the journal, and in each by run.
import type { Reader, Step, Transaction, Value } from '../engine/statement.ts';
import type { EventRow } from './rows.ts';

/** Where text of a run may be: between two ids. */
export interface TextSpan {
  readonly runSeq: number;
  readonly afterId: number;
  readonly beforeId: number;
}

/** What is read of a span, or changed: so many pieces from its beginning, or from its end. */
interface Portion {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** The ids of a stretch, as the index has them. */
const STRETCH = 256;
/** Stretches that one statement looks at. */
const STRETCHES = 512;

const WITH_STRETCHES =
  'WITH RECURSIVE stretches (no) AS (SELECT ? UNION ALL SELECT no + 1 FROM stretches WHERE no < ?)';
const OF_SPAN = `type = 'content_block_delta' AND id >> 8 IN (SELECT no FROM stretches) AND run_seq = ? AND id > ? AND id < ?`;
const inOrder = ({ order }: Portion) => `ORDER BY id >> 8 ${order}, id ${order} LIMIT ?`;
const NEWEST = 'SELECT id FROM events ORDER BY id DESC LIMIT 1';

/** Up to `limit` pieces of text in a span. */
export function* listTexts(tx: Reader, span: TextSpan, portion: Portion): Step<EventRow[]> {
  const sql = `${WITH_STRETCHES} SELECT * FROM events WHERE ${OF_SPAN} ${inOrder(portion)}`;
  const texts: EventRow[] = [];
  for (const values of partsOf(yield* clip(tx, span), portion.order)) {
    texts.push(...(yield* tx.all<EventRow>(sql, ...values, portion.limit - texts.length)));
    if (texts.length >= portion.limit) break;
  }
  return texts;
}

/** Removes up to `limit` pieces, the first ones first. Returns how many there were. */
export function* removeTexts(tx: Transaction, span: TextSpan, limit: number): Step<number> {
  const sql = `${WITH_STRETCHES} DELETE FROM events WHERE ${OF_SPAN} ${inOrder({ order: 'asc', limit })}`;
  let removed = 0;
  for (const values of partsOf(yield* clip(tx, span), 'asc')) {
    removed += yield* tx.run(sql, ...values, limit - removed);
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

/** The values of statements that cover a span, in its order. */
function* partsOf({ runSeq, afterId, beforeId }: TextSpan, order: Portion['order']): Generator<Value[]> {
  const [first, last] = [Math.floor((afterId + 1) / STRETCH), Math.floor((beforeId - 1) / STRETCH)];
  const parts = afterId + 1 < beforeId ? Math.floor((last - first) / STRETCHES) + 1 : 0;
  for (let at = 0; at < parts; at += 1) {
    const part = first + (order === 'asc' ? at : parts - 1 - at) * STRETCHES;
    yield [part, Math.min(part + STRETCHES - 1, last), runSeq, afterId, beforeId];
  }
}
