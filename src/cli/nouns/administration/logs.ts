// `errand logs`: the daemon's log, from systemd's journal or a file.
import { once } from 'node:events';
import type { Command } from 'commander';
import { makeLogForPeople } from '../../../daemon/log-for-people.ts';
import { codeOf } from '../../../domain/errors.ts';
import { escapedText } from '../../../domain/escaped-text.ts';
import { asEntry, LOG_LEVELS, makeLogFilter } from '../../../log/log-filter.ts';
import { type LogLine, logLines } from '../../../log/log-lines.ts';
import { wantsColours } from '../../../terminal/colours.ts';
import { journalLines, WHO_READS } from '../../terminal/journal-lines.ts';
import { idOrStart, notEmpty, pastTime } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { nodeIn, wordsOfNode } from '../../frame/node-of.ts';
import { OF_SESSION } from '../../frame/list-options.ts';
import { always, choice, flag, type Given, option, perform } from '../../frame/options.ts';

/** What a reader who follows sees of the lines before. */
const SHOWN_BEFORE = 10;
/** Of a long file, where those lines are looked for. */
const LOOKED_AT_BYTES = 16_777_216;

const optionsOf = (io: Io) => ({
  follow: flag('-f, --follow', 'show the last lines, and those that come'),
  since: option('--since <time>', 'only lines since then: a duration such as 2h, or a time in ISO 8601', (text) =>
    timeOf(text, io),
  ),
  level: choice('--level <level>', 'only lines of this level and above', LOG_LEVELS),
  run: option('--run <id>', 'only those of this run', idOrStart),
  session: OF_SESSION,
  file: option('--file <file>', 'the file to read instead of the journal', notEmpty),
  unit: always(option('--unit <unit>', 'the unit to read in the journal', notEmpty), 'errand'),
});
type Options = Given<ReturnType<typeof optionsOf>>;

/** Adds the command. */
export function addLogs(program: Command, io: Io): void {
  perform(program.command('logs'), io, optionsOf(io), showLog)
    .summary("the daemon's log")
    .description(
      "Show the daemon's log: from the journal of systemd, or from the file that its standard error is written to. It reads the " +
        'log itself and needs no running daemon.',
    )
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  errand logs -f
  errand logs --since 1h --level warn
  errand logs --file /var/log/errand.log --run 0190f6a0 -o json`;

function timeOf(text: string, io: Io): string {
  const time = pastTime(text, io);
  if (Number.isNaN(Date.parse(time)))
    throw new CommandError('usage', `--since: ${text} is neither a duration such as 2h nor a time in ISO 8601.`);
  return time;
}

async function showLog(context: Context, options: Options): Promise<void> {
  const { io, out, signal } = context;
  if (options.file === undefined && out.format !== 'json') await sayWhose(context);
  const { follow = false, since = null, level = null, run = null, session = null } = options;
  // The journal knows the time of lines that are no entries, too, such as those of the service manager.
  const isWanted = makeLogFilter({
    level,
    since: options.file === undefined ? null : since,
    runId: run,
    sessionId: session,
  });
  const colours = wantsColours(io.terminal.stdout, io.environment);
  const forPeople = makeLogForPeople(colours, { dates: true });
  const render = (line: string) => (out.format === 'json' ? `${escapedText(asEntry(line))}\n` : forPeople(`${line}\n`));
  const show = async (line: string) => {
    if (!io.stdout.write(render(line))) await once(io.stdout, 'drain', { signal });
  };
  // Who follows without saying since when sees a few lines of before, not all.
  const before: string[] | null = follow && since === null ? [] : null;
  let isBefore = before !== null;
  let lines = 0;
  for await (const one of linesOf(options, { follow, since, now: io.now(), signal })) {
    if ('caughtUp' in one) {
      isBefore = false;
      for (const line of before?.splice(0) ?? []) await show(line);
      continue;
    }
    lines += 1;
    if (isWanted(one.line)) {
      if (!isBefore) await show(one.line);
      else if (before!.push(one.line) > SHOWN_BEFORE) before!.shift();
    }
  }
  if (lines === 0 && options.file === undefined && !signal.aborted)
    out.hint(`The journal has no lines of the unit "${options.unit}" that this user can read. ${WHO_READS}`);
}

/** Each node has a log of its own, on its machine. */
async function sayWhose({ client, locations, out }: Context): Promise<void> {
  if (locations.url !== null) return;
  try {
    const node = nodeIn(await client().status({ timeoutMs: ANSWER_MS }));
    if (node !== null) out.hint(`The log of ${wordsOfNode(node)}; each node has one of its own.`);
  } catch {
    // The log is also for a daemon that doesn't answer, and for those who may ask it nothing.
  }
}

const ANSWER_MS = 2_000;

interface Wish {
  readonly follow: boolean;
  readonly since: string | null;
  readonly now: number;
  readonly signal: AbortSignal;
}

async function* linesOf({ file, unit }: Options, wish: Wish): AsyncGenerator<LogLine> {
  if (file === undefined) {
    yield* journalLines({ unit, ...wish });
    return;
  }
  try {
    // Who follows wants the newest lines soon, however long the file has become.
    const isEnough = wish.follow && wish.since === null;
    yield* logLines(file, { ...wish, ...(isEnough && { lastBytes: LOOKED_AT_BYTES }) });
  } catch (error) {
    if (wish.signal.aborted || codeOf(error) === undefined) throw error;
    throw new CommandError('failure', `${file} can't be read (${codeOf(error)}).`);
  }
}
