// What agents may use (§2.10): as a session or a key has it, and as an administrator chooses it.
import { array, object } from '../composites.ts';
import { boolean, integer, line, string, uuid } from '../scalars.ts';
import { anyOf, named, nullish, type Static } from '../shape.ts';

const ids = array(integer());
const names = array(string);

export const capabilityConfig = named(
  'CapabilityConfig',
  object({
    browser_enabled: boolean,
    browser_impl: string,
    mcp_server_ids: ids,
    skill_ids: ids,
    connector_connection_ids: array(uuid),
    plugin_ids: ids,
    subagent_ids: ids,
  }),
);
export type CapabilityConfigWire = Static<typeof capabilityConfig>;

/** The names for its ids. */
export const capabilityNames = named(
  'CapabilityNames',
  object({ mcp_servers: names, skills: names, plugins: names, subagents: names }),
);
export type CapabilityNamesWire = Static<typeof capabilityNames>;

const MAX_CHOSEN = 200;
const references = nullish(array(anyOf('must be a string', integer(), line({ max: 256 })), { max: MAX_CHOSEN }));

/** What an administrator chooses for a key: ids or names; null gives a field back to the defaults. */
export const capabilityChoice = named(
  'CapabilityChoice',
  object(
    {
      browser_enabled: nullish(boolean),
      mcp_server_ids: references,
      skill_ids: references,
      connector_connection_ids: nullish(array(uuid, { max: MAX_CHOSEN })),
      plugin_ids: references,
      subagent_ids: references,
    },
    { closed: true },
  ),
);
export type CapabilityChoiceWire = Static<typeof capabilityChoice>;
