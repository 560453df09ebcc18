// `errand office`: all runs, live on a terminal, or as one table; or a link for a browser.
import type { ReadStream, WriteStream } from 'node:tty';
import { type Command, InvalidArgumentError } from 'commander';
import type { Client } from '../../../client/client.ts';
import type { EntityWire, SnapshotWire } from '../../../client/office.ts';
import { preferProductionBuilds } from '../../../config/environment.ts';
import { compact } from '../../../domain/figures.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { formatDuration } from '../../../terminal/durations.ts';
import { money } from '../../../terminal/money.ts';
import { idOrStart } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { always, flag, type Given, option, perform } from '../../frame/options.ts';
import type { Output } from '../../frame/output.ts';

const COLUMNS: readonly Column<EntityWire>[] = [
  field('run_id', 6),
  state('status', ({ status }) => (status === 'idle' ? 'stopped' : status), 9),
  column('progress', ({ progress }) => `${progress}%`, 5),
  field('username', 8),
  field('team_name', 4),
  column('elapsed', ({ elapsed_seconds: seconds }) => formatDuration(seconds), 7),
  field('total_tokens', 2),
  field('total_cost_usd', 3),
  field('title', 9),
  column('detail', ({ detail, last_error: error }) => error ?? detail, 8),
];

const optionsOf = (zone: string) => ({
  once: flag('--once', 'print the runs as a table, and end; with -o json, the whole snapshot'),
  web: flag('--web', 'print a link that shows this in a browser, once and within 5 minutes'),
  endWeb: flag('--end-web', 'log out all browsers, and end the links that nobody has opened'),
  team: option('--team <team>', 'only the runs of this team, by id or name'),
  session: option('--session <id>', 'open this session; with --once, only its runs', idOrStart),
  tz: always(option('--tz <zone>', 'time zone whose day "today" is', timeZone), zone, zone),
  interval: always(option('--interval <seconds>', 'how often all figures are read again', interval), 5, '5'),
});
type Options = Given<ReturnType<typeof optionsOf>>;

/** Adds the command. */
export function addOffice(program: Command, io: Io): void {
  const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  perform(program.command('office'), io, optionsOf(ownZone), showOffice)
    .summary('watch every run, live')
    .description(
      'Show who works on what, how far it is and what it costs, as it happens. With --url it takes a key of scope admin.',
    )
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Keys are listed by "?". The view only reads.

Examples:
  errand office --team Research
  errand office --once -o json
  errand office --web
  errand office --url https://errand.example --token-file admin.key`;

async function showOffice(context: Context, options: Options): Promise<void> {
  const { io, out } = context;
  if (options.endWeb) return endLogins(context, options);
  if (options.web) return printLink(context, options);
  if (options.once || out.format === 'json') return printOnce(context, options);
  if (!io.terminal.stdin || !io.terminal.stdout) {
    throw new CommandError('usage', 'The live view needs a terminal. Add --once to print the runs as a table.');
  }
  const client = context.client();
  const { session, team } = await wholeIds(client, options);
  const { teams } = await noticed(out, client.office.snapshot({ limit: 1, tz: options.tz }));
  // Ink and React are only loaded for this view: other commands start faster without them.
  preferProductionBuilds();
  const { runOffice } = await import('../../../tui/office.ts');
  await runOffice({
    client,
    // They are a terminal's: checked above.
    stdin: io.stdin as ReadStream,
    stdout: io.stdout as WriteStream,
    environment: io.environment,
    teamId: team === undefined ? null : teamOf(teams, team).id,
    sessionId: session ?? null,
    tz: options.tz,
    intervalMs: options.interval * 1000,
    signal: context.signal,
  });
  context.signal.throwIfAborted();
}

/** Only what is asked for stands on stdout: `xdg-open "$(errand office --web)"`. */
async function printLink({ client, out }: Context, { once, team, session }: Options): Promise<void> {
  if (once || team !== undefined || session !== undefined)
    throw new CommandError(
      'usage',
      '--web goes with none of --once, --team and --session: they are chosen in the browser.',
    );
  const link = await client().office.createLink();
  if (out.format === 'json') return out.json(link);
  out.text(`${link.url}\n`);
  out.hint('It logs one browser in to Office Mode for 8 hours, if it is opened within 5 minutes. Keep it to yourself.');
}

async function endLogins({ client, out }: Context, { once, web, team, session }: Options): Promise<void> {
  if (once || web || team !== undefined || session !== undefined)
    throw new CommandError(
      'usage',
      '--end-web goes with no other option of the view: it ends the log-ins of all browsers.',
    );
  const done = await client().office.endLogins();
  if (out.format === 'json') return out.json(done);
  out.hint(`${done.ended === 1 ? '1 log-in was' : `${done.ended} log-ins were`} ended.`);
}

const SLOW_MS = 1000;

/** An answer, with a line on stderr when it takes long: the view opens only once the daemon has answered. */
async function noticed<T>(out: Output, answer: Promise<T>): Promise<T> {
  const timer = setTimeout(() => out.hint('Waiting for the daemon…'), SLOW_MS);
  return answer.finally(() => clearTimeout(timer));
}

async function printOnce(context: Context, { tz, ...options }: Options): Promise<void> {
  const { out } = context;
  const client = context.client();
  const { session, team } = await wholeIds(client, options);
  const snapshot = await client.office.snapshot({ limit: 96, tz });
  const teamId = team === undefined ? undefined : teamOf(snapshot.teams, team).id;
  const rows = snapshot.entities.filter(
    (entity) =>
      (teamId === undefined || entity.team_id === teamId) && (session === undefined || entity.session_id === session),
  );
  // One that isn't there is an error, rather than a session without runs of today.
  if (session !== undefined && rows.length === 0) await client.sessions.get(session);
  out.list(rows, COLUMNS, snapshot);
  if (out.format !== 'json') out.hint(summaryOf(snapshot));
}

/** What was given by the start of its id, by its id. */
async function wholeIds(client: Client, { session, team }: Pick<Options, 'session' | 'team'>) {
  return { session: await client.wholeId('sessions', session), team: await client.wholeId('teams', team) };
}

function summaryOf({ overview }: SnapshotWire): string {
  const { running, pending, completed, failed, idle, total_cost_usd: cost, total_tokens: tokens } = overview;
  const counts = `${running} running, ${pending} pending, ${completed} completed, ${failed} failed, ${idle} stopped`;
  return `${counts}; today ${money(cost)} and ${compact(tokens)} tokens.`;
}

function teamOf(teams: SnapshotWire['teams'], ref: string): SnapshotWire['teams'][number] {
  const team = teams.find(({ id }) => id === ref) ?? teams.find(({ name }) => name.toLowerCase() === ref.toLowerCase());
  if (team === undefined) throw new CommandError('notFound', `There is no team ${ref}.`);
  return team;
}

function timeZone(text: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text }).format();
    return text;
  } catch {
    throw new InvalidArgumentError('It must be an IANA time zone such as Europe/Berlin.');
  }
}

function interval(text: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds from 1 to 3600.');
}
