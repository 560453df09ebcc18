// `errand keys`: the API keys that programs use.
import { type Command, Option } from 'commander';
import { refusalStatusOf } from '../../../client/transport/client-error.ts';
import type { Client } from '../../../client/client.ts';
import type { KeyChangeWire, KeyWire } from '../../../wire/people/key.ts';
import { KEY_SCOPES, type KeyScope } from '../../../domain/people/user.ts';
import { OF_USER, duration, notEmpty, uuid } from '../../frame/arguments.ts';
import { addCapabilityOptions, type CapabilityOptions, capabilityChoiceOf } from '../../frame/capability-options.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';

/** Fewer characters are not taken for the start of an id. */
const MIN_ID_START = 4;

const IN_A_LIST: readonly Column<KeyWire>[] = [
  field('id', 9),
  field('name', 8),
  field('username', 7),
  field('scope', 5),
  field('model', 2),
  field('target', 3),
  field('expires_at', 4),
  field('last_used_at', 4),
  {
    name: 'revoked_at',
    value: (key) => key.revoked_at,
    style: (key) => (key.revoked_at === null ? undefined : 'red'),
    worth: 6,
  },
];

const ALONE: readonly Column<KeyWire>[] = [
  ...IN_A_LIST,
  field('user_id'),
  field('project_id'),
  field('last_four'),
  field('created_at'),
  column('browser', (key) => key.capability_config.browser_enabled),
  column('mcp_servers', (key) => key.capability_names.mcp_servers.join(', ')),
  column('skills', (key) => key.capability_names.skills.join(', ')),
  column('plugins', (key) => key.capability_names.plugins.join(', ')),
  column('subagents', (key) => key.capability_names.subagents.join(', ')),
  column('connections', (key) => key.capability_config.connector_connection_ids.join(', ')),
];

interface FieldOptions extends CapabilityOptions {
  readonly name?: string;
  readonly model?: string;
  readonly target?: string;
}

interface CreateOptions extends FieldOptions {
  readonly user: string;
  readonly scope: KeyScope;
  readonly project?: string;
  readonly expires?: number;
}

/** Adds the noun and its verbs. */
export function addKeys(program: Command, io: Io): void {
  const keys = program.command('keys').summary('API keys').description('The API keys that programs use.');

  addCreate(keys, io);
  addSet(keys, io);

  keys
    .command('list')
    .description('List API keys, without their secrets.')
    .addOption(OF_USER)
    .action(
      act(io, async ({ client, out }, { user }: { readonly user?: string }) => {
        const list = await client().keys.list(user);
        out.list(list.items, IN_A_LIST, list);
      }),
    );

  keys
    .command('show <key>')
    .description('Show one key, by id or name, without its secret.')
    .action(
      act(io, async ({ client, out }, ref: string) => {
        const key = await findKey(client(), ref);
        out.record(key, ALONE, key);
      }),
    );

  keys
    .command('revoke <key>')
    .description('Revoke a key permanently, by id or name. Asks first.')
    .action(act(io, revoke));
}

const TARGET_HELP = 'who answers: free, expert:NAME or team:NAME';

function addCreate(keys: Command, io: Io): void {
  const create = keys
    .command('create')
    .description('Create an API key. The secret is shown once.')
    .requiredOption('--user <user>', 'the owner of the key, by name or id')
    .addOption(new Option('--scope <scope>', 'what it is allowed to do').choices(KEY_SCOPES).makeOptionMandatory())
    .option('--name <text>', 'a name that says what it is for', notEmpty)
    .option('--model <model>', 'a model of models.yaml, or "auto" for the owner\'s default')
    .option('--target <target>', TARGET_HELP, notEmpty)
    .option('--project <uuid>', 'project that its sessions belong to', uuid)
    .option('--expires <duration>', 'how long it is valid, such as 30d (default: forever)', duration);
  addCapabilityOptions(create)
    .addHelpText('after', CREATE_HELP)
    .action(
      act(io, async ({ client, out }, { project, expires, ...options }: CreateOptions) => {
        const key = await client().keys.create({
          user: options.user,
          scope: options.scope,
          ...fieldsOf(options),
          ...(project !== undefined && { project_id: project }),
          ...(expires !== undefined && { expires_in_seconds: expires }),
        });
        out.record(key, [column('key', (row) => row.key), ...ALONE], key);
        out.hint('The key is shown only now; Errand stores only a hash of it.');
      }),
    );
}

function addSet(keys: Command, io: Io): void {
  const set = keys
    .command('set <key>')
    .description('Change a key, by id or name. Its existing sessions stay as they are.')
    .option('--name <text>', 'a name that says what it is for', notEmpty)
    .option('--model <model>', 'a model of models.yaml, or "auto" for the owner\'s default')
    .option('--target <target>', TARGET_HELP, notEmpty);
  addCapabilityOptions(set).addHelpText('after', SET_HELP).action(act(io, change));
}

async function change(context: Context, ref: string, options: FieldOptions): Promise<void> {
  const fields = fieldsOf(options);
  if (Object.keys(fields).length === 0)
    throw new CommandError('usage', 'There is nothing to change. Add --help for the options.');
  const client = context.client();
  const changed = await client.keys.change((await findKey(client, ref)).id, fields);
  context.out.record(changed, ALONE, changed);
}

function fieldsOf({ name, model, target, ...options }: FieldOptions): KeyChangeWire {
  const choice = capabilityChoiceOf(options);
  return {
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(target !== undefined && { target }),
    ...(Object.keys(choice).length > 0 && { capability_config: choice }),
  };
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

async function revoke(context: Context, ref: string): Promise<void> {
  const client = context.client();
  const key = await findKey(client, ref);
  await confirm(context, async () => `Revoke key ${key.id} (${key.name || 'no name'}) of ${key.username}?`);
  const revoked = await client.keys.revoke(key.id);
  context.out.record(revoked, ALONE, revoked);
}

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
