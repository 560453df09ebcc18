// Removes what scheduled tasks leave behind: firings, tasks that were deleted, and whole sessions of old firings.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { deleteSessionIn } from '../sessions/cleanups.ts';
import { type Batch, LARGE, type Removed } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

/** The newest of a task that is still there says how it went last. */
const OLD_FIRINGS = `SELECT f.id AS key FROM firings f CROSS JOIN scheduled_tasks t ON t.seq = f.task_seq
  WHERE f.ended_at < ? AND f.ended_at IS NOT NULL
    AND (t.deleted_at IS NOT NULL OR f.id < (SELECT max(id) FROM firings WHERE task_seq = f.task_seq))
  ORDER BY f.ended_at LIMIT ?`;
const OLD_TASKS = `SELECT seq AS key FROM scheduled_tasks WHERE deleted_at < ? AND deleted_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM firings WHERE task_seq = scheduled_tasks.seq) ORDER BY deleted_at LIMIT ?`;
/** A page may make its next version of the session. */
const OLD_SESSIONS = `SELECT seq FROM sessions WHERE kind = 'scheduled' AND deleted_at IS NULL AND updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = sessions.seq AND ${IS_UNFINISHED})
  AND NOT EXISTS (SELECT 1 FROM publish_pages p WHERE p.session_seq = sessions.seq AND p.deleted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM publish_jobs j WHERE j.session_seq = sessions.seq)
  ORDER BY updated_at LIMIT ?`;
const WEIGHT = 3;
/** What a firing takes with its indexes, and what a session takes at least. */
const FIRING_BYTES = 250;

/** The verbs. */
export function makeRemoveFirings({ read, write }: Database) {
  return {
    countFirings: read((tx: Reader, before: number): Step<Amount> => countIn(tx, before, OLD_FIRINGS, FIRING_BYTES)),
    countScheduledSessions: read((tx: Reader, before: number): Step<Amount> => countIn(tx, before, OLD_SESSIONS, 0)),

    /** Removes firings that ended before a moment, and counts them; then tasks that were deleted before it and have none left. */
    firings: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      const firings = yield* removeSomeIn(tx, batch, { old: OLD_FIRINGS, before, remove: removeFiring });
      if (firings.more) return firings;
      const tasks = yield* removeSomeIn(tx, batch, { old: OLD_TASKS, before, remove: removeTask });
      return { rows: firings.rows, more: tasks.more };
    }, 'free'),

    /** Deletes sessions of firings whose last run was before a moment, as their owners could. */
    scheduledSessions: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      for (let rows = 0; ; ) {
        const room = batch.room(LARGE);
        if (room === 0) return { rows, more: true };
        const old = yield* tx.all<{ seq: number }>(OLD_SESSIONS, before, room);
        for (const { seq } of old) yield* deleteSessionIn(tx, seq);
        rows += old.length;
        if (old.length < room) return { rows, more: false };
      }
    }, 'free'),
  };
}

function* countIn(tx: Reader, before: number, old: string, bytesEach: number): Step<Amount> {
  const sql = `SELECT count(*) AS rows FROM (${old})`;
  const { rows } = (yield* tx.get<{ rows: number }>(sql, before, MAX_COUNTED))!;
  return { rows, bytes: rows * bytesEach, isAtLeast: rows === MAX_COUNTED };
}

interface Removal {
  readonly old: string;
  readonly before: number;
  remove(tx: Transaction, key: number): Step<void>;
}

function* removeSomeIn(tx: Transaction, batch: Batch, { old, before, remove }: Removal): Step<Removed> {
  for (let rows = 0; ; ) {
    const room = batch.room(WEIGHT);
    if (room === 0) return { rows, more: true };
    const some = yield* tx.all<{ key: number }>(old, before, room);
    for (const { key } of some) yield* remove(tx, key);
    rows += some.length;
    if (some.length < room) return { rows, more: false };
  }
}

function* removeFiring(tx: Transaction, id: number): Step<void> {
  yield* tx.run('DELETE FROM scheduled_runs WHERE firing_id = ?', id);
  yield* tx.run('DELETE FROM firings WHERE id = ?', id);
}

function* removeTask(tx: Transaction, seq: number): Step<void> {
  yield* tx.run('DELETE FROM task_plans WHERE task_seq = ?', seq);
  yield* tx.run('DELETE FROM scheduled_tasks WHERE seq = ?', seq);
}
