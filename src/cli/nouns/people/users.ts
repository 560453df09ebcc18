// `errand users`: the people on whose behalf agents work.
import type { Command } from 'commander';
import { MB } from '../../../domain/byte-units.ts';
import type { PasswordWire, UserChangeWire, UserWire } from '../../../wire/people/user.ts';
import { defined } from '../../../domain/defined.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { fieldTable } from '../../frame/field-table.ts';
import type { Io } from '../../frame/io.ts';
import { addNoun } from '../../frame/noun.ts';
import { choice, clearable, flag, type Given, option, perform } from '../../frame/options.ts';
import { confirm, readSecret } from '../../frame/standard-input.ts';
import { addLeave } from './leave.ts';
import { addImport } from './import/import-users.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const { inAList, alone, options } = fieldTable<UserWire, UserChangeWire>({
  user_id: { worth: 3 },
  username: { worth: 9 },
  full_name: { worth: 6, option: option('--full-name <text>', 'full name') },
  department: { worth: 2, option: option('--department <text>', 'department') },
  role: { worth: 5, option: choice('--role <role>', 'role', ['admin', 'user']) },
  team: { worth: 4, option: clearable('--team <team>', 'team, by name or id; "none" for no team') },
  disabled: { worth: 7, style: (user) => (user.disabled ? 'red' : undefined) },
  functional_role: {},
  scenario: { option: clearable('--scenario <name>', 'model configuration; "none" for the default') },
  workspace_bytes: { called: 'workspaces_mb', value: (user) => (user.workspace_bytes / MB).toFixed(1) },
  created_at: {},
  updated_at: {},
});

const PASSWORD = { passwordStdin: flag('--password-stdin', 'read the password from standard input') };
const NEW_USER = { ...options, ...PASSWORD };

/** Adds the noun and its verbs. */
export function addUsers(program: Command, io: Io): void {
  const users = addNoun<UserWire, string>(program, io, {
    name: 'users',
    summary: 'people',
    description: 'The people on whose behalf agents work.',
    one: { name: '<user>', parse: String },
    show: showUser,
  });

  perform(users.command.command('create <name>'), io, NEW_USER, create)
    .description('Create a user. Without --password-stdin, a password is generated and shown once.')
    .addHelpText('after', CREATE_EXAMPLES);
  addImport(users.command, io);
  users.list('List all users.', {}, inAList, (client) => client.users.list());
  users.show('Show one user, by name or id.', (client, ref) => client.users.get(ref));
  users
    .set('Change a user, by name or id. Other fields stay as they are.', options, (client, ref, fields) =>
      client.users.change(ref, fields),
    )
    .addHelpText('after', SET_EXAMPLES);
  users.on('disable', ABOUT_DISABLE, {}, disable);
  users.on('enable', 'Enable a disabled user again.', {}, async (context, ref) =>
    showUser(context, await context.client().users.change(ref, { disabled: false })),
  );
  addLeave(users.command, io);
  users
    .on('passwd', ABOUT_PASSWORD, PASSWORD, setPassword)
    .addHelpText('after', '\nExample:\n  errand users passwd alice --password-stdin < password.txt');
}

const CREATE_EXAMPLES = `
Examples:
  errand users create alice --full-name "Alice Doe" --department Research
  errand users create bob --role admin --password-stdin < password.txt`;

const SET_EXAMPLES = `
Examples:
  errand users set alice --team Research
  errand users set alice --scenario none`;

const ABOUT_DISABLE =
  'Disable a user: their keys and tokens stop working, their runs are stopped, and their pages are not public. Asks first.';
const ABOUT_PASSWORD = 'Give a user a new password. Without --password-stdin, one is generated and shown once.';

async function create(context: Context, name: string, given: Given<typeof NEW_USER>): Promise<void> {
  const { passwordStdin, team, scenario, ...fields } = given;
  const password = passwordStdin && (await readSecret(context, '--password-stdin'));
  // A new user has no team and no scenario, so there is nothing to clear.
  const others = defined({ team: team ?? undefined, scenario: scenario ?? undefined, password });
  showUser(context, await context.client().users.create({ username: notEmpty(name), ...fields, ...others }));
}

async function disable(context: Context, ref: string): Promise<void> {
  const { users } = context.client();
  await confirm(context, async () => `Disable ${(await users.get(ref)).username} and all their keys?`);
  showUser(context, await users.change(ref, { disabled: true }));
}

async function setPassword(context: Context, ref: string, given: Given<typeof PASSWORD>): Promise<void> {
  const password = given.passwordStdin && (await readSecret(context, '--password-stdin'));
  const answer = await context.client().users.setPassword(ref, password);
  context.out.record(answer, withPassword<PasswordWire>([field('user_id'), field('username')], answer), answer);
  hintOnce(context, answer.password);
}

function showUser(context: Context, user: UserWire): void {
  context.out.record(user, withPassword(alone, user), user);
  hintOnce(context, user.password);
}

function withPassword<T extends { readonly password?: string }>(
  columns: readonly Column<T>[],
  thing: T,
): readonly Column<T>[] {
  return thing.password === undefined ? columns : [...columns, column('password', (row) => row.password)];
}

function hintOnce({ out }: Context, password: string | undefined): void {
  if (password !== undefined) out.hint('The password is shown only now; Errand stores only a hash of it.');
}
