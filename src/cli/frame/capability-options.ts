// The options that set what agents of a key with target free can use (§2.10).
import { type Command, InvalidArgumentError } from 'commander';
import type { CapabilityChoiceWire } from '../../wire/capabilities/capability.ts';
import { idOrStart } from './arguments.ts';

/** The options as commander reads them. */
export interface CapabilityOptions {
  /** False with `--no-browser`. */
  readonly browser?: boolean;
  readonly mcp?: readonly string[];
  readonly skills?: readonly string[];
  readonly plugins?: readonly string[];
  readonly subagents?: readonly string[];
  readonly connections?: readonly string[];
}

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

/** Adds the options to a command. */
export function addCapabilityOptions(command: Command): Command {
  return command
    .option('--browser', 'agents can use the browser')
    .option('--no-browser', 'agents cannot use the browser')
    .option('--mcp <names>', 'MCP servers that agents can use, separated by commas', list)
    .option('--skills <names>', 'skills that agents can use', list)
    .option('--plugins <names>', 'plugins that agents can use', list)
    .option('--subagents <names>', 'experts that agents can delegate to', list)
    .option('--connections <ids>', "connections of the key's owner that agents can use", ids);
}

/** What the given options ask for, without fields for other options. */
export function capabilityChoiceOf(options: CapabilityOptions): CapabilityChoiceWire {
  return {
    ...(options.browser !== undefined && { browser_enabled: options.browser }),
    ...(options.mcp && { mcp_server_ids: orDefault(options.mcp) }),
    ...(options.skills && { skill_ids: orDefault(options.skills) }),
    ...(options.plugins && { plugin_ids: orDefault(options.plugins) }),
    ...(options.subagents && { subagent_ids: orDefault(options.subagents) }),
    ...(options.connections && {
      connector_connection_ids: options.connections.includes(BY_DEFAULT) ? null : options.connections,
    }),
  };
}

/** Names unchanged, ids as numbers; null for the default. */
function orDefault(items: readonly string[]): (string | number)[] | null {
  return items.length === 1 && items[0] === BY_DEFAULT
    ? null
    : items.map((item) => (/^\d{1,15}$/.test(item) ? Number(item) : item));
}
