// Removes what scheduled tasks leave behind: firings, tasks that were deleted, and whole sessions of old firings.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { deleteSessionIn } from '../lifecycle/delete-session.ts';
import { type Batch, LARGE, type Cursor, type Removed, START } from './batch.ts';
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
/** In the order of their last runs. A page may make its next version of a session, and there may be thousands of such. */
const OLD_SESSIONS = `SELECT s.seq AS key, s.updated_at AS at,
    NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND ${IS_UNFINISHED})
    AND NOT EXISTS (SELECT 1 FROM publish_pages p WHERE p.session_seq = s.seq AND p.deleted_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM publish_jobs j WHERE j.session_seq = s.seq) AS goes
  FROM sessions s WHERE s.kind = 'scheduled' AND s.deleted_at IS NULL
    AND s.updated_at >= ? AND s.updated_at < ? AND (s.updated_at, s.seq) > (?, ?)
  ORDER BY s.updated_at, s.seq LIMIT ?`;
const WEIGHT = 3;
/** What a firing takes with its indexes. */
const FIRING_BYTES = 250;

/** The verbs. */
export function makeRemoveFirings({ read, write }: Database) {
  return {
    countFirings: read((tx: Reader, before: number) => countOld(tx, FIRINGS, before)),
    countScheduledSessions: read((tx: Reader, before: number) => countOld(tx, SESSIONS, before)),

    /** Removes firings that ended before a moment, and counts them; then tasks that were deleted before it and have none left. */
    firings: write(function* (tx: Transaction, before: number, batch: Batch, from: Cursor = START): Step<Removed> {
      const firings = yield* removeOldIn(tx, FIRINGS, { before, batch, from });
      if (firings.more) return firings;
      return { ...firings, more: yield* removeTasksIn(tx, batch, before) };
    }, FREES),

    /** Deletes sessions of firings whose last run was before a moment, as their owners could. */
    scheduledSessions: write(
      (tx: Transaction, before: number, batch: Batch, from: Cursor = START): Step<Removed> =>
        removeOldIn(tx, SESSIONS, { before, batch, from }),
      FREES,
    ),
  };
}

interface Old extends Cursor {
  readonly goes: number;
}

/** Rows that end at some time and are removed later, but not all of them. */
interface Kind {
  /** Lists rows of `Old` that ended from a moment on and before another, behind a place. */
  readonly sql: string;
  readonly weight: number;
  readonly bytes: number;
  remove(tx: Transaction, key: number): Step<unknown>;
}

const FIRINGS: Kind = { sql: ENDED_FIRINGS, weight: WEIGHT, bytes: FIRING_BYTES, remove: removeFiring };
const SESSIONS: Kind = { sql: OLD_SESSIONS, weight: LARGE, bytes: 0, remove: deleteSessionIn };

function* countOld(tx: Reader, { sql, bytes }: Kind, before: number): Step<Amount> {
  const values = [START.at, before, START.at, START.key, MAX_COUNTED];
  const { looked, rows } = (yield* tx.get<{ looked: number; rows: number }>(
    `SELECT count(*) AS looked, count(CASE WHEN goes THEN 1 END) AS rows FROM (${sql})`,
    ...values,
  ))!;
  return { rows, bytes: rows * bytes, isAtLeast: looked === MAX_COUNTED };
}

/** What stays is passed, some at a time. */
function* removeOldIn(
  tx: Transaction,
  { sql, weight, remove }: Kind,
  { before, batch, from }: { readonly before: number; readonly batch: Batch; readonly from: Cursor },
): Step<Removed> {
  let [rows, next] = [0, from];
  for (;;) {
    const room = batch.room(weight);
    if (room === 0) return { rows, more: true, next };
    const old = yield* tx.all<Old>(sql, next.at, before, next.at, next.key, room);
    for (const { key } of old.filter(({ goes }) => goes === 1)) {
      yield* remove(tx, key);
      rows += 1;
    }
    next = old.at(-1) ?? next;
    if (old.length < room) return { rows, more: false, next };
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
