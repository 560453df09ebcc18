// Removes what scheduled tasks leave behind: firings, tasks that were deleted, and whole sessions of old firings.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { deleteSessionIn } from '../sessions/cleanups.ts';
import { type Batch, LARGE, type Place, type Removed, START } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

/**
 * Of those that have ended, in order; the newest of a task that is still there stays, and says how it went last. There may be
 * one of each of a hundred thousand tasks, which no statement may have to pass at once.
 */
const ENDED_FIRINGS = `SELECT f.id AS key, f.ended_at AS at,
    t.deleted_at IS NOT NULL OR f.id < (SELECT max(id) FROM firings WHERE task_seq = f.task_seq) AS goes
  FROM firings f CROSS JOIN scheduled_tasks t ON t.seq = f.task_seq
  WHERE f.ended_at >= ? AND f.ended_at < ? AND f.ended_at IS NOT NULL AND (f.ended_at, f.id) > (?, ?)
  ORDER BY f.ended_at, f.id LIMIT ?`;
const OLD_TASKS = `SELECT seq FROM scheduled_tasks WHERE deleted_at < ? AND deleted_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM firings WHERE task_seq = scheduled_tasks.seq) ORDER BY deleted_at LIMIT ?`;
/** A page may make its next version of the session. */
const OLD_SESSIONS = `SELECT seq FROM sessions WHERE kind = 'scheduled' AND deleted_at IS NULL AND updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = sessions.seq AND ${IS_UNFINISHED})
  AND NOT EXISTS (SELECT 1 FROM publish_pages p WHERE p.session_seq = sessions.seq AND p.deleted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM publish_jobs j WHERE j.session_seq = sessions.seq)
  ORDER BY updated_at LIMIT ?`;
const WEIGHT = 3;
/** What a firing takes with its indexes. */
const FIRING_BYTES = 250;

/** The verbs. */
export function makeRemoveFirings({ read, write }: Database) {
  return {
    countFirings: read(function* (tx: Reader, before: number): Step<Amount> {
      const sql = `SELECT count(*) AS looked, coalesce(sum(goes), 0) AS rows FROM (${ENDED_FIRINGS})`;
      const values = [START.at, before, START.at, START.key, MAX_COUNTED];
      const { looked, rows } = (yield* tx.get<{ looked: number; rows: number }>(sql, ...values))!;
      return { rows, bytes: rows * FIRING_BYTES, isAtLeast: looked === MAX_COUNTED };
    }),
    countScheduledSessions: read(function* (tx: Reader, before: number): Step<Amount> {
      const sql = `SELECT count(*) AS rows FROM (${OLD_SESSIONS})`;
      const { rows } = (yield* tx.get<{ rows: number }>(sql, before, MAX_COUNTED))!;
      return { rows, bytes: 0, isAtLeast: rows === MAX_COUNTED };
    }),

    /** Removes firings that ended before a moment, and counts them; then tasks that were deleted before it and have none left. */
    firings: write(function* (tx: Transaction, before: number, batch: Batch, from: Place = START): Step<Removed> {
      const firings = yield* removeFiringsIn(tx, batch, { before, from });
      if (firings.more) return firings;
      return { ...firings, more: yield* removeTasksIn(tx, batch, before) };
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

interface Ended extends Place {
  readonly goes: number;
}

function* removeFiringsIn(tx: Transaction, batch: Batch, old: { before: number; from: Place }): Step<Removed> {
  let [rows, next] = [0, old.from];
  for (;;) {
    const room = batch.room(WEIGHT);
    if (room === 0) return { rows, more: true, next };
    const ended = yield* tx.all<Ended>(ENDED_FIRINGS, next.at, old.before, next.at, next.key, room);
    for (const { key } of ended.filter(({ goes }) => goes === 1)) {
      yield* removeFiring(tx, key);
      rows += 1;
    }
    next = ended.at(-1) ?? next;
    if (ended.length < room) return { rows, more: false, next };
  }
}

/** Returns whether there may be more. */
function* removeTasksIn(tx: Transaction, batch: Batch, before: number): Step<boolean> {
  for (;;) {
    const room = batch.room(WEIGHT);
    if (room === 0) return true;
    const deleted = yield* tx.all<{ seq: number }>(OLD_TASKS, before, room);
    for (const { seq } of deleted) yield* removeTask(tx, seq);
    if (deleted.length < room) return false;
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
