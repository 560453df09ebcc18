// `errand keys`: the API keys that programs use.
import type { Command } from 'commander';
import { refusalStatusOf } from '../../../client/transport/client-error.ts';
import type { Client } from '../../../client/client.ts';
import { KEY_SCOPES } from '../../../domain/people/user.ts';
import { type Column, column } from '../../../terminal/columns.ts';
import type { KeyChangeWire, KeyWire } from '../../../wire/people/key.ts';
import { duration, notEmpty, uuid } from '../../frame/arguments.ts';
import { CAPABILITIES } from '../../frame/capability-options.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { fieldTable } from '../../frame/field-table.ts';
import type { Io } from '../../frame/io.ts';
import { OF_USER } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice, type Given, group, option, required } from '../../frame/options.ts';

/** Fewer characters are not taken for the start of an id. */
const MIN_ID_START = 4;

const { inAList, alone, options } = fieldTable<KeyWire, KeyChangeWire>({
  id: { worth: 9 },
  name: { worth: 8, option: option('--name <text>', 'a name that says what it is for', notEmpty) },
  username: { worth: 7 },
  scope: { worth: 5 },
  model: { worth: 2, option: option('--model <model>', 'a model of models.yaml, or "auto" for the owner\'s default') },
  target: { worth: 3, option: option('--target <target>', 'who answers: free, expert:NAME or team:NAME', notEmpty) },
  continue_by: {
    option: option(
      '--continue-by <how>',
      'what of a request names its session: header:NAME, metadata:FIELD, history (what is resent), never (each gets its own, deleted soon), or none',
      notEmpty,
    ),
  },
  expires_at: { worth: 4 },
  last_used_at: { worth: 4 },
  revoked_at: { worth: 6, style: (key) => (key.revoked_at === null ? undefined : 'red') },
  user_id: {},
  project_id: {},
  last_four: {},
  created_at: {},
});

const ALONE: readonly Column<KeyWire>[] = [
  ...alone,
  column('browser', (key) => key.capability_config.browser_enabled),
  column('mcp_servers', (key) => key.capability_names.mcp_servers.join(', ')),
  column('skills', (key) => key.capability_names.skills.join(', ')),
  column('plugins', (key) => key.capability_names.plugins.join(', ')),
  column('subagents', (key) => key.capability_names.subagents.join(', ')),
  column('connections', (key) => key.capability_config.connector_connection_ids.join(', ')),
];

const CHANGE = { ...options, capability_config: group(CAPABILITIES) };

const NEW_KEY = {
  user: required(option('--user <user>', 'the owner of the key, by name or id')),
  scope: required(choice('--scope <scope>', 'what it is allowed to do', KEY_SCOPES)),
  ...options,
  project_id: option('--project <uuid>', 'project that its sessions belong to', uuid),
  expires_in_seconds: option('--expires <duration>', 'how long it is valid, such as 30d (default: forever)', duration),
  capability_config: group(CAPABILITIES),
} satisfies OptionsFor<'keys', 'create'>;

const show = showing(ALONE);

/** Adds the noun and its verbs. */
export function addKeys(program: Command, io: Io): void {
  const keys = addNoun<KeyWire, string>(program, io, {
    name: 'keys',
    summary: 'API keys',
    description: 'The API keys that programs use.',
    one: { name: '<key>', parse: String },
    show,
  });

  keys
    .verb('create', 'Create an API key. The secret is shown once.', NEW_KEY, create)
    .addHelpText('after', CREATE_HELP);
  keys
    .on('set', 'Change a key, by id or name. Its existing sessions stay as they are.', CHANGE, change)
    .addHelpText('after', SET_HELP);
  keys.list('List API keys, without their secrets.', { user: OF_USER }, inAList, (client, { user }) =>
    client.keys.list(user),
  );
  keys.show('Show one key, by id or name, without its secret.', findKey);
  keys.confirmed('revoke', 'Revoke a key permanently, by id or name. Asks first.', {
    find: findKey,
    question: (key) => `Revoke key ${key.id} (${key.name || 'no name'}) of ${key.username}?`,
    work: async (client, { id }) => client.keys.revoke(id),
    show,
  });
}

async function create({ client, out }: Context, given: Given<typeof NEW_KEY>): Promise<void> {
  const key = await client().keys.create(given);
  out.record(key, [column('key', (row) => row.key), ...ALONE], key);
  out.hint('The key is shown only now; Errand stores only a hash of it.');
}

async function change(context: Context, ref: string, given: Given<typeof CHANGE>): Promise<void> {
  if (Object.keys(given).length === 0)
    throw new CommandError('usage', 'There is nothing to change. Add --help for the options.');
  const client = context.client();
  show(context, await client.keys.change((await findKey(client, ref)).id, given));
}

const SET_HELP = `
The capabilities apply to keys with target free; an expert or a team has its own. Lists take names or ids, "none"
for nothing, and "default" for what is enabled by default.

Example:
  errand keys set laptop --mcp files,wiki --skills default --browser`;

const CREATE_HELP = `
Scopes:
  conversation  talk to the agent; nothing else
  global        the same, and access tokens for its owner (ordinary users)
  admin         the same, and the administrators' interfaces (administrators)

Examples:
  errand keys create --user alice --scope global --name laptop --expires 90d
  errand keys create --user alice --scope global --mcp files --skills reports --browser
  errand keys create --user alice --scope conversation --target expert:lawyer
  export ERRAND_API_KEY=$(errand keys create --user alice --scope global -o json | jq -r .key)`;

/** A key by its id, by its name, or by the start of its id; if several keys have the name, the one that is not revoked. */
async function findKey(client: Client, ref: string): Promise<KeyWire> {
  const byId = await client.keys.get(ref).catch((error: unknown) => {
    if (refusalStatusOf(error) === 404) return undefined;
    throw error;
  });
  if (byId !== undefined) return byId;
  const keys = (await client.keys.list()).items;
  const named = keys.filter((key) => key.name === ref);
  const active = named.filter((key) => key.revoked_at === null);
  const begun = ref.length < MIN_ID_START ? [] : keys.filter((key) => key.id.startsWith(ref));
  const [key, ...others] = [active, named, begun].find((found) => found.length > 0) ?? [];
  if (key === undefined) throw new CommandError('notFound', `There is no key with the id or name ${ref}.`);
  if (others.length === 0) return key;
  const ids = [key, ...others].map(({ id }) => id).join(', ');
  const what = key.name === ref ? 'the name' : 'an id that begins with';
  throw new CommandError('conflict', `Several keys have ${what} ${ref}. Use one of their ids: ${ids}`);
}
