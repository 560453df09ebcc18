// The time line of a run: where its time went, from its acceptance until its files are collected. It has no content: no
// words of the conversation, no arguments and no results of tools.
import type { CallPurpose, CallTiming } from '../call-timing.ts';
import type { RunError, RunState } from '../run.ts';
import type { Usage } from '../usage.ts';

/** What a run did in a span of time, or waited for. `endedAt` is null while it does. */
export type Span = SpanTimes & SpanFacts;

export interface SpanTimes {
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Index of the span that it is a part of; null for the run itself. */
  readonly parent: number | null;
}

export type SpanFacts =
  /** `session`: for its earlier runs; `slots`: all of them were taken; `worker`: for any other reason. */
  | { readonly kind: 'queue'; readonly waitedFor: 'session' | 'slots' | 'worker'; readonly slots: number | null }
  /** From the claim to the first request: brief, workspace, tools. */
  | { readonly kind: 'prepare'; readonly attempt: number }
  | ModelSpan
  /** `ok` is null without a result. `agent`: the sub-agent, when the call delegates to one. */
  | {
      readonly kind: 'tool';
      readonly step: number;
      readonly toolUseId: string;
      readonly name: string;
      readonly agent: string | null;
      readonly ok: boolean | null;
    }
  | { readonly kind: 'question'; readonly requestId: string; readonly outcome: 'answered' | 'expired' | null }
  | { readonly kind: 'compaction'; readonly step: number; readonly characters: number }
  /** From the last thing that was recorded until the run was taken from its lost worker. */
  | { readonly kind: 'interruption'; readonly resumes: number }
  /** From the end of the agent to that of the run. */
  | { readonly kind: 'finish' }
  /** After the run: its files are stored, and the workspace is packed. */
  | { readonly kind: 'collection' | 'export'; readonly ok: boolean };

/** A call of the model. What earlier versions did not record is null. */
export interface ModelSpan {
  readonly kind: 'model';
  readonly purpose: CallPurpose | null;
  /** Of the reply; null for calls of sub-agents and for summaries. */
  readonly step: number | null;
  readonly agent: string | null;
  readonly model: string;
  /** Null while it has not ended. */
  readonly ok: boolean | null;
  readonly usage: Usage | null;
  /** Whether the usage is an estimate, since the server reported none. */
  readonly estimated: boolean;
  readonly costUsd: number | null;
  readonly timing: CallTiming | null;
  /** Milliseconds from the start of the span to the first text that was recorded, for calls without a timing. */
  readonly firstTextMs: number | null;
}

export interface Timeline {
  readonly run: TimelineRun;
  /** In order of their beginning; a part stands after its whole. */
  readonly spans: readonly Span[];
  /**
   * `complete`; `coarse`: some calls were recorded by an earlier version, without their timing; `removed`: the journal of the run is
   * gone, and what is left are its times and its calls.
   */
  readonly detail: 'complete' | 'coarse' | 'removed';
  /** Whether there were more spans than a time line takes. */
  readonly truncated: boolean;
}

/** The run of a time line. */
export interface TimelineRun {
  readonly id: string;
  readonly sessionId: string;
  readonly status: RunState;
  readonly model: string | null;
  readonly attempt: number;
  readonly resumes: number;
  readonly error: RunError | null;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** Maximum spans of a time line. */
export const MAX_SPANS = 5_000;

/** Milliseconds of a span until its end, or until now. Never negative, whatever the wall clock did. */
export function lengthOf({ startedAt, endedAt }: Pick<SpanTimes, 'startedAt' | 'endedAt'>, now: number): number {
  return Math.max(0, (endedAt ?? now) - startedAt);
}
