// What agents may use (§2.10): as a session or a key has it, and as an administrator chooses it.
import { array } from '../shapes/composites.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, line, string, uuid } from '../shapes/scalars.ts';
import { anyOf, type JsonOf, named, nullish } from '../shapes/shape.ts';

const ids = array(integer());
const names = array(string);

export const capabilityConfig = named(
  'CapabilityConfig',
  record({
    browserEnabled: boolean,
    browserImpl: string,
    mcpServerIds: ids,
    skillIds: ids,
    connectorConnectionIds: array(uuid),
    pluginIds: ids,
    subagentIds: ids,
  }),
);

/** The names for its ids. */
export const capabilityNames = named(
  'CapabilityNames',
  record({ mcpServers: names, skills: names, plugins: names, subagents: names }),
);

const MAX_CHOSEN = 200;
const references = nullish(array(anyOf('must be a string', integer(), line({ max: 256 })), { max: MAX_CHOSEN }));

/** What an administrator chooses for a key: ids or names; null gives a field back to the defaults. */
export const capabilityChoice = named(
  'CapabilityChoice',
  request(
    {
      browserEnabled: nullish(boolean),
      mcpServers: called('mcp_server_ids', references),
      skills: called('skill_ids', references),
      connections: called('connector_connection_ids', nullish(array(uuid, { max: MAX_CHOSEN }))),
      plugins: called('plugin_ids', references),
      subagents: called('subagent_ids', references),
    },
    { closed: true },
  ),
);
export type CapabilityChoiceWire = JsonOf<typeof capabilityChoice>;
