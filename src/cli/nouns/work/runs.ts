// `errand runs`: shows, follows and stops anybody's runs.
import type { Command } from 'commander';
import type { JsonObject } from '../../../domain/json.ts';
import type { EventType } from '../../../domain/sessions/journal-event.ts';
import type { JournalEventWire } from '../../../wire/journal-event.ts';
import type { RunWire } from '../../../wire/sessions/run.ts';
import { idOrStart, notEmpty } from '../../frame/arguments.ts';
import { showRunArtifacts } from './artifacts.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { showRunContinues } from '../../terminal/run-continues.ts';
import { RUN_WORDS, runWordOf, statusOfWord } from '../../terminal/run-status.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT, OF_SESSION } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice, converted, option } from '../../frame/options.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { widthForHints } from '../../frame/output.ts';
import { EXPORT_HELP, exportRun } from './export-run.ts';
import { explain, EXPLAIN_HELP } from './explain.ts';
import { showStop } from './sessions.ts';
import { stopwatch } from '../../../terminal/durations.ts';
import { money } from '../../../terminal/money.ts';
import { cutTo, safeLine } from '../../../terminal/text.ts';

const FIRST: readonly Column<RunWire>[] = [
  field('run_id', 9),
  state('status', runWordOf, 8),
  field('username', 6),
  field('session_id', 3),
  field('model', 2),
  field('created_at', 5),
];

/** `now` is when they are shown: a run that has not ended has taken until then. */
const inAList = (now: () => number): readonly Column<RunWire>[] => [
  ...FIRST,
  column('duration', (run) => durationOf(run, now()), 6),
  column('cost', ({ cost_usd: cost }) => money(cost), 4),
  field('title', 7),
];

/** From its start to its end or now, without its wait in the queue; null before it has started. */
function durationOf({ started_at: from, finished_at: to }: RunWire, now: number): string | null {
  return from === null ? null : stopwatch((to === null ? now : Date.parse(to)) - Date.parse(from));
}

const ALONE: readonly Column<RunWire>[] = [
  ...FIRST,
  field('title'),
  field('started_at'),
  field('finished_at'),
  column('error', ({ error }) => (error === null ? null : `${error.type}: ${error.message}`)),
  field('stop_reason'),
  field('key_id'),
  field('user_id'),
  field('protocol'),
  field('schedule_mode'),
  field('attempt'),
  field('resumes'),
  field('input_tokens'),
  field('output_tokens'),
  field('cost_usd'),
];

const FILTERS = {
  session: OF_SESSION,
  status: converted(
    choice('--status <status>', 'only those in this status', RUN_WORDS, { canceled: 'stopped' }),
    statusOfWord,
  ),
  ...LIMIT,
} satisfies OptionsFor<'runs', 'list'>;

/** Adds the noun and its verbs. */
export function addRuns(program: Command, io: Io): void {
  const runs = addNoun<RunWire, string>(program, io, {
    name: 'runs',
    summary: 'turns of the agent',
    description: "The turns of all users' agents.",
    one: { name: '<run>', help: 'its id, or the start of it', parse: idOrStart },
    show: showing(ALONE),
    plural: 'runs',
  });

  runs.list('List runs, the newest first.', FILTERS, inAList(io.now), (client, query) => client.runs.list(query));
  runs.show('Show one run.', (client, id) => client.runs.get(id));
  runs.on('explain', ABOUT_EXPLAIN, {}, explain).addHelpText('after', EXPLAIN_HELP);
  runs.on('export', ABOUT_EXPORT, TO, exportRun).addHelpText('after', EXPORT_HELP);
  runs
    .on('tail', 'Follow a run from its first event to its last. This is logged.', {}, tail)
    .addHelpText('after', TAIL_HELP);
  runs.on('artifacts', 'List the files that a run added or changed.', DOWNLOAD, async (context, id, options) =>
    showRunArtifacts(context, async () => context.client().runs.artifacts(id), options),
  );
  runs.on('stop', ABOUT_STOP, {}, async (context, id) => showStop(context, await context.client().runs.stop(id)));
}

const ABOUT_EXPLAIN = 'Show where the time of a run went, what each step cost, and what was slow. This is logged.';
const ABOUT_EXPORT =
  'Write what the model was asked in a run, step by step, to ask it again elsewhere. This is logged.';
const ABOUT_STOP = 'Stop one run. The runs that wait behind it in its session continue.';

const TO = {
  to: option('--to <file>', 'where to write it; - for standard output (default: errand-run-ID.json)', notEmpty),
};
const DOWNLOAD = { download: option('--download <dir>', 'save them as a tar.gz in this directory', notEmpty) };

const TAIL_HELP = `
The agent's text goes to standard output, everything else to standard error. Exits with 1 if the run failed.
With "-o json", every event is a JSON document on a line of its own.`;

async function tail(context: Context, id: string): Promise<void> {
  const { client, io, out } = context;
  let hasFailed = false;
  const names = new Map<string, string>();
  const onRetry = (tries: number) => out.hint(tries === 1 ? 'Connection lost, reconnecting.' : `Try ${tries}.`);
  const text = out.flowing();
  try {
    for await (const event of client().runs.tail(id, { onRetry })) {
      hasFailed = event.type === 'run.failed';
      if (out.format === 'json') {
        out.text(`${JSON.stringify(event)}\n`);
        continue;
      }
      if (event.type === 'content_block_delta') text.add(event.payload.delta.text);
      if (event.type === 'tool_use') names.set(event.payload.tool_use_id, event.payload.name);
      const line = lineOf(event, { call: context.call, names });
      if (line === undefined) continue;
      text.end();
      out.hint(cutTo(safeLine(line), widthForHints(io)));
    }
  } finally {
    text.end();
    showRunContinues(context, id);
  }
  // The failure has already been printed.
  if (hasFailed) throw new CommandError('failure', '');
}

type Payload<T extends EventType> = Extract<JournalEventWire, { readonly type: T }>['payload'];

/** What lines are made with: how the program is called, and which tools were called by which id. */
interface LineContext {
  readonly call: string;
  readonly names: ReadonlyMap<string, string>;
}

const LINES: { readonly [T in EventType]?: (payload: Payload<T>, context: LineContext) => string } = {
  'run.queued': () => 'queued',
  'run.started': ({ model, attempt }) => `started on ${model}, attempt ${attempt}`,
  'run.resumed': ({ resumes }) => `interrupted; resumes so far: ${resumes}`,
  'model_wait.started': ({ message }) => `! ${message} Asking again.`,
  'model_wait.ended': ({ model, answered }) => (answered ? `  ${model} replies` : `! ${model} was given up`),
  tool_use: ({ name, input }) => `* ${name} ${subjectOf(input)}`,
  tool_result: ({ tool_use_id: id, ok, output }, { names }) => toolLine(names.get(id) ?? 'tool', ok, output),
  'user_input.requested': ({ request_id: id }, { call }) => `asks its user: ${call} inputs answer ${id} TEXT`,
  'user_input.answered': () => 'answered',
  'user_input.expired': () => 'not answered in time',
  'run.done': () => 'completed',
  'run.failed': ({ error }) => `failed: ${error.message}`,
  'run.stopped': ({ reason }) => `stopped: ${reason}`,
};

/** What happened, in one line; undefined for events without one. */
function lineOf({ type, payload }: JournalEventWire, context: LineContext): string | undefined {
  return (LINES[type] as ((payload: object, context: LineContext) => string) | undefined)?.(payload, context);
}

function toolLine(name: string, ok: boolean, output: string): string {
  return ok ? `  ${name} done` : `! ${name}: ${output}`;
}

/** The subject of a tool call: its first text argument. */
function subjectOf(input: JsonObject): string {
  return Object.values(input).find((value) => typeof value === 'string') ?? '';
}
