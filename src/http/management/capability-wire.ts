// Converts what agents may use (§2.10) between domain and wire.
import type { CapabilityConfig } from '../../domain/capabilities/capability-config.ts';
import type { CapabilityChoice, CapabilityNames } from '../../operations/capabilities/capability-choice.ts';
import type {
  CapabilityChoiceWire,
  CapabilityConfigWire,
  CapabilityNamesWire,
} from '../../wire/capabilities/capability.ts';

/** The configuration in the shape of §2.10. */
export function renderCapabilities(config: CapabilityConfig): CapabilityConfigWire {
  return {
    browser_enabled: config.browserEnabled,
    browser_impl: config.browserImpl,
    mcp_server_ids: config.mcpServerIds,
    skill_ids: config.skillIds,
    connector_connection_ids: config.connectorConnectionIds,
    plugin_ids: config.pluginIds,
    subagent_ids: config.subagentIds,
  };
}

/** The names for its ids. */
export function renderCapabilityNames({
  mcpServers,
  skills,
  plugins,
  subagents,
}: CapabilityNames): CapabilityNamesWire {
  return { mcp_servers: mcpServers, skills, plugins, subagents };
}

/** What an administrator chooses for a key. Absent fields follow from the rest. */
export function choiceOf(choice: CapabilityChoiceWire): CapabilityChoice {
  const chosen = {
    browserEnabled: choice.browser_enabled,
    mcpServers: choice.mcp_server_ids,
    skills: choice.skill_ids,
    connections: choice.connector_connection_ids,
    plugins: choice.plugin_ids,
    subagents: choice.subagent_ids,
  };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) as CapabilityChoice;
}
