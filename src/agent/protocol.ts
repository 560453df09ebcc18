// What crosses the border between the main thread and a worker: the brief in, signals out, control back.
// Everything here is plain data that survives structured cloning.
import type { Attachment, UserBlock } from '../domain/content.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { EndpointKind } from '../domain/model.ts';
import type { RunError, StopReason } from '../domain/run.ts';
import type { Usage } from '../domain/usage.ts';

export type { EndpointKind };

/** The model of one run, with the only secret a worker ever sees. */
export interface ModelGrant {
  /** The catalog's name of the model. */
  readonly name: string;
  readonly kind: EndpointKind;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The model's name at its endpoint. */
  readonly model: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  /** Whether the model takes images. Others are told of them in words. */
  readonly images: boolean;
  /** True when the endpoint has `max_in_flight`: each call then needs a permit of the main thread. */
  readonly metered: boolean;
}

/** Name of the tool that takes the result of a run with an output schema. No other tool may have it. */
export const SUBMIT_RESULT = 'submit_result';

/** One tool call of a model's reply. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** A tool call and how far it got. `unknown`: it had begun when the daemon died, and is never repeated (D7). */
export type RecordedCall = ToolCall & {
  readonly state: { readonly kind: 'waiting' | 'unknown' } | { readonly kind: 'ended'; readonly result: ToolResult };
};

/** What a tool answered, in the words the model reads. */
export interface ToolResult {
  readonly ok: boolean;
  readonly output: string;
}

/** One model reply. `message` is the AI SDK's assistant message as JSON, opaque to everyone but the agent room. */
export interface StepReply {
  /** Counted from 1 within the run. */
  readonly step: number;
  readonly kind: EndpointKind;
  readonly message: JsonValue;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
}

/** A step read back from the journal. */
export type RecordedStep = Omit<StepReply, 'calls'> & { readonly calls: readonly RecordedCall[] };

/** A turn of the conversation: what the user said and what the agent did about it. */
export interface Turn {
  readonly user: readonly UserBlock[];
  readonly attachments: readonly Attachment[];
  readonly steps: readonly RecordedStep[];
}

export interface RunLimits {
  readonly connectTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** What is left of the run's own time limit. */
  readonly runTimeoutMs: number;
  readonly maxSteps: number;
}

/** How the shell tool runs a command; absent when there is no sandbox. */
export interface SandboxGrant {
  /** Path of the `bwrap` binary. */
  readonly bwrap: string;
  /** The uid and gid to drop to; null when the daemon is not root. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly memoryBytes: number;
  readonly maxProcesses: number;
}

/** All a worker needs to know of a run. */
export interface Brief {
  readonly runId: string;
  readonly sessionId: string;
  readonly attempt: number;
  /** Absolute path of the session's workspace directory. */
  readonly workspace: string;
  /** Owner given to files that tools create; null leaves the daemon's own. */
  readonly workspaceOwner: { readonly uid: number; readonly gid: number } | null;
  readonly model: ModelGrant;
  readonly instructions: string;
  /** Earlier turns of the session, oldest first. */
  readonly history: readonly Turn[];
  /** This turn; its steps are those recorded before a crash. */
  readonly turn: Turn;
  /** Draft-07 schema of the result the run has to submit, as `readOutputSchema` gave it; null: its answer is text. */
  readonly outputSchema: JsonObject | null;
  /** Names of the tools the run has, `submit_result` not among them. */
  readonly tools: readonly string[];
  readonly sandbox: SandboxGrant | null;
  readonly limits: RunLimits;
  /** Index of the next text block in the run's stream. */
  readonly nextBlockIndex: number;
}

/** How a run ended, from the worker's view. */
export type Outcome =
  | {
      readonly status: 'completed';
      readonly text: string;
      readonly stopReason: StopReason;
      /** Present exactly when the run has an output schema, and fits it. */
      readonly structured?: { readonly value: JsonValue };
    }
  /** The agent has ended without a result that fits the output schema. */
  | { readonly status: 'incomplete'; readonly error: RunError }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'canceled' };

/** Worker to main. A signal with an `ack` waits for the journal before the worker goes on. */
export type Signal =
  | { readonly t: 'block-start'; readonly index: number }
  | { readonly t: 'text'; readonly index: number; readonly text: string }
  | { readonly t: 'block-stop'; readonly index: number }
  /** Write-ahead: committed before any of its tool calls runs. The first call counts as begun with it. */
  | { readonly t: 'step'; readonly ack: number; readonly reply: StepReply }
  /** Committed before the next tool call or model call. The reply's next call counts as begun with it. */
  | {
      readonly t: 'tool-result';
      readonly ack: number;
      readonly step: number;
      readonly call: ToolCall;
      readonly result: ToolResult;
      readonly durationMs: number;
    }
  | { readonly t: 'permit-wanted' }
  | { readonly t: 'permit-returned' }
  /** Answers a `ping`: the thread's event loop turns. */
  | { readonly t: 'pong' }
  | { readonly t: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly facts: JsonObject }
  /** Always the last signal; the worker closes nothing before it is sent. */
  | { readonly t: 'done'; readonly outcome: Outcome };

/** What travels on the port: signals in order, batched. */
export type SignalBatch = readonly Signal[];

/** Main to worker. */
export type Control =
  | { readonly t: 'ack'; readonly ack: number }
  | { readonly t: 'permit' }
  | { readonly t: 'ping' }
  | { readonly t: 'abort'; readonly reason: string };

/** The argument of the worker's task. `port` is transferred with it. */
export interface WorkerTask {
  readonly brief: Brief;
  readonly port: import('node:worker_threads').MessagePort;
}
