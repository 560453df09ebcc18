// A run: one turn of an agent, its states and the moves between them.
import type { JsonObject, JsonValue } from '../json.ts';
import type { Usage } from './usage.ts';

export const RUN_STATUSES = [
  'queued',
  'running',
  'finalizing',
  'completed',
  'failed',
  'canceled',
  'incomplete',
] as const;
/** What a run is reported as. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What a run is. `waiting`: for its user, without a worker; reported as `running` (I2). */
export const RUN_STATES = ['waiting', ...RUN_STATUSES] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The status that a state is reported as. */
export function reportedStatus(state: RunState): RunStatus {
  return state === 'waiting' ? 'running' : state;
}

/** States that a run leaves again, in the order of the indexes' conditions. */
export const UNFINISHED = ['queued', 'running', 'waiting', 'finalizing'] as const satisfies readonly RunState[];
/** States in which a run has ended, and those in which it has failed. */
export const ENDED = ['completed', 'failed', 'canceled', 'incomplete'] as const satisfies readonly RunState[];
export const FAILED = ['failed', 'incomplete'] as const satisfies readonly RunState[];
/** States in which a run has begun, and not ended. */
export const BEGUN = ['running', 'waiting', 'finalizing'] as const satisfies readonly RunState[];
/** States in which a run has an executor. */
export const EXECUTING = ['running', 'finalizing'] as const satisfies readonly RunState[];

/**
 * Every allowed move (§3.1, D1). Each store verb guards its own in SQL, so that the first committed move wins.
 * `running` goes back to `queued` when the daemon drains or a crash is rescued (D7), `waiting` when its question is settled.
 */
export const RUN_MOVES: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['running', 'failed', 'canceled'],
  running: ['finalizing', 'waiting', 'queued', 'canceled'],
  waiting: ['queued', 'canceled'],
  finalizing: ['completed', 'failed', 'incomplete', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
  incomplete: [],
};

/** Whether a status is final. */
export function isTerminal(status: RunState): boolean {
  return RUN_MOVES[status].length === 0;
}

/** How often a run may be resumed after a crash before it fails (D7). */
export const MAX_RESUMES = 2;

export const PROTOCOLS = ['chat', 'messages', 'responses'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export const SCHEDULE_MODES = ['immediate', 'queued', 'background', 'scheduled'] as const;
export type ScheduleMode = (typeof SCHEDULE_MODES)[number];

export const RUN_ERROR_TYPES = [
  'queue_timeout_error',
  'timeout_error',
  'api_error',
  'structured_output_error',
  'interrupted_error',
  'budget_error',
] as const;
export type RunErrorType = (typeof RUN_ERROR_TYPES)[number];

/** Why a run failed, in words for its caller (D6). */
export interface RunError {
  readonly type: RunErrorType;
  readonly message: string;
  readonly retryable: boolean;
}

/** Why the agent ended, in the Messages protocol's words. */
export const STOP_REASONS = ['end_turn', 'max_tokens'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** What a Response repeats of its request. Of the Responses protocol only (M3). */
export interface ResponseEcho {
  readonly metadata: Readonly<Record<string, string>>;
  /** The run that it continued from; null without one. */
  readonly previousRunId: string | null;
  /** `text.format` as it was sent; null without one. */
  readonly format: JsonObject | null;
  /** The tool that its client has forced, as it was sent. */
  readonly tool?: JsonObject;
  /** Whether it is meant to be kept: a session that others open is thrown away. */
  readonly isStored: boolean;
}

/** The tool of its client that a run answers as a call of: its result is the tool's input (M4). */
export interface ResultTool {
  readonly name: string;
  /** Whether the client of chat knows it as a function, as before there were tools. */
  readonly isFunction?: true;
}

/** A run as its readers see it. `seq` is the row's integer, used only inside. */
export interface Run {
  readonly seq: number;
  readonly id: string;
  readonly sessionSeq: number;
  readonly sessionId: string;
  readonly userSeq: number;
  /** Null for a run of a scheduled task. */
  readonly keySeq: number | null;
  readonly protocol: Protocol;
  readonly status: RunState;
  readonly scheduleMode: ScheduleMode;
  readonly attempt: number;
  readonly resumes: number;
  /** The request's `model`, echoed in answers and used for nothing else (§1 rule 9). */
  readonly requestedModel: string;
  /** The catalog's model that ran; null until the run started. */
  readonly model: string | null;
  /** Chat only: the last chunk reports the usage (C9). */
  readonly includeUsage: boolean;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly stopReason: StopReason | null;
  readonly error: RunError | null;
  /** Text of the agent's last step: the answer of a non-stream reply (C10). */
  readonly answer: string | null;
  /** The request gave an output schema (§4.4). */
  readonly wantsStructured: boolean;
  /** Its result is the JSON text of the reply's content, as client libraries read it, rather than `structured_output` (decision 9). */
  readonly resultInContent: boolean;
  /** Its reply is a call of this tool, with the result; null for any other reply. */
  readonly resultTool: ResultTool | null;
  /** The result that fits the output schema; null when there is none. A result may itself be `null`. */
  readonly structuredOutput: { readonly value: JsonValue } | null;
  /** Background only: a payload that results return verbatim. */
  readonly backgroundPayload: string | null;
  /** Present exactly on runs of the Responses protocol. */
  readonly response: ResponseEcho | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}
