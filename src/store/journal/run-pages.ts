// The journal of one run, by pages. Ids and places in the run's sequence increase together.
import type { Reader, Step } from '../engine/statement.ts';
import { lastMarkUpTo } from '../engine/journal/places.ts';
import { type EventRange, listPage, type Others } from './pages.ts';
import { type EventHead, HEAD, type RunOfSession } from '../engine/journal/rows.ts';

/** A run's own events of a page. */
export function listOfRun(tx: Reader, run: RunOfSession, range: EventRange): Step<EventHead[]> {
  return listPage(tx, othersOf(run), range);
}

function othersOf(run: RunOfSession): Others {
  return {
    // With a plus: PostgreSQL would take the events between two ids, of all runs, for fewer than those of one run.
    list: (tx, { afterId, beforeId, order, limit }) =>
      tx.all<EventHead>(
        `SELECT ${HEAD}, ? AS run_id FROM events e WHERE run_seq = ? AND type <> 'content_block_delta' AND +id > ? AND +id < ?
         ORDER BY stream_seq ${order} LIMIT ?`,
        run.id,
        run.seq,
        afterId,
        beforeId,
        limit,
      ),
    openAt: function* (tx, id) {
      const mark = yield* lastMarkUpTo(tx, run.seq, id);
      return mark === undefined ? undefined : { run, mark };
    },
  };
}
