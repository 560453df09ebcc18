// What a tool is to the agent: a name, a schema, and a function that never throws for expected failures.
import type { SpaceLimits } from '../../disk/disk-space.ts';
import type { EgressRule } from '../../domain/egress.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SandboxGrant, SkillGrant } from './grants.ts';
import type { ToolResult } from './protocol.ts';
import type { DocumentText, Services } from './services.ts';

/** What a tool may use. */
export interface ToolContext {
  /** Absolute path of the session's workspace directory. */
  readonly workspace: string;
  /** Owner of files that the tool creates; null leaves the daemon's own. */
  readonly workspaceOwner: { readonly uid: number; readonly gid: number } | null;
  readonly sandbox: SandboxGrant | null;
  /** What the workspace may take of the disk. */
  readonly space: SpaceLimits;
  /** Folders that commands see at `/skills/<name>`. */
  readonly skills: readonly SkillGrant[];
  /** The administrator's exceptions for requests that leave the daemon. */
  readonly egress: readonly EgressRule[];
  /** Reads the text of a PDF, Word or Excel file outside of this thread; null when it can't be read now. */
  readonly readDocument: (file: Services['read_document']['input']) => Promise<DocumentText | null>;
  /** Id of the call, unique in the run. */
  readonly callId: string;
  readonly signal: AbortSignal;
}

/** A tool as its model sees it. `inputSchema` is JSON Schema Draft-07 with an object root. */
interface Offered {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Returns the violations of an input, for an untrusted schema, which is not compiled like those of the built-in tools. */
  readonly check?: (input: JsonObject) => readonly string[];
}

/**
 * A tool whose calls are executed, only with input that fits its schema. A failure that the model can act on is a result with
 * `ok: false`; a throw is converted to one too, with its message.
 */
export interface ExecutedTool extends Offered {
  readonly kind: 'executes';
  /** Whether no call changes the workspace: then it needs none, and a missing one is as an empty one. */
  readonly readsOnly?: boolean;
  /** Whether a call may leave something in the workspace that it has not synced itself. */
  readonly writes?: boolean;
  execute(input: JsonObject, context: ToolContext): Promise<ToolResult>;
}

/** A tool whose calls ask the user: each waits for an answer, without a worker (I2). */
export interface AskingTool extends Offered {
  readonly kind: 'waits';
}

/** A tool that takes the result of the turn: a call whose result fits settles it (C14). */
export interface SettlingTool extends Offered {
  readonly kind: 'settles';
}

/** A tool's `kind` determines what happens to its calls. */
export type Tool = ExecutedTool | AskingTool | SettlingTool;

/** Tools made for one run, notes for its agent, and a function that closes what they hold open. */
export interface OpenedTools {
  readonly tools: readonly Tool[];
  /** Lines for the instructions, such as about a server that could not be started. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** The `close` of tools that hold nothing open. */
export const nothingToClose = (): Promise<void> => Promise.resolve();
