// What agents may use, on the wire (§2.10): as a session or a key has it, and as an administrator chooses it.
import type { CapabilityConfig } from '../../domain/capability-config.ts';
import { unprocessable } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type {
  CapabilityChoice,
  CapabilityNames,
  DefinitionReference,
} from '../../operations/capabilities/capability-choice.ts';
import {
  lineOfAtMost,
  type Reader,
  readArray,
  readBoolean,
  readInteger,
  readObject,
  readUuid,
} from '../frame/fields.ts';

const MAX_CHOSEN = 200;

/** The configuration in the shape of §2.10. */
export function renderCapabilities(config: CapabilityConfig): object {
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

/** The names of what its ids stand for. */
export function renderCapabilityNames({ mcpServers, skills, plugins, subagents }: CapabilityNames): object {
  return { mcp_servers: mcpServers, skills, plugins, subagents };
}

const readName = lineOfAtMost(256);

const readReference: Reader<DefinitionReference> = (value, path) =>
  typeof value === 'number' ? readInteger(value, path) : readName(value, path);

function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    const items = readArray(value, path);
    if (items.length > MAX_CHOSEN) throw unprocessable(path, `must have at most ${MAX_CHOSEN} items`);
    return items.map((item, at) => read(item, `${path}[${at}]`));
  };
}

const readReferences = listOf(readReference);
const readConnections = listOf(readUuid);

/** How each field is chosen; what is left out follows from the others. */
const FIELDS: Readonly<
  Record<string, (value: JsonValue, path: string) => { readonly [F in keyof CapabilityChoice]?: CapabilityChoice[F] }>
> = {
  browser_enabled: (value, path) => ({ browserEnabled: orNull(value, path, readBoolean) }),
  mcp_server_ids: (value, path) => ({ mcpServers: orNull(value, path, readReferences) }),
  skill_ids: (value, path) => ({ skills: orNull(value, path, readReferences) }),
  connector_connection_ids: (value, path) => ({ connections: orNull(value, path, readConnections) }),
  plugin_ids: (value, path) => ({ plugins: orNull(value, path, readReferences) }),
  subagent_ids: (value, path) => ({ subagents: orNull(value, path, readReferences) }),
};

function orNull<T>(value: JsonValue, path: string, read: Reader<T>): T | null {
  return value === null ? null : read(value, path);
}

/** What an administrator chooses for a key: ids or names, null for the default. Unknown fields are refused. */
export const readCapabilityChoice: Reader<CapabilityChoice> = (value, path) => {
  const choices = Object.entries(readObject(value, path)).map(([field, chosen]) => {
    const read = FIELDS[field];
    if (read === undefined) throw unprocessable(`${path}.${field}`, `must be one of ${Object.keys(FIELDS).join(', ')}`);
    return read(chosen, `${path}.${field}`);
  });
  return Object.assign({}, ...choices) as CapabilityChoice;
};
