// The run of a step: inserted with its message, and reported to webhooks at each of its moves (I7).
import type { TaskRunStatus } from '../../domain/schedules/run-status.ts';
import { messageOf } from '../../domain/schedules/task.ts';
import { previewOf } from '../../domain/sessions/content.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { insertRun } from '../runs/insert-run.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { insertUserMessage } from '../sessions/user-message.ts';
import type { Plan } from './task-rows.ts';

/** What is reported of a task. */
export interface NamedTask {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
}

/** Where the run goes. */
export interface StepPosition {
  readonly task: NamedTask;
  readonly firingId: number;
  readonly session: {
    readonly seq: number;
    readonly id: string;
    readonly userSeq: number;
    readonly target: string;
  };
  readonly opensSession: boolean;
  readonly ready: boolean;
}

/** Inserts the run of a step, and makes it the firing's current one. */
export function* insertStepRun(tx: Transaction, place: StepPosition, plan: Plan, stepNo: number): Step<Run> {
  const { session, firingId, opensSession, ready } = place;
  const run = yield* insertRun(tx, {
    sessionSeq: session.seq,
    sessionId: session.id,
    userSeq: session.userSeq,
    keySeq: null,
    protocol: 'messages',
    response: null,
    scheduleMode: 'scheduled',
    requestedModel: '',
    includeUsage: false,
    backgroundPayload: null,
    target: session.target,
    outputSchema: null,
    resultInContent: false,
    resultTool: null,
    opensSession,
    idempotencyKey: null,
    ready,
    start: null,
  });
  const text = messageOf(plan, stepNo);
  const content = JSON.stringify([{ type: 'text', text }]);
  const message = { sessionSeq: session.seq, runSeq: run.seq, content, preview: previewOf(text) };
  yield* insertUserMessage(tx, message);
  yield* addToTotals(tx, session.seq, { messages: 1, runs: 1 });
  const stepId = plan.steps[stepNo - 1]!.id;
  yield* tx.run('INSERT INTO scheduled_runs (run_seq, firing_id, step_id) VALUES (?, ?, ?)', run.seq, firingId, stepId);
  yield* tx.run('UPDATE firings SET step_no = ?, run_seq = ? WHERE id = ?', stepNo, run.seq, firingId);
  tx.emit(session.seq, run.seq, { type: 'run.queued', payload: { scheduleMode: 'scheduled' } });
  const move: Move = { status: 'pending', previous: null, lastError: null };
  emitMove(tx, session.seq, { task: place.task, runId: run.id, stepId }, move);
  return run;
}

export interface Move {
  readonly status: TaskRunStatus;
  readonly previous: TaskRunStatus | null;
  readonly lastError: string | null;
}

/** Adds a move of a step's run to the journal. */
export function emitMove(
  tx: Transaction,
  sessionSeq: number,
  { task, runId, stepId }: { readonly task: NamedTask; readonly runId: string; readonly stepId: string },
  move: Move,
): void {
  const { id: taskId, name, cron, timezone } = task;
  const payload = { runId, taskId, stepId, name, cron, timezone, ...move };
  tx.emit(sessionSeq, null, { type: 'scheduled_task.run_status_changed', payload });
}
