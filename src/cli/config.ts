// `errand config`: what is set, where it comes from, and whether it is right. Needs no daemon.
import type { Command } from 'commander';
import { formatProblem, type Problem } from '../catalog/problem.ts';
import { describeSettings, type SettingRow } from '../config.ts';
import { checkConfiguration, requireConfiguration } from './configuration.ts';
import { act, type Context } from './context.ts';
import { CommandError } from './exit-codes.ts';
import type { Io } from './io.ts';
import type { Column } from './output.ts';

const VALUES: readonly Column<SettingRow>[] = [
  { name: 'setting', value: (row) => row.name },
  { name: 'value', value: ({ value }) => (typeof value === 'object' ? listed(value) : value) },
];

/** A list in one cell, without what is not set. */
function listed(value: readonly unknown[]): string {
  return JSON.stringify(value, (_, part: unknown) => (part === null ? undefined : part));
}

const ORIGINS: readonly Column<SettingRow>[] = [
  ...VALUES,
  { name: 'origin', value: (row) => row.origin },
  { name: 'source', value: (row) => row.source },
];

/** Adds the noun and its verbs. */
export function addConfig(program: Command, io: Io): void {
  const config = program
    .command('config')
    .summary('settings')
    .description('The settings that a daemon started here would have. Asks no daemon.');

  config
    .command('show')
    .description('Show every setting in force.')
    .option('--origin', 'also tell whether flag, environment, file or default gave it')
    .addHelpText('after', '\nExample:\n  errand config show --origin --config-dir /etc/errand')
    .action(act(io, show));

  config
    .command('check')
    .description('Check every file of the config directory and the environment; exits with 78 when there is a problem.')
    .action(act(io, check));
}

async function show(context: Context, { origin }: { readonly origin?: true }): Promise<void> {
  const rows = describeSettings((await requireConfiguration(context)).config);
  const entries = rows.map((row) => [
    row.name,
    origin ? { value: row.value, origin: row.origin, source: row.source } : row.value,
  ]);
  context.out.list(rows, origin ? ORIGINS : VALUES, Object.fromEntries(entries));
}

async function check(context: Context): Promise<void> {
  const checked = await checkConfiguration(context);
  const problems = checked.ok ? [] : checked.problems;
  if (context.out.format === 'json') context.out.json({ ok: checked.ok, problems });
  else if (checked.ok) context.out.text(`The configuration in ${context.places.configDir} is right.\n`);
  else context.out.text(problems.map(lineOf).join(''));
  if (!checked.ok) throw new CommandError('badConfiguration', '');
}

const lineOf = (problem: Problem) => `${formatProblem(problem)}\n`;
