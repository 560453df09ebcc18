// The options that set what agents of a key with target free can use (§2.10).
import { InvalidArgumentError } from 'commander';
import type { CapabilityChoiceWire } from '../../wire/capabilities/capability.ts';
import { idOrStart } from './arguments.ts';
import { converted, option, type OptionsOf, toggle } from './options.ts';

const NOTHING = 'none';
/** What is enabled by default. Commander would turn a null into '', so null comes only at the end. */
const BY_DEFAULT = 'default';

/** Names separated by commas; `none` is an empty list. */
function list(text: string): readonly string[] {
  if (text === NOTHING) return [];
  const items = text.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('It must be names separated by commas, none or default.');
  return items;
}

const ids = (text: string) => list(text).map((item) => (item === BY_DEFAULT ? item : idOrStart(item)));

/** Names unchanged, ids as numbers; null for the default. */
function orDefault(items: readonly string[]): (string | number)[] | null {
  return items.length === 1 && items[0] === BY_DEFAULT
    ? null
    : items.map((item) => (/^\d{1,15}$/.test(item) ? Number(item) : item));
}

const names = (flags: string, help: string) => converted(option(flags, help, list), orDefault);

export const CAPABILITIES: OptionsOf<CapabilityChoiceWire> = {
  browser_enabled: toggle('--browser', 'agents can use the browser', 'agents cannot use the browser'),
  mcp_server_ids: names('--mcp <names>', 'MCP servers that agents can use, separated by commas'),
  skill_ids: names('--skills <names>', 'skills that agents can use'),
  plugin_ids: names('--plugins <names>', 'plugins that agents can use'),
  subagent_ids: names('--subagents <names>', 'experts that agents can delegate to'),
  connector_connection_ids: converted(
    option('--connections <ids>', "connections of the key's owner that agents can use", ids),
    (given) => (given.includes(BY_DEFAULT) ? null : given),
  ),
};
