// `errand schedules`: agents that work by the clock.
import type { Command } from 'commander';
import { field } from '../../../terminal/columns.ts';
import type { ScheduledTaskWire } from '../../../wire/schedules/scheduled-task.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { ENABLED, OF_USER, PART } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor } from '../../frame/noun.ts';
import { converted, flag, type Given, option, perform } from '../../frame/options.ts';
import { FIRINGS, MOMENTS, momentsOf, taskIn, tasksIn } from './columns.ts';
import { NO_STEPS, TASK } from './task-options.ts';
import { TIMING } from './timing.ts';
import { loadWords, localZone } from './words.ts';

/** How many of the next firings are shown after a change. */
const SHOWN = 3;

const NAME = option('--name <text>', 'its name', notEmpty);
const NEW_TASK = {
  user: option('--user <user>', 'the owner, by name or id: the sessions are theirs', notEmpty),
  enabled: converted(flag('--disabled', 'create it disabled'), () => false),
  ...TASK,
  cron: TIMING,
};

const FILTERS = { user: OF_USER, enabled: ENABLED, ...PART } satisfies OptionsFor<'schedules', 'list'>;

/** Adds the noun and its verbs. */
export function addSchedules(program: Command, io: Io): void {
  const schedules = addNoun<ScheduledTaskWire, string>(program, io, {
    name: 'schedules',
    summary: 'agents that work by the clock',
    description: 'Scheduled tasks: agents that work by the clock.',
    one: { name: '<task>', help: 'its name, its id, or the start of it', parse: notEmpty },
    show: showChanged,
  });

  const create = schedules.command.command('create').description(ABOUT_CREATE);
  perform(create.argument('<name>', 'a name that says what it is for', notEmpty), io, NEW_TASK, createOne).addHelpText(
    'after',
    CREATE_HELP,
  );
  schedules.verb('list', 'List scheduled tasks, the oldest first.', FILTERS, list);
  schedules.on('show', 'Show one scheduled task.', {}, async (context, ref) =>
    show(context, await context.client().schedules.get(ref)),
  );
  schedules.on('next', ABOUT_NEXT, {}, next);
  schedules.on('firings', 'List the firings of a task, the newest first.', PART, async ({ client, out }, ref, part) =>
    out.page(await client().schedules.listFirings(ref, part), FIRINGS, 'firings'),
  );
  schedules
    .set(ABOUT_SET, { name: NAME, ...TASK, noSteps: NO_STEPS }, ({ schedules }, ref, { noSteps, ...fields }) =>
      schedules.change(ref, { ...fields, ...noSteps }),
    )
    .addHelpText('after', '\nExample:\n  errand schedules set news --daily 07:45 --timezone Europe/Zurich');
  schedules.switches(SWITCHES, ({ schedules }, ref, fields) => schedules.change(ref, fields));
  schedules.confirmed('delete', 'Delete a task permanently. Its sessions stay. Asks first.', {
    find: ({ schedules }, ref) => schedules.get(ref),
    question: ({ name, owner }) => `Delete the scheduled task "${name}" of ${owner.username}?`,
    work: ({ schedules }, { scheduled_task_id: id }) => schedules.remove(id),
    show: ({ out }, deleted) => out.record(deleted, [field('scheduled_task_id')], deleted),
  });
  schedules.on('run', 'Fire a task now, in addition to its times, even if it is disabled.', {}, run);
}

const ABOUT_CREATE =
  'Create a scheduled task, with one of --cron, --every and --daily. Without --timezone, times are in the zone of this terminal; those of --every are in UTC.';
const ABOUT_NEXT = 'Show when a task fires next: in its own time zone, and in that of this terminal.';
const ABOUT_SET = 'Change a task, from its next firing on. Other fields stay as they are; steps are replaced together.';
const SWITCHES = {
  enable: 'Enable a task. It fires from its next time on.',
  disable: 'Disable a task. Firings that have not begun are dropped; one that has continues.',
};

const CREATE_HELP = `
Examples:
  errand schedules create news --user alice --daily 08:30 --prompt "Write /news.md about what is new on our pages"
  errand schedules create report --user alice --cron "0 7 * * 1-5" --timezone Europe/Zurich \\
    --step "Collect yesterday's figures into /figures.csv" --step "Write /report.html about /figures.csv"`;

async function createOne(context: Context, name: string, given: Given<typeof NEW_TASK>): Promise<void> {
  const { cron: timing, ...fields } = given;
  if (timing === undefined) throw new CommandError('usage', 'Give one of --cron, --every and --daily.');
  if (fields.prompt === undefined && fields.steps === undefined)
    throw new CommandError('usage', 'Give --prompt, or at least one --step.');
  const { cron, isEvenInUtc } = timing;
  const timezone = fields.timezone ?? (isEvenInUtc ? 'UTC' : localZone());
  await showChanged(context, await context.client().schedules.create({ ...fields, name, cron, timezone }));
}

async function list({ client, out }: Context, query: Given<typeof FILTERS>): Promise<void> {
  const found = await client().schedules.list(query);
  out.page(found, tasksIn(await loadWords()), 'scheduled tasks');
}

async function show({ out }: Context, task: ScheduledTaskWire): Promise<void> {
  out.record(task, taskIn(await loadWords()), task);
}

async function next({ client, out }: Context, ref: string): Promise<void> {
  const task = await client().schedules.get(ref);
  const { scheduled_task_id: id, cron, timezone, enabled, next_fires_at: moments } = task;
  out.list(momentsOf(task), MOMENTS, { scheduled_task_id: id, cron, timezone, enabled, next_fires_at: moments });
  out.hint(await whenInWords(task));
}

async function run(context: Context, ref: string): Promise<void> {
  const firing = await context.client().schedules.run(ref);
  context.out.record(firing, FIRINGS, firing);
  context.out.hint(`When it has ended, its answer is in: ${context.call} sessions messages ${firing.session_id}`);
}

/** The task, and for people when it fires. */
async function showChanged(context: Context, task: ScheduledTaskWire): Promise<void> {
  await show(context, task);
  context.out.hint(await whenInWords(task));
  for (const { in_its_zone: there, here } of momentsOf(task).slice(0, SHOWN))
    context.out.hint(there === here ? `  ${there}` : `  ${there}, here ${here}`);
}

async function whenInWords({ name, cron, timezone, enabled }: ScheduledTaskWire): Promise<string> {
  const words = `${(await loadWords())(cron)}, in the time of ${timezone}`;
  return enabled ? `"${name}" fires ${words}.` : `"${name}" is disabled. Enabled, it fires ${words}.`;
}
