// The journal's events: the one record of what happened, and the source of everything the daemon reports (G8).
import type { InsightPriority, InsightStatus } from './insight.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { TaskRunStatus } from '../schedules/run-status.ts';
import type { RunError, ScheduleMode, StopReason } from './run.ts';
import type { StopCause } from './stop.ts';
import type { RecordedTiming } from './call-timing.ts';
import type { Usage } from './usage.ts';

/** What each event carries. */
export interface EventPayloads {
  /** `promptTokens` is an estimate, on Messages runs only. */
  'run.queued': { scheduleMode: ScheduleMode; promptTokens?: number };
  /** `fullSlots`: all of them were taken while it waited; absent when there was room. */
  'run.started': { attempt: number; model: string; fullSlots?: number };
  /** The model has answered a step, with the start of what it says; its tool calls follow as `tool_use`. */
  'run.step': {
    step: number;
    inputTokens: number;
    outputTokens: number;
    textPreview: string;
    calls: readonly { readonly id: string; readonly name: string }[];
  };
  /**
   * The result of a run whose reply has it as its content: it precedes the end of the text. Other runs report it with their
   * `message`. Where the content has blocks, as on Messages, it is between the two events of its own.
   */
  'run.result': { structuredOutput: JsonValue };
  result_block_start: Record<string, never>;
  result_block_stop: Record<string, never>;
  /** The agent has ended. `stopReason` is null unless the run is going to complete. `failedCall`: it ended with this call. */
  'run.finalizing': { stopReason: StopReason | null; usage: Usage; failedCall?: RecordedTiming };
  'run.done': { status: 'completed' };
  'run.failed': { status: 'failed' | 'incomplete'; error: RunError };
  /** `unannounced`: webhooks hear nothing of it, as another run stands for the stop, or nobody stopped it (§3.3). */
  'run.stopped': { reason: StopCause; unannounced?: true };
  'run.resumed': { resumes: number };
  content_block_start: { index: number };
  content_block_delta: { index: number; text: string };
  content_block_stop: { index: number };
  tool_use: { step: number; toolUseId: string; name: string; input: JsonObject };
  /** `output` is cut at `MAX_PREVIEW_BYTES`; then it is `truncated`. */
  tool_result: { toolUseId: string; name: string; ok: boolean; output: string; truncated?: true; durationMs: number };
  /** The final message was written. `structuredOutput` is present only when a schema was given, and not after `run.result`. */
  message: {
    messageId: number;
    role: 'assistant';
    textPreview: string;
    usage: Usage;
    structuredOutput?: JsonValue;
  };
  /** The agent waits for its user (I2). */
  'user_input.requested': { requestId: string; toolUseId: string; toolName: string; expiresAt: number };
  'user_input.answered': SettledQuestion & { answers: JsonValue };
  'user_input.expired': SettledQuestion;
  /** Belongs to the session, as it may come long after the run. `previous` is null for a new insight (I3). */
  'insight.status_changed': {
    /** Null in events of earlier versions. */
    runId: string | null;
    insightId: string;
    title: string;
    summary: string;
    priority: InsightPriority;
    status: InsightStatus;
    previous: InsightStatus | null;
    source: 'agent' | 'user' | 'api';
  };
  /** The older part of the conversation is summarised from here on. */
  'run.compacted': { step: number; characters: number };
  /** A call is repeated while the server of its model is down, for as long as there is patience. `agent`: a sub-agent. */
  'model_wait.started': { model: string; agent: string | null; message: string; patienceMs: number };
  /** `answered`: the model replies; else the call was given up. */
  'model_wait.ended': { model: string; agent: string | null; answered: boolean; waitedMs: number };
  /** These four belong to the session: a run's own events end with its terminal one. */
  'artifacts.ready': { runId: string; fileCount: number; totalSize: number };
  'artifacts.failed': { runId: string; message: string };
  /** `archiveSize`: null while the archive waits for someone to ask for it. */
  'workspace_export.completed': { runId: string; fileCount: number; archiveSize: number | null };
  'workspace_export.failed': { runId: string; message: string };
  'session.deleted': { title: string };
  /** Belongs to the session, and carries the task as it was then. `previous` is null for a new run (§3.5, I7). */
  'scheduled_task.run_status_changed': {
    runId: string;
    taskId: string;
    stepId: string;
    name: string;
    cron: string;
    timezone: string;
    status: TaskRunStatus;
    previous: TaskRunStatus | null;
    lastError: string | null;
  };
  /** Both carry all that is reported of them: the page may be deleted soon after. */
  'publish_page.published': { page: PublishedPage; version: PublishedVersion };
  'publish_page.failed': { page: Pick<PublishedPage, 'id' | 'name' | 'key'>; job: FailedPublishing };
}

/** A page at the moment of a version. */
export interface PublishedPage {
  id: number;
  name: string;
  key: string;
  origin: 'existing_session' | 'scheduled_task';
  category: string | null;
  isOnBoard: boolean;
}

/** A version at the moment when it was published, which is the event's. `entryPath` begins with `/`. */
export interface PublishedVersion {
  no: number;
  entryPath: string;
  shareCode: string;
  trigger: 'manual' | 'auto';
  reason: string | null;
}

/** Automatic publishing that has used up its attempts (F14). */
export interface FailedPublishing {
  id: string | null;
  runId: string | null;
  scheduledTaskId: string | null;
  attemptCount: number;
  maxAttempts: number;
  message: string;
}

/** A question that waits no longer. `expiresAt` is null in events of earlier versions, and `toolName` is empty there. */
interface SettledQuestion {
  requestId: string;
  toolUseId: string;
  toolName: string;
  expiresAt: number | null;
}

/** Maximum bytes of a tool's input or output in an event (G18). */
export const MAX_PREVIEW_BYTES = 4_096;

export type EventType = keyof EventPayloads;

/** An event before it is committed. */
export type NewEvent = {
  [T in EventType]: { readonly type: T; readonly payload: EventPayloads[T] };
}[EventType];

/** A committed event. `id` is the journal's order and the SSE id; `streamSeq` counts the events of one run from 1 without a gap. */
export type JournalEvent = NewEvent & {
  readonly id: number;
  readonly sessionSeq: number;
  readonly runSeq: number | null;
  readonly streamSeq: number | null;
  readonly createdAt: number;
};

/** Whose an event is: ids of its session, and of its run if it is one of a run. */
export interface EventScope {
  readonly sessionId: string;
  readonly runId: string | null;
}

/** The run that an event of the session names in its payload; null when no run is meant. */
export function runNamedBy({ payload }: Pick<JournalEvent, 'payload'>): string | null {
  return 'runId' in payload ? payload.runId : null;
}

/** The events that end a run: exactly one of them is ever written for it. */
export const TERMINAL_EVENTS: ReadonlySet<EventType> = new Set(['run.done', 'run.failed', 'run.stopped']);
