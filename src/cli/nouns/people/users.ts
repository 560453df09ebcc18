// `errand users`: the people on whose behalf agents work.
import { type Command, Option } from 'commander';
import { MB } from '../../../domain/byte-units.ts';
import type { PasswordWire, UserChangeWire, UserWire } from '../../../wire/people/user.ts';
import type { Role } from '../../../domain/people/user.ts';
import { notEmpty, orNull } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { addLeave } from './leave.ts';
import { addImport } from './import/import-users.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { confirm, readSecret } from '../../frame/standard-input.ts';

const DISABLED: Column<UserWire> = {
  name: 'disabled',
  worth: 7,
  value: (user) => user.disabled,
  style: (user) => (user.disabled ? 'red' : undefined),
};

const IN_A_LIST: readonly Column<UserWire>[] = [
  field('user_id', 3),
  field('username', 9),
  field('full_name', 6),
  field('department', 2),
  field('role', 5),
  field('team', 4),
  DISABLED,
];

const ALONE: readonly Column<UserWire>[] = [
  ...IN_A_LIST,
  field('functional_role'),
  field('scenario'),
  column('workspaces_mb', (user) => (user.workspace_bytes / MB).toFixed(1)),
  field('created_at'),
  field('updated_at'),
];

interface FieldOptions {
  readonly fullName?: string;
  readonly department?: string;
  readonly role?: Role;
  readonly team?: string;
  readonly scenario?: string;
}

interface PasswordOptions {
  readonly passwordStdin?: true;
}

/** Adds the noun and its verbs. */
export function addUsers(program: Command, io: Io): void {
  const users = program.command('users').summary('people').description('The people on whose behalf agents work.');

  withFields(
    users
      .command('create <name>')
      .description('Create a user. Without --password-stdin, a password is generated and shown once.'),
  )
    .option('--password-stdin', 'read the password from standard input')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(act(io, create));

  addImport(users, io);

  users
    .command('list')
    .description('List all users.')
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().users.list();
        out.list(list.items, IN_A_LIST, list);
      }),
    );

  users
    .command('show <user>')
    .description('Show one user, by name or id.')
    .action(act(io, async (context, ref: string) => showUser(context, await context.client().users.get(ref))));

  withFields(users.command('set <user>').description('Change a user, by name or id. Other fields stay as they are.'))
    .addHelpText('after', SET_EXAMPLES)
    .action(
      act(io, async (context, ref: string, options: FieldOptions) => {
        const fields = fieldsOf(options);
        if (Object.keys(fields).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
        showUser(context, await context.client().users.change(ref, fields));
      }),
    );

  users
    .command('disable <user>')
    .description(
      'Disable a user: their keys and tokens stop working, their runs are stopped, and their pages are not public. Asks first.',
    )
    .action(act(io, disable));

  users
    .command('enable <user>')
    .description('Enable a disabled user again.')
    .action(
      act(io, async (context, ref: string) => {
        showUser(context, await context.client().users.change(ref, { disabled: false }));
      }),
    );

  addLeave(users, io);

  users
    .command('passwd <user>')
    .description('Give a user a new password. Without --password-stdin, one is generated and shown once.')
    .option('--password-stdin', 'read the password from standard input')
    .addHelpText('after', '\nExample:\n  errand users passwd alice --password-stdin < password.txt')
    .action(act(io, setPassword));
}

const CREATE_EXAMPLES = `
Examples:
  errand users create alice --full-name "Alice Doe" --department Research
  errand users create bob --role admin --password-stdin < password.txt`;

const SET_EXAMPLES = `
Examples:
  errand users set alice --team Research
  errand users set alice --scenario none`;

function withFields(command: Command): Command {
  return command
    .option('--full-name <text>', 'full name')
    .option('--department <text>', 'department')
    .addOption(new Option('--role <role>', 'role').choices(['admin', 'user']))
    .option('--team <team>', 'team, by name or id; "none" for no team', notEmpty)
    .option('--scenario <name>', 'model configuration; "none" for the default', notEmpty);
}

/** Commander's options also contain the flags of the whole program; only these go to the daemon. */
function fieldsOf({ fullName, department, role, team, scenario }: FieldOptions): UserChangeWire {
  return {
    ...(fullName !== undefined && { full_name: fullName }),
    ...(department !== undefined && { department }),
    ...(role !== undefined && { role }),
    ...(team !== undefined && { team: orNull(team) }),
    ...(scenario !== undefined && { scenario: orNull(scenario) }),
  };
}

async function create(context: Context, name: string, options: FieldOptions & PasswordOptions): Promise<void> {
  const { team, scenario, ...others } = fieldsOf(options);
  const user = await context.client().users.create({
    username: notEmpty(name),
    ...others,
    // A new user has none, so there is nothing to clear.
    ...(typeof team === 'string' && { team }),
    ...(typeof scenario === 'string' && { scenario }),
    ...(options.passwordStdin && { password: await readSecret(context, '--password-stdin') }),
  });
  showUser(context, user);
}

async function disable(context: Context, ref: string): Promise<void> {
  const { users } = context.client();
  await confirm(context, async () => `Disable ${(await users.get(ref)).username} and all their keys?`);
  showUser(context, await users.change(ref, { disabled: true }));
}

async function setPassword(context: Context, ref: string, options: PasswordOptions): Promise<void> {
  const password = options.passwordStdin && (await readSecret(context, '--password-stdin'));
  const answer = await context.client().users.setPassword(ref, password);
  context.out.record(answer, withPassword<PasswordWire>([field('user_id'), field('username')], answer), answer);
  hintOnce(context, answer.password);
}

function showUser(context: Context, user: UserWire): void {
  context.out.record(user, withPassword(ALONE, user), user);
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
