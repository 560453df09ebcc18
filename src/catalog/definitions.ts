// What the config directory defines by name in addition to models: experts, teams, skills, plugins, MCP servers, connectors (J1).
import type { Connector, ConnectorAuth } from '../domain/capabilities/connector.ts';

/** What every definition has. Those of a plugin are named `plugin:name`. */
interface Defined {
  readonly name: string;
  /** Its file, relative to the config directory. */
  readonly file: string;
  readonly description: string;
}

/** A definition that can be part of a plugin. */
interface Bundled extends Defined {
  /** The plugin that it belongs to; null when there is none. */
  readonly plugin: string | null;
}

/** An agent with instructions and what it can use. Every list contains full names of other definitions. */
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
  /** For the lead, in addition to its own instructions; may be empty. */
  readonly instructions: string;
}

/** A skill in the Agent Skills format. */
export interface SkillDefinition extends Bundled {
  /** Absolute path of the folder with SKILL.md. */
  readonly folder: string;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly allowedTools: readonly string[];
  /** Whether keys without a choice of skills have it: `enabled_by_default` in its metadata. */
  readonly enabledByDefault: boolean;
}

/** A folder of skills, MCP servers and experts that are chosen together. The lists contain full names. */
export interface PluginDefinition extends Defined {
  readonly version: string | null;
  readonly skills: readonly string[];
  readonly mcpServers: readonly string[];
  readonly experts: readonly string[];
}

/** How an MCP server is reached. Files contain secrets and are read for each run: paths, or `credential:NAME`. */
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
      /** Absolute path of a PEM file with issuers that are trusted for it in addition. */
      readonly caFile: string | null;
    };

export interface McpServerDefinition extends Bundled {
  readonly transport: McpTransport;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Names of its tools that may be used; null is all of them. */
  readonly tools: readonly string[] | null;
  readonly enabledByDefault: boolean;
}

/** How a connector authenticates. What depends on the user is in the user's connection. */
export interface ConnectorAuthDefinition {
  readonly kind: ConnectorAuth['kind'];
  /** The header that carries the credential, and the text before it. */
  readonly header: string;
  readonly prefix: string;
  /** This and the rest are for OAuth; null and empty for kind token. */
  readonly tokenUrl: string | null;
  readonly clientId: string | null;
  /** A path, or `credential:NAME`. Null for a public client. */
  readonly clientSecretFile: string | null;
  readonly scopes: readonly string[];
}

/** A service that users connect to (I4). Its client secret is read when needed. */
export interface ConnectorDefinition extends Defined, Omit<Connector, 'auth'> {
  readonly auth: ConnectorAuthDefinition;
}

/**
 * All definitions by name. Every reference to another definition, a model or a tool was valid when the files were read,
 * except that skills and plugins that were left out can be missing.
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
