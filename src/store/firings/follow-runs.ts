// A firing follows its runs: each move of a run moves its firing, in the same commit, so that no crash comes between.
import type { TaskRunStatus } from '../../domain/schedules/run-status.ts';
import { NOW_READY } from '../runs/run-states.ts';
import type { RunStatus } from '../../domain/sessions/run.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { enqueueJobsIn } from '../publishing/jobs.ts';
import { insertStepRun, emitMove } from './step-run.ts';
import { dropPlansIn, getPlan, PLAN } from './task-rows.ts';

interface StepRow {
  firingId: number;
  taskSeq: number;
  taskId: string;
  name: string;
  cron: string;
  timezone: string;
  planSeq: number;
  stepNo: number;
  stepCount: number;
  stepId: string;
  runId: string;
  sessionSeq: number;
  sessionId: string;
  userSeq: number;
  target: string;
}

function* findStep(tx: Reader, runSeq: number): Step<StepRow> {
  const row = yield* tx.get<StepRow>(
    `SELECT f.id AS firing_id, f.task_seq, t.id AS task_id, t.name, t.cron, t.timezone, f.plan_seq, f.step_no,
       f.step_count, x.step_id, r.id AS run_id, s.seq AS session_seq, s.id AS session_id, s.user_seq, s.target
     FROM scheduled_runs x JOIN firings f ON f.id = x.firing_id JOIN scheduled_tasks t ON t.seq = f.task_seq
       JOIN runs r ON r.seq = x.run_seq JOIN sessions s ON s.seq = r.session_seq
     WHERE x.run_seq = ?`,
    runSeq,
  );
  return row!;
}

const placeOf = (row: StepRow) => ({
  task: { id: row.taskId, name: row.name, cron: row.cron, timezone: row.timezone },
  runId: row.runId,
  stepId: row.stepId,
});

/** The run of a step was claimed for the first time. */
export function* begunIn(tx: Transaction, run: { readonly seq: number; readonly sessionSeq: number }): Step<void> {
  const row = yield* findStep(tx, run.seq);
  yield* tx.run("UPDATE firings SET status = 'running' WHERE id = ? AND status = 'pending'", row.firingId);
  emitMove(tx, run.sessionSeq, placeOf(row), { status: 'running', previous: 'pending', lastError: null });
}

/** How the run of a step ended. */
export interface StepEnd {
  readonly runSeq: number;
  readonly status: RunStatus;
  readonly hadBegun: boolean;
  /** Null when it completed. */
  readonly message: string | null;
}

const STATUS_AFTER: Readonly<Partial<Record<RunStatus, Exclude<TaskRunStatus, 'pending' | 'running'>>>> = {
  completed: 'completed',
  canceled: 'stopped',
};

/** The run of a step has ended: its firing gets the next step, or ends, and lets a firing that waits behind it begin. */
export function* endedIn(tx: Transaction, { runSeq, status: ended, hadBegun, message }: StepEnd): Step<void> {
  const row = yield* findStep(tx, runSeq);
  const status = STATUS_AFTER[ended] ?? 'failed';
  const previous = hadBegun ? 'running' : 'pending';
  emitMove(tx, row.sessionSeq, placeOf(row), { status, previous, lastError: message });
  if (status === 'completed' && row.stepNo < row.stepCount) {
    yield* insertNextStep(tx, row);
    return;
  }
  yield* tx.run(
    'UPDATE firings SET status = ?, ended_at = ?, plan_seq = NULL WHERE id = ?',
    status,
    tx.now,
    row.firingId,
  );
  yield* dropPlansIn(tx, row.taskSeq);
  if (status === 'completed') {
    const firing = { taskId: row.taskId, firingSeq: row.firingId, sessionSeq: row.sessionSeq, runSeq };
    yield* enqueueJobsIn(tx, firing);
  }
  yield* tx.run(
    `UPDATE runs SET ${NOW_READY} WHERE status = 'queued' AND seq =
       (SELECT run_seq FROM firings WHERE task_seq = ? AND ended_at IS NULL ORDER BY id LIMIT 1)`,
    tx.now,
    row.taskSeq,
  );
}

function* insertNextStep(tx: Transaction, row: StepRow): Step<void> {
  const session = { seq: row.sessionSeq, id: row.sessionId, userSeq: row.userSeq, target: row.target };
  const place = { task: placeOf(row).task, firingId: row.firingId, session, opensSession: false, ready: true };
  yield* insertStepRun(tx, place, yield* getPlan(tx, PLAN, row.planSeq), row.stepNo + 1);
}
