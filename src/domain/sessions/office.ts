// How people see a run in Office Mode: its status in five words, and its progress (G1).
import { isTerminal, type RunState } from './run.ts';
import type { SessionStatus } from './session.ts';

export type OfficeStatus = 'running' | 'pending' | 'failed' | 'completed' | 'idle';

/** `idle` is a stopped run. */
export const OFFICE_STATUS: Readonly<Record<RunState, OfficeStatus>> = {
  queued: 'pending',
  running: 'running',
  waiting: 'running',
  finalizing: 'running',
  completed: 'completed',
  failed: 'failed',
  incomplete: 'failed',
  canceled: 'idle',
};

/** The number of steps is unknown in advance, so each covers a tenth of what is left between these. */
const [FIRST, LAST] = [5, 90];
const LEFT_AFTER_STEP = 0.9;

/** From 0 to 100, by the model replies so far. */
export function progressOf(status: RunState, steps: number): number {
  if (status === 'queued') return 0;
  if (status === 'finalizing') return 95;
  if (isTerminal(status)) return 100;
  return Math.round(LAST - (LAST - FIRST) * LEFT_AFTER_STEP ** steps);
}

/** Whole seconds that a run has taken, its waits for its user included; 0 before it has begun. */
export function elapsedSeconds(startedAt: number | null, endedAt: number): number {
  return startedAt === null ? 0 : Math.max(0, Math.floor((endedAt - startedAt) / 1_000));
}

/** What a session's status is for people. */
export const SESSION_OFFICE_STATUS: Readonly<Record<SessionStatus, OfficeStatus>> = {
  pending: 'pending',
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  stopped: 'idle',
};

/** Where a run comes from (§2.14). */
export const RUN_SOURCES = ['normal_session', 'scheduled_task'] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** The team of those who have none (§4.8 rule 1, G19). */
export const UNASSIGNED_TEAM = { id: '__unassigned__', name: 'Unassigned' } as const;
