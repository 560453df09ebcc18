// Deletes whole sessions, as their owners could: old ones of firings, and those that nobody comes back to.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { deleteSessionIn } from '../lifecycle/delete-session.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { type Batch, type Cursor, LARGE, type Removed, START } from './batch.ts';
import { countOld, type OldKind, removeOldIn } from './old-rows.ts';

/** In the order of their last runs. A page may make its next version of a session, and there may be thousands of such. */
const oldSessions = (which: string) => `SELECT s.seq AS key, s.updated_at AS at,
    NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND ${IS_UNFINISHED})
    AND NOT EXISTS (SELECT 1 FROM publish_pages p WHERE p.session_seq = s.seq AND p.deleted_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM publish_jobs j WHERE j.session_seq = s.seq) AS goes
  FROM sessions s WHERE ${which} AND s.deleted_at IS NULL
    AND s.updated_at >= ? AND s.updated_at < ? AND (s.updated_at, s.seq) > (?, ?)
  ORDER BY s.updated_at, s.seq LIMIT ?`;
const kindOf = (which: string): OldKind => ({
  sql: oldSessions(which),
  weight: LARGE,
  bytes: 0,
  remove: deleteSessionIn,
});
const SCHEDULED = kindOf("s.kind = 'scheduled'");
const THROW_AWAY = kindOf('s.throw_away = 1');

/** The verbs. Each deletes sessions whose last run was before a moment. */
export function makeRemoveSessions({ read, write }: Database) {
  return {
    countScheduledSessions: read((tx: Reader, before: number) => countOld(tx, SCHEDULED, before)),
    countThrowAwaySessions: read((tx: Reader, before: number) => countOld(tx, THROW_AWAY, before)),

    scheduledSessions: write(
      (tx: Transaction, before: number, batch: Batch, from: Cursor = START): Step<Removed> =>
        removeOldIn(tx, SCHEDULED, { before, batch, from }),
      FREES,
    ),

    throwAwaySessions: write(
      (tx: Transaction, before: number, batch: Batch, from: Cursor = START): Step<Removed> =>
        removeOldIn(tx, THROW_AWAY, { before, batch, from }),
      FREES,
    ),
  };
}
