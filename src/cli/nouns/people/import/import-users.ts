// `errand users import`: makes users be as a CSV file says, all of it checked before anything is done.
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Client } from '../../../../client/client.ts';
import { defined } from '../../../../domain/defined.ts';
import type { PlannedUserWire, WantedUserWire } from '../../../../wire/people/user-import.ts';
import { duration, notEmpty } from '../../../frame/arguments.ts';
import type { Context } from '../../../frame/context.ts';
import { CommandError } from '../../../frame/exit-codes.ts';
import type { Io } from '../../../frame/io.ts';
import { always, choice, flag, type Given, option, perform } from '../../../frame/options.ts';
import { type Column, column, field } from '../../../../terminal/columns.ts';
import { makeProgressBar } from '../../../terminal/progress.ts';
import { type CredentialsFile, openCredentialsFile } from './credentials-file.ts';
import { type LineProblem, type ReadUser, readUsers } from './read-users.ts';

/** What became of a line, or would. */
interface Outcome {
  readonly line: number;
  readonly username: string;
  readonly result: 'created' | 'changed' | 'unchanged';
  readonly fields: readonly string[];
  /** The id of a new key; `new` before there is one. */
  readonly key: string | null;
}

const COLUMNS: readonly Column<Outcome>[] = [
  field('line', 3),
  field('username', 9),
  field('result', 8),
  column('fields', ({ fields }) => fields.join(', '), 5),
  field('key', 4),
];

const OPTIONS = {
  dryRun: flag('--dry-run', 'check the file, and show what would be done'),
  credentials: option('--credentials <file>', 'a new file for the passwords and keys that are made', notEmpty),
  keys: choice('--keys <scope>', 'make a key for everybody who has none of its name', ['conversation', 'global']),
  keyName: always(option('--key-name <text>', 'the name of these keys', notEmpty), 'imported'),
  expires: option('--expires <duration>', 'how long these keys are valid, such as 30d (default: forever)', duration),
};
type Options = Given<typeof OPTIONS>;

/** Adds the verb. */
export function addImport(users: Command, io: Io): void {
  perform(users.command('import <file>'), io, OPTIONS, importUsers)
    .description(
      'Make users be as a CSV file says: those that are missing are created, others changed where they differ. ' +
        'If a line is wrong, nothing is done.',
    )
    .addHelpText('after', HELP);
}

const HELP = `
The first line names the columns: username, and any of full_name, department, role, team, scenario. An empty cell leaves
its field as it is; "none" clears team and scenario. Cells are separated by commas, semicolons or tabs; the file is UTF-8.

Each user that is created gets a password. With --credentials it is written to a new file that only you can read; without,
nobody knows it, which suits people who log in by single sign-on or use keys.

Examples:
  errand users import people.csv --dry-run
  errand users import people.csv --credentials credentials.csv --keys global --expires 365d`;

async function importUsers(context: Context, file: string, options: Options): Promise<void> {
  if (options.keys !== undefined && options.credentials === undefined && options.dryRun !== true)
    throw new CommandError('usage', 'Keys are shown once: name a file for them with --credentials.');
  const { users, problems } = readUsers(file);
  refuse(context, file, problems);
  const client = context.client();
  const plan = await client.users.planImport({
    users: users.map(({ user }) => user),
    ...(options.keys && { key_name: options.keyName }),
  });
  refuse(
    context,
    file,
    plan.problems.map(({ row, field: name, message }) => ({ line: users[row]!.line, column: name, message })),
  );
  const steps = users.map((read, row) => stepOf(read, plan.users[row]!, options));
  const outcomes = options.dryRun ? steps.map(({ outcome }) => outcome) : await carryOut(context, steps, options);
  const count = (result: Outcome['result']) => outcomes.filter((one) => one.result === result).length;
  const keys = outcomes.filter(({ key }) => key !== null).length;
  context.out.list(outcomes, COLUMNS, { dry_run: options.dryRun === true, users: outcomes });
  const words = `${count('created')} created, ${count('changed')} changed, ${count('unchanged')} unchanged, ${keys} keys.`;
  context.out.hint(options.dryRun ? `Nothing was done. It would be: ${words}` : words);
}

/** Throws `usage` after a line for each problem. */
function refuse({ out }: Context, file: string, problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  for (const { line, column: name, message } of problems)
    out.hint(name === null ? `${file}:${line}: ${message}` : `${file}:${line}: ${name}: ${message}`);
  throw new CommandError('usage', `Nothing was done: ${problems.length} lines or cells of ${file} are wrong.`);
}

/** A line, and what is done for it. */
interface ImportStep {
  readonly planned: PlannedUserWire;
  readonly user: WantedUserWire;
  readonly makesKey: boolean;
  readonly outcome: Outcome;
}

const RESULTS = { create: 'created', change: 'changed', none: 'unchanged' } as const;

function stepOf({ line, user }: ReadUser, planned: PlannedUserWire, { keys }: Options): ImportStep {
  const makesKey = keys !== undefined && !planned.has_key && !planned.disabled;
  const { username } = user;
  const outcome = { line, username, result: RESULTS[planned.action], fields: planned.fields, key: null };
  return { planned, user, makesKey, outcome: makesKey ? { ...outcome, key: 'new' } : outcome };
}

/** One after another, so that whatever ends this leaves whole users, and the same file continues. */
async function carryOut(context: Context, steps: readonly ImportStep[], options: Options): Promise<Outcome[]> {
  const credentials = options.credentials === undefined ? null : openCredentialsFile(options.credentials);
  const bar = makeProgressBar(context.io);
  const outcomes: Outcome[] = [];
  try {
    for (const step of steps) {
      bar.show('Importing', outcomes.length, steps.length);
      outcomes.push(await settle(context.client(), step, options, credentials));
    }
  } catch (error) {
    const same = `The same command${hasFile(options) ? ' with another file for --credentials' : ''} continues.`;
    context.out.hint(`${outcomes.length} of ${steps.length} users are done. ${same}`);
    throw error;
  } finally {
    bar.end();
    credentials?.close();
  }
  return outcomes;
}

/** It is never replaced: what it holds can't be shown again. */
const hasFile = ({ credentials }: Options) => credentials !== undefined && existsSync(credentials);

async function settle(
  client: Client,
  { planned, user, makesKey, outcome }: ImportStep,
  { keys, keyName, expires }: Options,
  credentials: CredentialsFile | null,
): Promise<Outcome> {
  const { username, team, scenario, ...fields } = user;
  if (planned.action === 'change') {
    await client.users.change(planned.user_id!, { ...fields, ...defined({ team, scenario }) });
  }
  const created = planned.action === 'create' ? await client.users.create(user) : undefined;
  const password = created?.password;
  if (password !== undefined && !makesKey) credentials?.add(username, password, undefined);
  if (!makesKey) return outcome;
  const key = await client.keys
    .create({
      // By the id: a username may look like that of somebody else.
      user: created?.user_id ?? planned.user_id!,
      scope: keys!,
      name: keyName,
      ...defined({ expires_in_seconds: expires }),
    })
    .catch((error: unknown) => {
      if (password !== undefined) credentials?.add(username, password, undefined);
      throw error;
    });
  credentials?.add(username, password, key.key);
  return { ...outcome, key: key.id };
}
