// Removes what scheduled tasks leave behind: firings, and tasks that were deleted.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Batch, type Cursor, type Removed, START } from './batch.ts';
import { countOld, type OldKind, removeOldIn } from './old-rows.ts';

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
const WEIGHT = 3;
/** What a firing takes with its indexes. */
const FIRING_BYTES = 250;

/** The verbs. */
export function makeRemoveFirings({ read, write }: Database) {
  return {
    countFirings: read((tx: Reader, before: number) => countOld(tx, FIRINGS, before)),

    /** Removes firings that ended before a moment, and counts them; then tasks that were deleted before it and have none left. */
    firings: write(function* (tx: Transaction, before: number, batch: Batch, from: Cursor = START): Step<Removed> {
      const firings = yield* removeOldIn(tx, FIRINGS, { before, batch, from });
      if (firings.more) return firings;
      return { ...firings, more: yield* removeTasksIn(tx, batch, before) };
    }, FREES),
  };
}

const FIRINGS: OldKind = { sql: ENDED_FIRINGS, weight: WEIGHT, bytes: FIRING_BYTES, remove: removeFiring };

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
