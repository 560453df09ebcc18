// Scheduled tasks for tests: made, fired, and their runs taken to an end.
import { randomUUID } from 'node:crypto';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import type { Ending } from '../../../src/store/lifecycle/end-run.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import type { TaskRecord } from '../../../src/store/firings/task-rows.ts';
import type { NewTask } from '../../../src/store/schedules/tasks.ts';
import { fenceOf, type StoreFixture } from './store-fixture.ts';

export const SETUP = { target: 'free', capabilityConfig: NO_CAPABILITIES, orchestration: null };
export const LIMITS = { maxUnfinishedPerUser: 50, userQuotaBytes: 0, capacity: 5 };

/** It fires each minute. */
export const aTask = (userSeq: number, over: Partial<NewTask> = {}): NewTask => ({
  userSeq,
  name: 'Tides',
  cron: '* * * * *',
  timezone: 'UTC',
  target: 'free',
  projectId: null,
  enabled: true,
  overlap: 'skip',
  work: { prompt: 'Tell me of tides.', steps: [{ id: randomUUID(), prompt: 'Tell me of tides.' }] },
  ...over,
});

/** Steps with these prompts. */
export const steps = (...prompts: string[]) => ({
  prompt: null,
  steps: prompts.map((prompt) => ({ id: randomUUID(), prompt })),
});

/** Fires what is due, as the scheduler does. */
export async function fireDue({ store, clock }: StoreFixture, limits = LIMITS, putOffMs = 5_000) {
  const due = await store.schedules.listDue(clock.now(), 20);
  return store.schedules.fireDue(
    due.map(({ seq, dueAt }) => ({ seq, dueAt, setup: SETUP, putOffMs })),
    limits,
  );
}

export const fireNow = ({ store }: StoreFixture, { seq }: TaskRecord, limits = LIMITS) =>
  store.schedules.fireNow({ seq }, { setup: SETUP, limits });

const ERROR = { type: 'api_error', message: 'The model is gone.', retryable: false } as const;
export const COMPLETED: Ending = { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' };
export const FAILED: Ending = { outcome: 'failed', error: ERROR };

export async function end({ store }: StoreFixture, run: ClaimedRun, ending = COMPLETED): Promise<void> {
  await store.runs.finalize(fenceOf(run), ending);
  await store.runs.settle(fenceOf(run));
}

/** Claims the next run, and ends it. */
export async function work(fixture: StoreFixture, ending = COMPLETED): Promise<ClaimedRun> {
  const [run] = await fixture.claim();
  if (run === undefined) throw new Error('no run can be claimed');
  await end(fixture, run, ending);
  return run;
}

/** Every move of a task's runs that was reported, as `previous → status`. */
export const movesOf = ({ committed }: StoreFixture, runId?: Run['id']) =>
  committed.flatMap(({ type, payload }) =>
    type === 'scheduled_task.run_status_changed' && (runId === undefined || payload.runId === runId)
      ? [`${payload.previous ?? 'none'} → ${payload.status}`]
      : [],
  );
