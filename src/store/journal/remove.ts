// Removes the journal of a run from its beginning. The event that says where text is goes after it, so that a later commit finds the rest.
import type { Step, Transaction } from '../engine/statement.ts';
import { END_OF_JOURNAL } from '../engine/journal/places.ts';
import { type Mark, mayPrecedeText } from '../engine/journal/rows.ts';
import { removeTexts } from '../engine/journal/text.ts';

const FIRST = `SELECT id, stream_seq, type FROM events WHERE run_seq = ? AND type <> 'content_block_delta' ORDER BY stream_seq LIMIT ?`;
const REMOVE = "DELETE FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND stream_seq <= ?";
/** Events beside text that are looked at together. */
const PORTION = 100;

/** Removes up to `limit` events of a run. Returns how many there were: fewer only when none is left. */
export function* removeFirst(tx: Transaction, runSeq: number, limit: number): Step<number> {
  let removed = 0;
  while (removed < limit) {
    const count = Math.min(PORTION, limit - removed);
    const marks = yield* tx.all<Mark>(FIRST, runSeq, count + 1);
    if (marks.length === 0) break;
    // The one behind is read to know what is between.
    const at = marks.slice(0, count).findIndex((mark, i) => mayPrecedeText(mark, marks[i + 1]));
    const last = marks[at === -1 ? Math.min(count, marks.length) - 1 : at]!;
    if (at > 0) removed += yield* tx.count(REMOVE, runSeq, marks[at - 1]!.streamSeq);
    if (at !== -1) {
      const span = { runSeq, afterId: last.id, beforeId: marks[at + 1]?.id ?? END_OF_JOURNAL };
      removed += yield* removeTexts(tx, span, limit - removed);
      if (removed >= limit) break;
    }
    removed += yield* tx.count(REMOVE, runSeq, last.streamSeq);
  }
  return removed;
}
