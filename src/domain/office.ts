// How people see a run in Office Mode: its status in five words, and how far it is (G1).
import { isTerminal, type RunStatus } from './run.ts';

export type OfficeStatus = 'running' | 'pending' | 'failed' | 'completed' | 'idle';

/** `idle` is a stopped run. */
export const OFFICE_STATUS: Readonly<Record<RunStatus, OfficeStatus>> = {
  queued: 'pending',
  running: 'running',
  finalizing: 'running',
  completed: 'completed',
  failed: 'failed',
  incomplete: 'failed',
  canceled: 'idle',
};

/** How many steps a run will take nobody knows, so each covers a tenth of what is left between these. */
const [FIRST, LAST] = [5, 90];
const LEFT_AFTER_STEP = 0.9;

/** From 0 to 100, by the model replies so far. */
export function progressOf(status: RunStatus, steps: number): number {
  if (status === 'queued') return 0;
  if (status === 'finalizing') return 95;
  if (isTerminal(status)) return 100;
  return Math.round(LAST - (LAST - FIRST) * LEFT_AFTER_STEP ** steps);
}

/** Whole seconds that a run has taken, its waits for its user included; 0 before it has begun. */
export function elapsedSeconds(startedAt: number | null, endedAt: number): number {
  return startedAt === null ? 0 : Math.max(0, Math.floor((endedAt - startedAt) / 1_000));
}
