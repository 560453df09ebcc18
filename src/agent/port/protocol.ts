// What passes between the main thread and a worker: the brief in, signals out, control back.
// Everything here is plain data that survives structured cloning.
import type { Attachment, UserBlock } from '../../domain/sessions/content.ts';
import type { SpaceLimits } from '../../disk/disk-space.ts';
import type { EgressRule } from '../../domain/egress.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { Ways } from '../../outbound/ways/ways.ts';
import type { EndpointKind } from '../../domain/capabilities/model.ts';
import type { EventPayloads } from '../../domain/sessions/journal-event.ts';
import type { CallPurpose, CallTiming } from '../../domain/sessions/call-timing.ts';
import type { FailedCall } from '../../domain/sessions/model-call.ts';
import type { RunError, StopReason } from '../../domain/sessions/run.ts';
import type { RunSetup } from '../../domain/sessions/run-setup.ts';
import type { CallUsage, ContextParts } from '../../domain/sessions/usage.ts';
import type { Equipment, ModelGrant, SandboxGrant } from './grants.ts';
import type { ServiceRequest } from './services.ts';

export type { EndpointKind };

/** Name of the tool that takes the result of a run with an output schema. No other tool may use it. */
export const SUBMIT_RESULT = 'submit_result';

/** One tool call of a model's reply. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** A tool call and its progress. `unknown`: it had begun when the daemon died, and is never repeated (D7). */
export type RecordedCall = ToolCall & {
  readonly state: { readonly kind: 'waiting' | 'unknown' } | { readonly kind: 'ended'; readonly result: ToolResult };
};

/** The result of a tool, as the text that the model reads. */
export interface ToolResult {
  readonly ok: boolean;
  readonly output: string;
}

/** One model reply. `message` has what the other fields don't say of it, as JSON, opaque outside of `agent/`. */
export interface StepReply extends CallUsage {
  /** Counted from 1 within the run. */
  readonly step: number;
  readonly kind: EndpointKind;
  readonly message: JsonValue;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** What it was asked with. */
  readonly context: ContextParts;
  readonly timing: CallTiming;
  /** Besides the conversation; in the first reply of an attempt. */
  readonly setup: RunSetup | null;
}

/** A step read back from the journal. */
export type RecordedStep = Omit<StepReply, 'calls' | 'context' | 'timing' | 'setup' | 'estimated'> & {
  readonly calls: readonly RecordedCall[];
};

/** A turn of the conversation: the user's message and what the agent did in response. */
export interface Turn {
  readonly user: readonly UserBlock[];
  readonly attachments: readonly Attachment[];
  readonly steps: readonly RecordedStep[];
  /** What its agent was told of its workspace meanwhile; absent: nothing. */
  readonly notes?: readonly TurnNote[];
}

/** A tool of an MCP server that is offered to nobody. */
export interface UnusableTool {
  /** As its server calls it; empty when it has no name. */
  readonly name: string;
  /** What is wrong with it, as the rest of a sentence. */
  readonly why: string;
}

/** Something that the agent has to know from a step on. */
export interface TurnNote {
  /** The step whose results it follows; 0: it follows the request. */
  readonly step: number;
  readonly text: string;
}

export interface RunLimits {
  readonly connectTimeoutMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** What is left of the run's own time limit. */
  readonly runTimeoutMs: number;
  readonly maxSteps: number;
  /** Text, reasoning and tool calls of one model reply together. */
  readonly maxReplyBytes: number;
  /** For how long a call is repeated while its model's server is down; 0: as after other failures. */
  readonly patienceMs: number;
  /** The same for an endpoint that can't be reached, and never has answered as it is configured, if that is less. */
  readonly unprovenPatienceMs: number;
}

/** As much of a text as is ever shown: all of it, or its start and end. */
export interface Ends {
  readonly text: string;
  /** Length of the whole text. */
  readonly characters: number;
}

/** What a brief carries of a document. */
export type CarriedText = Ends | { readonly fault: string };

/** A summary that replaces the older part of a conversation. */
export interface Compaction {
  readonly summary: string;
  /** The last step of this run that it covers; 0 when it covers earlier turns only. */
  readonly step: number;
}

/** Of the calls that may change a workspace. */
export type Announced = 'none' | 'first' | 'each';

/** All a worker needs to know of a run. */
export interface Brief {
  readonly runId: string;
  readonly sessionId: string;
  readonly attempt: number;
  /** Absolute path of the session's workspace directory. */
  readonly workspace: string;
  /** Owner of files that tools create; null leaves the daemon's own. */
  readonly workspaceOwner: { readonly uid: number; readonly gid: number } | null;
  /** Which of the calls that may change the workspace wait until it is known how it is. */
  readonly announces: Announced;
  readonly model: ModelGrant;
  readonly instructions: string;
  /** Replaces the turns before `history`, and steps of this run; null when nothing was summarised. */
  readonly compaction: Compaction | null;
  /** Earlier turns of the session, oldest first. */
  readonly history: readonly Turn[];
  /** Whether older turns were omitted for lack of room. */
  readonly historyIsCut: boolean;
  /** This turn; its steps are those recorded before a crash. */
  readonly turn: Turn;
  /** The text of attached documents, of this turn and earlier ones, by the sha256 of their content. */
  readonly texts: Readonly<Record<string, CarriedText>>;
  /** Draft-07 schema of the result that the run has to submit, from `readOutputSchema`; null: its answer is text. */
  readonly outputSchema: JsonObject | null;
  /** Names of the built-in tools that the run has. */
  readonly tools: readonly string[];
  readonly equipment: Equipment;
  /** Authenticates this run to the broker; null without connections (I4). */
  readonly connectorToken: string | null;
  /** The user's answers to calls of `ask_user`, by call id; a call without one waits (I2). */
  readonly answers: Readonly<Record<string, ToolResult>>;
  readonly sandbox: SandboxGrant | null;
  /** What the workspace may take of the disk. */
  readonly space: SpaceLimits;
  /** The administrator's exceptions for requests that leave the daemon. */
  readonly egress: readonly EgressRule[];
  /** How its connections leave. They become those of the whole thread. */
  readonly ways: Ways;
  readonly limits: RunLimits;
  /** Index of the next text block in the run's stream. */
  readonly nextBlockIndex: number;
  /** 0 for the run's own agent, 1 for those it delegates to, and so on. */
  readonly depth: number;
}

/** How a run ended, from the worker's view. */
export type Outcome =
  | {
      readonly status: 'completed';
      readonly text: string;
      readonly stopReason: StopReason;
      /** Present exactly when the run has an output schema; fits that schema. */
      readonly structured?: { readonly value: JsonValue };
    }
  /** The agent ended without a result that fits the output schema. */
  | { readonly status: 'incomplete'; readonly error: RunError }
  /** `call`: the model call that failed. */
  | { readonly status: 'failed'; readonly error: RunError; readonly call?: CallTiming }
  /** The agent has asked its user: the run gives its slot back and is resumed with the answer (I2). */
  | { readonly status: 'waiting'; readonly question: ToolCall }
  | { readonly status: 'canceled' };

/** Worker to main. After a signal with an `ack`, the worker waits for the journal before it continues. */
export type Signal =
  | { readonly t: 'block-start'; readonly index: number }
  | { readonly t: 'text'; readonly index: number; readonly text: string }
  | { readonly t: 'block-stop'; readonly index: number }
  /** Write-ahead: committed before any of its tool calls runs. Its first call counts as begun with this commit. */
  | { readonly t: 'step'; readonly ack: number; readonly reply: StepReply }
  /** Committed before the next tool call or model call. The reply's next call counts as begun with this commit. */
  | {
      readonly t: 'tool-result';
      readonly ack: number;
      readonly step: number;
      readonly call: ToolCall;
      readonly result: ToolResult;
      readonly durationMs: number;
    }
  /** Committed before the summary replaces anything. */
  | { readonly t: 'compaction'; readonly ack: number; readonly compaction: Compaction; readonly characters: number }
  /** Tokens that a sub-agent or a summary has used. `model` is the catalog's name; `agent` is null for the run's own agent. */
  | ({
      readonly t: 'spent';
      readonly model: string;
      readonly purpose: Exclude<CallPurpose, 'reply'>;
      readonly agent: string | null;
      readonly timing: CallTiming;
    } & CallUsage)
  /**
   * A call of a model, by the catalog's name, brought no reply. It may be retried, and then counts as another one. `used`: what
   * it has cost all the same; null when the server did no work for it.
   */
  | {
      readonly t: 'call-failed';
      readonly model: string;
      readonly outcome: FailedCall | 'stopped';
      readonly used: CallUsage | null;
      readonly purpose: CallPurpose;
      readonly agent: string | null;
      readonly timing: CallTiming;
    }
  /** A call of a model, by the catalog's name, is repeated while its server is down; then it goes on or is given up. */
  | ({ readonly t: 'model-wait' } & EventPayloads['model_wait.started'])
  | ({ readonly t: 'model-wait-over' } & EventPayloads['model_wait.ended'])
  /** An endpoint, by how it is configured, has sent some of a reply: once for each that a thread has asked. */
  | { readonly t: 'answered'; readonly configured: string }
  /** The text since the last step belongs to a reply that broke off, and is asked for again. */
  | { readonly t: 'discard' }
  | ({ readonly t: 'request'; readonly request: number } & ServiceRequest)
  /** For one call of a model, by the catalog's name: a sub-agent's endpoint may differ from the run's. */
  | { readonly t: 'permit-wanted'; readonly model: string }
  | { readonly t: 'permit-returned' }
  /** An MCP server has listed its tools, of which no agent can use these and so many more. */
  | {
      readonly t: 'tools-listed';
      readonly server: string;
      readonly leftOut: readonly UnusableTool[];
      readonly surplus: number;
    }
  | { readonly t: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly facts: JsonObject }
  /** Before the first call that may change the workspace. */
  | { readonly t: 'changes-workspace'; readonly ack: number }
  /** Always the last signal; the worker closes nothing before it is sent. `untouched`: no call can have changed the workspace. */
  | { readonly t: 'done'; readonly outcome: Outcome; readonly untouched: boolean };

/** Signals of one run, in order. */
export interface Batch {
  /** Names the run on its thread. */
  readonly run: number;
  readonly signals: readonly Signal[];
}

/** Worker to main, on the port of the thread: batches of its runs. One without batches answers a ping: the event loop is alive. */
export type Message = readonly Batch[];

/** Main to worker, for one run. */
export type Control =
  | { readonly t: 'ack'; readonly ack: number }
  | { readonly t: 'permit' }
  | {
      readonly t: 'reply';
      readonly request: number;
      readonly reply:
        | { readonly ok: true; readonly output: unknown }
        | { readonly ok: false; readonly message: string };
    }
  | { readonly t: 'abort'; readonly reason: string };

/** Main to worker, on the port of the thread: a run to start, a control for one, or a ping. */
export type ThreadControl = Start | { readonly run: number; readonly control: Control } | 'ping';

export interface Start {
  /** Names the run on its thread. */
  readonly run: number;
  readonly brief: Brief;
  /** Shared with the main thread: its one element is 1 while the run does nothing but wait for its model. */
  readonly waiting: Int32Array<SharedArrayBuffer>;
}

/** The argument of a thread's one task, which executes runs until its port is closed. `port` is transferred with it. */
export interface ThreadTask {
  readonly port: import('node:worker_threads').MessagePort;
  /** Shared with the main thread: how many messages of this thread the main thread has taken so far. */
  readonly taken: Int32Array<SharedArrayBuffer>;
  /** Shared with the main thread by all threads: its one element is 1 while there may be budgets. */
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** How long what is streamed waits for more. */
  readonly windowMs: number;
}
