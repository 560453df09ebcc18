// Rows of scheduled tasks, and of their steps.
import { nextFirings } from '../../domain/schedules/firing-times.ts';
import type { Overlap, ScheduledTask } from '../../domain/schedules/task.ts';
import { rowType } from '../engine/row-type.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A task with its owner. */
export interface TaskRecord extends ScheduledTask {
  readonly userId: string;
  readonly username: string;
}

/** A row of `scheduled_tasks`. */
export interface TaskRow {
  seq: number;
  id: string;
  user_seq: number;
  name: string;
  cron: string;
  timezone: string;
  target: string;
  project_id: string | null;
  enabled: number;
  overlap: Overlap;
  next_fire_at: number | null;
  last_fired_at: number | null;
  last_skipped_at: number | null;
  created_at: number;
  updated_at: number;
}

export const TASK = rowType<TaskRecord>({ steps: 'json', enabled: 'flag' });

export const TASKS = `SELECT task.seq, task.id, task.user_seq, u.id AS user_id, u.username, task.name, task.cron, task.timezone, p.prompt, p.steps,
    task.target, task.project_id, task.enabled, task.overlap, task.next_fire_at, task.last_fired_at, task.last_skipped_at,
    task.created_at, task.updated_at,
    (SELECT f.status FROM firings f WHERE f.task_seq = task.seq ORDER BY f.id DESC LIMIT 1) AS last_status
  FROM scheduled_tasks task JOIN users u ON u.seq = task.user_seq
    JOIN task_plans p ON p.seq = (SELECT max(seq) FROM task_plans WHERE task_seq = task.seq)`;

/** The next time after a moment; null when there is none, also because the system no longer knows the time zone. */
export function nextFiringOf({ cron, timezone }: Pick<TaskRow, 'cron' | 'timezone'>, after: number): number | null {
  try {
    return nextFirings(cron, timezone, after, 1)[0] ?? null;
  } catch {
    return null;
  }
}

/** Sets when a task fires next; null when it does not. */
export function* setNextIn(tx: Transaction, taskSeq: number, at: number | null): Step<void> {
  yield* tx.run(
    'UPDATE scheduled_tasks SET next_fire_at = ?, look_at = ?, counted_at = ? WHERE seq = ?',
    at,
    at,
    tx.now,
    taskSeq,
  );
}

/** The newest steps of a task: those of a firing that begins now. */
export const NEWEST_PLAN = 'SELECT seq, prompt, steps FROM task_plans WHERE task_seq = ? ORDER BY seq DESC LIMIT 1';
/** The steps of a firing that has begun. */
export const PLAN = 'SELECT seq, prompt, steps FROM task_plans WHERE seq = ?';

/** The prompt and the steps of a firing. */
export interface Plan extends Pick<ScheduledTask, 'prompt' | 'steps'> {
  readonly seq: number;
}

const PLANNED = rowType<Plan>({ steps: 'json' });

export function* getPlan(tx: Reader, which: typeof NEWEST_PLAN | typeof PLAN, seq: number): Step<Plan> {
  return (yield* tx.getAs(PLANNED, which, seq))!;
}

/** Deletes the steps that neither the task nor an unfinished firing needs. A deleted task needs none. */
export function* dropPlansIn(tx: Transaction, taskSeq: number): Step<void> {
  yield* tx.run(
    `DELETE FROM task_plans WHERE task_seq = ?
       AND seq NOT IN (SELECT plan_seq FROM firings WHERE task_seq = ? AND ended_at IS NULL)
       AND (seq < (SELECT max(seq) FROM task_plans WHERE task_seq = ?)
         OR EXISTS (SELECT 1 FROM scheduled_tasks WHERE seq = ? AND deleted_at IS NOT NULL))`,
    taskSeq,
    taskSeq,
    taskSeq,
    taskSeq,
  );
}
