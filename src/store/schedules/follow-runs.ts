// A firing follows its runs: each move of a run moves its firing, in the same commit, so that no crash comes between.
import type { TaskRunStatus } from '../../domain/schedules/run-status.ts';
import type { RunStatus } from '../../domain/sessions/run.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { enqueueJobsIn } from '../publishing/jobs.ts';
import { insertStepRun, emitMove } from './step-run.ts';
import { dropPlansIn, getPlan, PLAN } from './task-rows.ts';

interface PlaceRow {
  firing_id: number;
  task_seq: number;
  task_id: string;
  name: string;
  cron: string;
  timezone: string;
  plan_seq: number;
  step_no: number;
  step_count: number;
  step_id: string;
  run_id: string;
  session_seq: number;
  session_id: string;
  user_seq: number;
  target: string;
}

function* findPlace(tx: Reader, runSeq: number): Step<PlaceRow> {
  const row = yield* tx.get<PlaceRow>(
    `SELECT f.id AS firing_id, f.task_seq, t.id AS task_id, t.name, t.cron, t.timezone, f.plan_seq, f.step_no,
       f.step_count, x.step_id, r.id AS run_id, s.seq AS session_seq, s.id AS session_id, s.user_seq, s.target
     FROM scheduled_runs x JOIN firings f ON f.id = x.firing_id JOIN scheduled_tasks t ON t.seq = f.task_seq
       JOIN runs r ON r.seq = x.run_seq JOIN sessions s ON s.seq = r.session_seq
     WHERE x.run_seq = ?`,
    runSeq,
  );
  return row!;
}

const placeOf = (row: PlaceRow) => ({
  task: { id: row.task_id, name: row.name, cron: row.cron, timezone: row.timezone },
  runId: row.run_id,
  stepId: row.step_id,
});

/** The run of a step was claimed for the first time. */
export function* begunIn(tx: Transaction, run: { readonly seq: number; readonly sessionSeq: number }): Step<void> {
  const row = yield* findPlace(tx, run.seq);
  yield* tx.run("UPDATE firings SET status = 'running' WHERE id = ? AND status = 'pending'", row.firing_id);
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
  const row = yield* findPlace(tx, runSeq);
  const status = STATUS_AFTER[ended] ?? 'failed';
  const previous = hadBegun ? 'running' : 'pending';
  emitMove(tx, row.session_seq, placeOf(row), { status, previous, lastError: message });
  if (status === 'completed' && row.step_no < row.step_count) {
    yield* insertNextStep(tx, row);
    return;
  }
  yield* tx.run(
    'UPDATE firings SET status = ?, ended_at = ?, plan_seq = NULL WHERE id = ?',
    status,
    tx.now,
    row.firing_id,
  );
  yield* dropPlansIn(tx, row.task_seq);
  if (status === 'completed') {
    const firing = { taskId: row.task_id, firingSeq: row.firing_id, sessionSeq: row.session_seq, runSeq };
    yield* enqueueJobsIn(tx, firing);
  }
  yield* tx.run(
    `UPDATE runs SET ready = 1 WHERE status = 'queued' AND seq =
       (SELECT run_seq FROM firings WHERE task_seq = ? AND ended_at IS NULL ORDER BY id LIMIT 1)`,
    row.task_seq,
  );
}

function* insertNextStep(tx: Transaction, row: PlaceRow): Step<void> {
  const session = { seq: row.session_seq, id: row.session_id, userSeq: row.user_seq, target: row.target };
  const place = { task: placeOf(row).task, firingId: row.firing_id, session, opensSession: false, ready: true };
  yield* insertStepRun(tx, place, yield* getPlan(tx, PLAN, row.plan_seq), row.step_no + 1);
}
