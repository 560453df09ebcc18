// Models and the results of checks as the daemon answers them.

/** One thing that a check looked at. */
export interface FindingWire {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
}

/** A model of models.yaml. */
export interface ModelWire {
  readonly name: string;
  readonly endpoint: string;
  readonly kind: string;
  readonly model: string;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly images: boolean;
  readonly scenarios: readonly string[];
  readonly default: boolean;
}

/** How a model answered. */
export interface ModelCheckWire {
  readonly name: string;
  readonly endpoint: string;
  readonly kind: string;
  readonly model: string;
  readonly ok: boolean;
  readonly findings: readonly FindingWire[];
  readonly first_token_ms: number | null;
  readonly tokens_per_second: number | null;
  readonly duration_ms: number;
}

/** How an MCP server answered. */
export interface McpCheckWire {
  readonly id: number | null;
  readonly name: string;
  readonly server_name: string;
  readonly ok: boolean;
  readonly findings: readonly FindingWire[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly start_ms: number | null;
  readonly list_ms: number | null;
  readonly stderr: string;
  readonly duration_ms: number;
}
