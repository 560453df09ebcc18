// The input and output of the thread that checks models and MCP servers. Plain data.
import type { EgressRule } from '../../domain/egress.ts';
import type { Ways } from '../../outbound/ways/ways.ts';
import type { McpGrant, ModelGrant, SandboxGrant } from '../port/grants.ts';
import type { RunLimits, UnusableTool } from '../port/protocol.ts';

/** `warning`: it works, but not as it should. `skipped`: it was not tested; the detail says why. */
export type FindingState = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check. `detail` is one sentence for an administrator. */
export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  readonly detail: string;
}

export interface ModelCheckTask {
  readonly kind: 'model';
  readonly grant: ModelGrant;
  readonly limits: RunLimits;
  /** Whether to fill the context window, which takes long on a small machine. */
  readonly context: boolean;
}

/** Figures of a model check; null when they could not be measured. */
export interface ModelCheckReport {
  readonly findings: readonly Finding[];
  readonly firstTokenMs: number | null;
  readonly tokensPerSecond: number | null;
}

export interface McpCheckTask {
  readonly kind: 'mcp';
  readonly grant: McpGrant;
  /** Absolute path of an empty directory that serves as the workspace. */
  readonly workspace: string;
  readonly sandbox: SandboxGrant | null;
  readonly egress: readonly EgressRule[];
}

export interface McpCheckReport {
  readonly findings: readonly Finding[];
  /** The name that the server reports; empty when it did not respond. */
  readonly serverName: string;
  readonly startMs: number | null;
  readonly listMs: number | null;
  /** Its tools, under the names that models see. */
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** Those that no agent can use. */
  readonly leftOut: readonly UnusableTool[];
  /** How many more there are. */
  readonly surplus: number;
  /** The end of its standard error when it failed, at most 8 kB. */
  readonly stderr: string;
}

export type CheckTask = ModelCheckTask | McpCheckTask;
/** A task as the thread gets it, with how its connections leave. */
export type SentCheck = CheckTask & { readonly ways: Ways };
export type ReportOf<T extends CheckTask> = T extends ModelCheckTask ? ModelCheckReport : McpCheckReport;
