// What the config directory defines by name beside models: experts, teams, skills, plugins, MCP servers, connectors (J1).
import type { Connector, ConnectorAuth } from '../domain/connector.ts';

/** What every definition has. A plugin's things are named `plugin:thing`. */
interface Defined {
  readonly name: string;
  /** The file it stands in, relative to the config directory. */
  readonly file: string;
  readonly description: string;
}

/** A definition that a plugin may bring. */
interface Bundled extends Defined {
  /** The plugin it belongs to; null when it stands alone. */
  readonly plugin: string | null;
}

/** An agent with instructions and things to use. Every list holds full names of other definitions. */
export interface ExpertDefinition extends Bundled {
  readonly instructions: string;
  /** A model of models.yaml; null is the model that the run would have without it. */
  readonly model: string | null;
  /** Names of built-in tools; null is all of them. */
  readonly tools: readonly string[] | null;
  readonly skills: readonly string[];
  readonly mcpServers: readonly string[];
  readonly connectors: readonly string[];
  readonly plugins: readonly string[];
  readonly subagents: readonly string[];
  readonly browser: boolean;
}

/** Experts that work together. The lead answers the user and delegates to the members. */
export interface TeamDefinition extends Defined {
  readonly lead: string;
  readonly members: readonly string[];
  /** Said to the lead beside its own instructions; may be empty. */
  readonly instructions: string;
}

/** A skill in the Agent Skills format. */
export interface SkillDefinition extends Bundled {
  /** Absolute path of the folder that holds SKILL.md. */
  readonly folder: string;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly allowedTools: readonly string[];
  /** Whether keys that choose nothing have it: `enabled_by_default` among its metadata. */
  readonly enabledByDefault: boolean;
}

/** A folder of skills, MCP servers and experts that are chosen together. The lists hold full names. */
export interface PluginDefinition extends Defined {
  readonly version: string | null;
  readonly skills: readonly string[];
  readonly mcpServers: readonly string[];
  readonly experts: readonly string[];
}

/** How an MCP server is reached. Files hold secrets and are read for each run: paths, or `credential:NAME`. */
export type McpTransport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly envFiles: Readonly<Record<string, string>>;
      /** Absolute paths of folders that it sees read-only. */
      readonly folders: readonly string[];
      readonly network: boolean;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly headerFiles: Readonly<Record<string, string>>;
    };

export interface McpServerDefinition extends Bundled {
  readonly transport: McpTransport;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Names of its tools that may be used; null is all of them. */
  readonly tools: readonly string[] | null;
  readonly enabledByDefault: boolean;
}

/** How a connector proves who it is. What depends on the user stands in the user's connection. */
export interface ConnectorAuthDefinition {
  readonly kind: ConnectorAuth['kind'];
  /** The header that carries the credential, and what stands before it there. */
  readonly header: string;
  readonly prefix: string;
  /** This and the rest are for OAuth; null and empty for kind token. */
  readonly tokenUrl: string | null;
  readonly clientId: string | null;
  /** A path, or `credential:NAME`. Null for a public client. */
  readonly clientSecretFile: string | null;
  readonly scopes: readonly string[];
}

/** A service that users connect to (I4). Its client secret is read when it is needed. */
export interface ConnectorDefinition extends Defined, Omit<Connector, 'auth'> {
  readonly auth: ConnectorAuthDefinition;
}

/**
 * All of them by name. Every name in it that refers to another definition, a model or a tool was there when it was read;
 * a skill or a plugin that was left out may be missing all the same.
 */
export interface Definitions {
  readonly experts: ReadonlyMap<string, ExpertDefinition>;
  readonly teams: ReadonlyMap<string, TeamDefinition>;
  readonly skills: ReadonlyMap<string, SkillDefinition>;
  readonly plugins: ReadonlyMap<string, PluginDefinition>;
  readonly mcpServers: ReadonlyMap<string, McpServerDefinition>;
  readonly connectors: ReadonlyMap<string, ConnectorDefinition>;
}

/** A config directory that defines nothing. */
export const NO_DEFINITIONS: Definitions = {
  experts: new Map(),
  teams: new Map(),
  skills: new Map(),
  plugins: new Map(),
  mcpServers: new Map(),
  connectors: new Map(),
};
