// What the config directory defines, as the daemon tells it.

/** What every definition has. `id` is null for kinds that have none; `instructions` are there when it is asked for alone. */
export interface Defined {
  readonly id: number | null;
  readonly name: string;
  readonly description: string;
  /** Relative to the config directory. */
  readonly file: string;
  readonly instructions?: string;
}

interface Bundled extends Defined {
  /** The plugin it belongs to. */
  readonly plugin: string | null;
}

interface Definitions {
  readonly experts: Bundled & {
    readonly model: string | null;
    readonly tools: readonly string[] | null;
    readonly skills: readonly string[];
    readonly mcp_servers: readonly string[];
    readonly connectors: readonly string[];
    readonly plugins: readonly string[];
    readonly subagents: readonly string[];
    readonly browser: boolean;
  };
  readonly 'expert-teams': Defined & { readonly lead: string; readonly members: readonly string[] };
  readonly skills: Bundled & {
    readonly license: string | null;
    readonly compatibility: string | null;
    readonly metadata: Readonly<Record<string, string>>;
    readonly allowed_tools: readonly string[];
    readonly enabled_by_default: boolean;
  };
  readonly plugins: Defined & {
    readonly version: string | null;
    readonly skills: readonly string[];
    readonly mcp_servers: readonly string[];
    readonly experts: readonly string[];
  };
  readonly 'mcp-servers': Bundled & {
    readonly kind: 'stdio' | 'http';
    readonly command?: string;
    readonly args?: readonly string[];
    /** Names only: values may be secrets. */
    readonly env?: readonly string[];
    readonly folders?: readonly string[];
    readonly network?: boolean;
    readonly url?: string;
    readonly headers?: readonly string[];
    readonly start_timeout_seconds: number;
    readonly call_timeout_seconds: number;
    readonly tools: readonly string[] | null;
    readonly enabled_by_default: boolean;
  };
  readonly connectors: Defined & {
    readonly base_url: string;
    readonly auth: { readonly kind: string };
    readonly methods: readonly string[];
    readonly paths: readonly string[];
  };
}

export type DefinitionNoun = keyof Definitions;
export type DefinitionWire<N extends DefinitionNoun> = Definitions[N];

/** What is wrong with files. */
export interface CheckWire {
  readonly ok: boolean;
  readonly problems: readonly {
    readonly file: string | null;
    readonly line: number | null;
    readonly column: number | null;
    readonly message: string;
  }[];
}
