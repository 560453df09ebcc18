// A scheduled task: what its owner's agents do by the clock. A firing is one time that it does (I1).
import type { TaskRunStatus } from './run-status.ts';

/** What happens when a firing is due while an earlier one of the task is unfinished (I9). */
export const OVERLAPS = ['skip', 'queue'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export const TASK_LIMITS = {
  /** Characters. */
  name: 200,
  prompt: 100_000,
  /** Characters of all steps together. */
  prompts: 200_000,
  cron: 200,
  steps: 20,
  /** Tasks of one user. */
  perOwner: 200,
  /** Firings of one task that wait behind another; beyond them, a firing is skipped. */
  queuedFirings: 10,
} as const;

/** One run of a firing: the message that its agent gets. */
export interface TaskStep {
  /** A UUID. */
  readonly id: string;
  readonly prompt: string;
}

/** Times are epoch milliseconds. `seq` is the row's integer, used only inside. */
export interface ScheduledTask {
  readonly seq: number;
  readonly id: string;
  readonly userSeq: number;
  readonly name: string;
  /** Five fields, read in the time zone, an IANA name. */
  readonly cron: string;
  readonly timezone: string;
  /** What all steps are about: it precedes the first. A task without steps of its own has it as its one step. */
  readonly prompt: string | null;
  /** At least one. */
  readonly steps: readonly TaskStep[];
  /** `free`, `expert:NAME` or `team:NAME`. */
  readonly target: string;
  readonly projectId: string | null;
  readonly enabled: boolean;
  readonly overlap: Overlap;
  /** Null while the task is disabled. */
  readonly nextFireAt: number | null;
  readonly lastFiredAt: number | null;
  /** Of its last firing; null before the first. */
  readonly lastStatus: TaskRunStatus | null;
  /** When a firing was last left out because of an earlier one. */
  readonly lastSkippedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The message that the run of a step gets; `stepNo` counts from 1. */
export function messageOf({ prompt, steps }: Pick<ScheduledTask, 'prompt' | 'steps'>, stepNo: number): string {
  const step = steps[stepNo - 1]!.prompt;
  const isLed = stepNo === 1 && prompt !== null && prompt !== step;
  return isLed ? `${prompt}\n\n${step}` : step;
}

export const FIRING_TRIGGERS = ['clock', 'manual'] as const;

export interface Firing {
  readonly id: number;
  /** The task's id. */
  readonly taskId: string;
  /** When it was due, or requested. */
  readonly dueAt: number;
  readonly trigger: (typeof FIRING_TRIGGERS)[number];
  /** The session's id. */
  readonly sessionId: string;
  readonly status: TaskRunStatus;
  /** The last step that has a run, from 1. */
  readonly stepNo: number;
  readonly stepCount: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
}
