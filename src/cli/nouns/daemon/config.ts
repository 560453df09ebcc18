// `errand config`: the settings, where they come from, and whether they are valid.
import type { Command } from 'commander';
import { formatProblem, type Problem } from '../../../catalog/reading/problem.ts';
import { isClientFailure } from '../../../client/transport/client-error.ts';
import type { ConfigurationWire } from '../../../wire/status.ts';
import { MOST_LOST_PINS } from '../../../domain/capabilities/pin.ts';
import { wordsOfMore, wordsOfPin } from '../../../operations/capabilities/pins.ts';
import type { LostPinsWire } from '../../../wire/capabilities/pin.ts';
import { describeSettings } from '../../../config/config.ts';
import { noSuchSetting } from '../../../config/setting-texts.ts';
import { checkConfiguration, requireConfiguration } from '../../frame/configuration.ts';
import { act, type Context } from '../../frame/context.ts';
import { lostPinsBy } from './checked-pins.ts';
import { addConfigSet } from './config-set.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column } from '../../../terminal/columns.ts';

type Row = ConfigurationWire['settings'][number];

const VALUES: readonly Column<Row>[] = [
  column('setting', (row) => row.name, 9),
  column('value', ({ value }) => (typeof value === 'string' ? value : listed(value)), 8),
];

/** Numbers, true, false, and lists in one cell without what is not set. */
function listed(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (part === null ? undefined : part));
}

const ORIGINS: readonly Column<Row>[] = [
  ...VALUES,
  column('origin', (row) => row.origin, 4),
  column('source', (row) => row.source, 3),
];

/** Adds the noun and its verbs. */
export function addConfig(program: Command, io: Io): void {
  const config = program.command('config').summary('settings').description(ABOUT);

  config
    .command('show [setting]')
    .description('Show every setting in effect, or one of them or a group, such as "limits".')
    .option('--origin', 'also show where it comes from: flag, environment, file or default')
    .addHelpText('after', '\nExamples:\n  errand config show --origin\n  errand config show streams.drain_seconds')
    .action(act(io, show));

  config
    .command('check')
    .description('Check every file of the config directory, and the environment. Exits with 78 if there is a problem.')
    .option('--files', 'read the files as this version of the command does, and ask no daemon')
    .addHelpText('after', '\nExample:\n  errand config check --config-dir /etc/errand')
    .action(act(io, check));

  addConfigSet(config, io);
}

const ABOUT =
  'The settings of the running daemon, which knows its own paths and credentials. If no daemon is running, or --config-dir ' +
  'names a different directory: the settings that a daemon started here would have.';

async function show(context: Context, name: string | undefined, { origin }: { readonly origin?: true }): Promise<void> {
  const asked = await askDaemon(context);
  const all: readonly Row[] = asked?.settings ?? describeSettings((await requireConfiguration(context)).config);
  const rows = name === undefined ? all : all.filter((row) => row.name === name || row.name.startsWith(`${name}.`));
  if (name !== undefined && rows.length === 0)
    throw new CommandError(
      'usage',
      noSuchSetting(
        name,
        all.map((row) => row.name),
      ),
    );
  const entries = rows.map((row) => [
    row.name,
    origin ? { value: row.value, origin: row.origin, source: row.source } : row.value,
  ]);
  context.out.list(rows, origin ? ORIGINS : VALUES, Object.fromEntries(entries));
}

/** What was checked, and the result. */
interface Look {
  readonly source: 'daemon' | 'files';
  readonly configDir: string;
  readonly problems: readonly Problem[];
  /** Null when nobody could be asked. */
  readonly pins: LostPinsWire | null;
  /** References to credentials that only the service can read. */
  readonly unresolved: readonly string[];
}

async function check(context: Context, { files = false }: { readonly files?: boolean }): Promise<void> {
  const asked = files ? null : await askDaemon(context);
  const look: Look =
    asked === null
      ? await lookAtFiles(context, files)
      : { source: 'daemon', configDir: asked.config_dir, problems: asked.problems, pins: asked.pins, unresolved: [] };
  showLook(context, look, files);
  if (look.problems.length > 0) throw new CommandError('badConfiguration', '');
}

/** The answer of the daemon that the flags select; null when none is running there, or it uses a different configuration. */
async function askDaemon({ client, flags, io, locations }: Context): Promise<ConfigurationWire | null> {
  const isNamed = flags.configDir !== undefined || Boolean(io.environment['ERRAND_CONFIG_DIR']);
  try {
    const answer = await client().configuration();
    return isNamed && answer.config_dir !== locations.configDir ? null : answer;
  } catch (error) {
    const mayBeAbsent = locations.url === null && isClientFailure(error, 'unreachable');
    if (mayBeAbsent || (isNamed && isClientFailure(error, 'denied'))) return null;
    throw error;
  }
}

/** `alone`: nobody is asked whom the files concern. */
async function lookAtFiles(context: Context, alone: boolean): Promise<Look> {
  const { definedBy } = await import('../../../catalog/defined.ts');
  const { absentDirectory } = await import('../../../config/read-configuration.ts');
  const { configDir } = context.locations;
  const unresolved = new Set<string>();
  const checked = await checkConfiguration(context, unresolved);
  const problems = checked.ok ? [...absentDirectory(configDir), ...checked.problems] : checked.problems;
  const pins = checked.ok && !alone ? await lostPinsBy(context, definedBy(checked.catalog, checked.definitions)) : null;
  return { source: 'files', configDir, problems, pins, unresolved: [...unresolved] };
}

function showLook({ out, locations }: Context, look: Look, wasRequested: boolean): void {
  const { source, configDir, problems, pins, unresolved } = look;
  const ok = problems.length === 0;
  if (out.format === 'json') {
    out.json({ ok, source, config_dir: configDir, problems, pins, unresolved_credentials: unresolved });
    return;
  }
  if (ok) out.text(`The configuration in ${configDir} is valid.\n`);
  else out.text(problems.map((problem) => `${formatProblem(problem)}\n`).join(''));
  if (pins !== null && pins.total > 0) showPins(out, pins);
  if (source === 'daemon') return;
  const why = wasRequested ? '.' : `: no daemon with this configuration is listening at ${locations.socketPath}.`;
  out.hint(`Checked the files in ${configDir}${why}`);
  if (pins === null && ok && !wasRequested)
    out.hint('Who would lose what was not looked at: ask while the daemon runs, or as its user.');
  if (unresolved.length === 0) return;
  out.hint(`Only the running service can read ${unresolved.join(', ')}.`);
}

/** Whoever is pinned to what these files don't define fails at their next turn. */
function showPins({ hint }: Context['out'], pins: LostPinsWire): void {
  const what =
    pins.total === 1 ? 'One of them is' : `${pins.total === MOST_LOST_PINS ? 'At least ' : ''}${pins.total} are`;
  hint(`Keys, users and scheduled tasks keep the names that they were given. ${what} without what these files define:`);
  for (const pin of pins.pins) hint(`  ${wordsOfPin(pin)}: ${pin.command}`);
  const more = wordsOfMore(pins);
  if (more !== '') hint(`  ${more}`);
}
