// What a time line is made from: the rows that a run leaves behind.
import type { EventPayloads, EventType } from '../journal-event.ts';
import type { CallPurpose, CallTiming } from '../call-timing.ts';
import type { CallEnding } from '../model-call.ts';
import type { TimelineRun } from './timeline.ts';
import type { Usage } from '../usage.ts';

/** The events that a time line is made from. Of the text only the beginnings of its blocks. */
export const MILESTONES = [
  'run.queued',
  'run.started',
  'run.step',
  'run.compacted',
  'run.finalizing',
  'run.done',
  'run.failed',
  'run.stopped',
  'run.resumed',
  'content_block_start',
  'tool_result',
  'user_input.requested',
  'user_input.answered',
  'user_input.expired',
] as const satisfies readonly EventType[];
export type MilestoneType = (typeof MILESTONES)[number];

/** An event of the run. */
export type Milestone = {
  readonly [T in MilestoneType]: { readonly type: T; readonly payload: EventPayloads[T]; readonly at: number };
}[MilestoneType];

/** Events of the session that report what was made of the run's files. */
export const AFTERMATH = [
  'artifacts.ready',
  'artifacts.failed',
  'workspace_export.completed',
  'workspace_export.failed',
] as const satisfies readonly EventType[];

export interface Aftermath {
  readonly type: (typeof AFTERMATH)[number];
  readonly at: number;
}

/** A row of the ledger. Null: recorded by an earlier version, or for a call that was lost. */
export interface LedgerCall {
  readonly at: number;
  readonly model: string;
  readonly usage: Usage;
  readonly estimated: boolean;
  readonly costUsd: number;
  readonly outcome: CallEnding;
  readonly purpose: CallPurpose | null;
  readonly step: number | null;
  readonly agent: string | null;
  readonly timing: CallTiming | null;
}

/** A tool call. `input`: the beginning of its arguments, for the name of a sub-agent. */
export interface ToolRow {
  readonly step: number;
  readonly toolUseId: string;
  readonly name: string;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly input: string;
}

export interface TimelineRows {
  readonly run: TimelineRun;
  /** In order. */
  readonly milestones: readonly Milestone[];
  readonly calls: readonly LedgerCall[];
  readonly tools: readonly ToolRow[];
  readonly aftermath: readonly Aftermath[];
  /** When the session's earlier runs had ended, Infinity while they have not; null for its first run. */
  readonly sessionFreeAt: number | null;
  readonly truncated: boolean;
}
