// Removes the journal of what is over: of whole runs, and what sessions had beside them.
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { removeFirst } from '../journal/remove.ts';
import { newestEventId } from '../webhooks/webhook-events.ts';
import type { Batch, Removed } from './batch.ts';
import { removeOfEnded } from './ended-runs.ts';

/**
 * The last event that may be removed. What isn't planned yet is still to be delivered, and the newest event stays, because the
 * next id is counted from it.
 */
function* lastRemovable(tx: Transaction): Step<number> {
  const { cursor } = (yield* tx.get<{ cursor: number }>('SELECT cursor FROM webhook_planning'))!;
  return Math.min(cursor, (yield* newestEventId(tx)) - 1);
}

const LAST_OF_RUN = `SELECT id FROM events WHERE run_seq = ? AND type <> 'content_block_delta'
  ORDER BY stream_seq DESC LIMIT 1`;

/** The verbs. Each is one commit, and is called until nothing is left; a kill in between does no harm. */
export function makeRemoveEvents({ write }: Database) {
  return {
    /** Removes the events of runs that ended before a moment, the oldest runs first. A run loses its first events first. */
    ofRuns: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      const last = yield* lastRemovable(tx);
      let rows = 0;
      const more = yield* removeOfEnded(tx, { part: 'events', before, batch }, function* (runSeq) {
        // Its artifacts are known, so it gets no more events.
        const end = yield* tx.get<{ id: number }>(LAST_OF_RUN, runSeq);
        if ((end?.id ?? 0) > last) return 'waits';
        for (let removed = Infinity, room = 0; removed >= room; rows += removed) {
          room = batch.room();
          if (room === 0) return 'more';
          removed = yield* removeFirst(tx, runSeq, room);
        }
        yield* tx.run('DELETE FROM discarded_texts WHERE run_seq = ?', runSeq);
        return 'done';
      });
      return { rows, more };
    }, FREES),

    /** Removes older events of sessions that belong to no run. */
    ofSessions: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      const last = yield* lastRemovable(tx);
      let rows = 0;
      for (let room = batch.room(); room > 0; room = batch.room()) {
        const removed = yield* tx.count(
          `DELETE FROM events WHERE id IN (SELECT id FROM events WHERE run_seq IS NULL AND created_at < ?
             ORDER BY created_at LIMIT ?) AND id <= ?`,
          before,
          room,
          last,
        );
        rows += removed;
        if (removed < room) return { rows, more: false };
      }
      return { rows, more: true };
    }, FREES),
  };
}
