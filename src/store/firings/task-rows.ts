// Rows of scheduled tasks, and of their steps.
import { nextFirings } from '../../domain/schedules/firing-times.ts';
import type { ScheduledTask, TaskStep } from '../../domain/schedules/task.ts';
import { flag, json, plain, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A task with its owner. */
export interface TaskRecord extends ScheduledTask {
  readonly userId: string;
  readonly username: string;
}

export const TASK = rowKind<TaskRecord>({
  seq: plain,
  id: plain,
  userSeq: plain,
  userId: plain,
  username: plain,
  name: plain,
  cron: plain,
  timezone: plain,
  prompt: plain,
  steps: json<TaskStep[]>,
  target: plain,
  projectId: plain,
  enabled: flag,
  overlap: plain,
  nextFireAt: plain,
  lastFiredAt: plain,
  lastStatus: plain,
  lastSkippedAt: plain,
  createdAt: plain,
  updatedAt: plain,
});

export const TASKS = `SELECT task.*, p.prompt, p.steps, u.id AS user_id, u.username,
    (SELECT f.status FROM firings f WHERE f.task_seq = task.seq ORDER BY f.id DESC LIMIT 1) AS last_status
  FROM scheduled_tasks task JOIN users u ON u.seq = task.user_seq
    JOIN task_plans p ON p.seq = (SELECT max(seq) FROM task_plans WHERE task_seq = task.seq)`;

/** The next time after a moment; null when there is none, also because the system no longer knows the time zone. */
export function nextFiringOf(
  { cron, timezone }: Pick<ScheduledTask, 'cron' | 'timezone'>,
  after: number,
): number | null {
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

const PLAN_ROW = rowKind<Plan>({ seq: plain, prompt: plain, steps: json<TaskStep[]> });

export function* getPlan(tx: Reader, which: typeof NEWEST_PLAN | typeof PLAN, seq: number): Step<Plan> {
  return (yield* tx.rows(PLAN_ROW).get(which, seq))!;
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
