// What a run is granted: its model, its sandbox, and its equipment in addition to the built-in tools. Plain data for a worker.
import type { Owner } from '../../disk/make-beneath.ts';
import type { SpaceLimits } from '../../disk/disk-space.ts';
import type { CallExtras, EndpointKind, StructuredWay } from '../../domain/capabilities/model.ts';

/** The model of one run, with the secrets of its endpoint. */
export interface ModelGrant {
  /** The catalog's name of the model. */
  readonly name: string;
  /** Names how its endpoint is configured: with another address or another key, it is another one. */
  readonly configured: string;
  readonly kind: EndpointKind;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** A PEM file with issuers that are trusted for its endpoint in addition. */
  readonly caFile: string | null;
  readonly extras: CallExtras;
  /** The model's name at its endpoint. */
  readonly model: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  /** Whether the model accepts images. Others get a note instead. */
  readonly images: boolean;
  /** Whether the model accepts PDF documents as files. Others get their text. */
  readonly documents: boolean;
  readonly structured: StructuredWay;
  /** Whether it writes its thinking into its text, between `<think>` and `</think>`. */
  readonly thinkingTags: boolean;
  /** True when the endpoint has `max_in_flight`: each call then needs a permit of the main thread. */
  readonly metered: boolean;
}

/** How the shell tool runs a command; absent when no sandbox is available. */
export interface SandboxGrant {
  /** Path of the `bwrap` binary. */
  readonly bwrap: string;
  /** The user of the kernel that it runs as; null for the daemon's own, when that is not root. */
  readonly owner: Owner | null;
  /** The directory in which each sandbox gets its control group; null when the system has not delegated any. */
  readonly groups: string | null;
  /** Watches of files (inotify): refused where the system allows no user namespace that limits them. */
  readonly watches: 'limited' | 'refused';
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  /** What it may take of the disk; null for a trial, which writes nothing. */
  readonly space: SpaceLimits | null;
}

/** A skill in the Agent Skills format. Its folder is mounted read-only in the sandbox at `/skills/<name>`. */
export interface SkillGrant {
  readonly name: string;
  readonly description: string;
  /** Absolute path of the folder that contains SKILL.md. */
  readonly folder: string;
}

/** An MCP server that the run may use. The values of `env` and `headers` contain secrets. */
export interface McpGrant {
  readonly name: string;
  /** Those of the values that are secret and never shown. */
  readonly secrets: readonly string[];
  readonly transport:
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        /** Absolute paths of the folders that it can read, in addition to /usr and the workspace. */
        readonly folders: readonly string[];
        /** Whether its sandbox shares the host's network. */
        readonly network: boolean;
      }
    | {
        readonly kind: 'http';
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        /** A PEM file with issuers that are trusted for it in addition. */
        readonly caFile: string | null;
      };
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Names of the server's tools that may be used; null means all of them. */
  readonly tools: readonly string[] | null;
}

/** An agent that the run's agent may delegate to. */
export interface SubagentGrant {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Null: the model of the agent that delegates. */
  readonly model: ModelGrant | null;
  /** Names of built-in tools. */
  readonly tools: readonly string[];
  /** Additional equipment by its own definition; it inherits nothing from the agent above. */
  readonly equipment: Omit<Equipment, 'subagents'>;
  /** Names of the run's agents that it may delegate to. */
  readonly subagents: readonly string[];
}

/** A connection to a service, used through the broker of the main thread (I4). */
export interface ConnectionGrant {
  /** UUID. */
  readonly id: string;
  /** The user's name for it; may be empty. */
  readonly name: string;
  /** The connector's name, purpose and address, and what may be called there. */
  readonly connector: string;
  readonly description: string;
  readonly baseUrl: string;
  readonly methods: readonly string[];
  readonly paths: readonly string[];
}

/** A browser that the run may drive. */
export interface BrowserGrant {
  /** Absolute path of the Chromium program. */
  readonly executable: string;
  /** Time limit of one action. */
  readonly timeoutMs: number;
  /** Its sandbox, with its own limits of memory and processes. */
  readonly sandbox: SandboxGrant;
}

/** What a run has in addition to its built-in tools (J1). */
export interface Equipment {
  readonly skills: readonly SkillGrant[];
  readonly mcp: readonly McpGrant[];
  readonly subagents: readonly SubagentGrant[];
  readonly connections: readonly ConnectionGrant[];
  readonly browser: BrowserGrant | null;
}

/** No equipment: the built-in tools only. */
export const NO_EQUIPMENT: Equipment = { skills: [], mcp: [], subagents: [], connections: [], browser: null };

/** The ids of the connections that any agent of the run may use. */
export function connectionIdsOf({ connections, subagents }: Equipment): string[] {
  const all = [connections, ...subagents.map(({ equipment }) => equipment.connections)].flat();
  return [...new Set(all.map(({ id }) => id))];
}
