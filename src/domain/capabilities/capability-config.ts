// What an agent may use in addition to its built-in tools (§2.10).

export interface CapabilityConfig {
  readonly browserEnabled: boolean;
  /** Name of the browser's implementation; empty when there is none. */
  readonly browserImpl: string;
  readonly mcpServerIds: readonly number[];
  readonly skillIds: readonly number[];
  readonly connectorConnectionIds: readonly string[];
  readonly pluginIds: readonly number[];
  readonly subagentIds: readonly number[];
}

/** Everything off. */
export const NO_CAPABILITIES: CapabilityConfig = {
  browserEnabled: false,
  browserImpl: '',
  mcpServerIds: [],
  skillIds: [],
  connectorConnectionIds: [],
  pluginIds: [],
  subagentIds: [],
};

/** The available browser, as `browserImpl` names it. */
export const BROWSER_IMPL = 'chromium';
