// `errand schedules`: agents that work by the clock.
import { Argument, type Command, Option } from 'commander';
import type { ScheduledTaskWire } from '../../../wire/schedules/scheduled-task.ts';
import { notEmpty, OF_USER, ROW_LIMIT, ROW_OFFSET } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';
import { FIRINGS, MOMENTS, momentsOf, taskIn, tasksIn } from './columns.ts';
import { addTaskOptions, fieldsOf, type TaskOptions } from './task-options.ts';
import { cronOf } from './timing.ts';
import { loadWords, localZone } from './words.ts';

const TASK = new Argument('<task>', 'its name, its id, or the start of it').argParser(notEmpty);
/** How many of the next firings are shown after a change. */
const SHOWN = 3;

/** Adds the noun and its verbs. */
export function addSchedules(program: Command, io: Io): void {
  const schedules = program
    .command('schedules')
    .summary('agents that work by the clock')
    .description('Scheduled tasks: agents that work by the clock.');

  addCreate(schedules, io);
  addReads(schedules, io);
  addChanges(schedules, io);
  addRuns(schedules, io);
}

interface CreateOptions extends TaskOptions {
  readonly user?: string;
  readonly disabled?: true;
}

function addCreate(schedules: Command, io: Io): void {
  const create = schedules
    .command('create')
    .argument('<name>', 'a name that says what it is for', notEmpty)
    .description(
      'Create a scheduled task, with one of --cron, --every and --daily. Without --timezone, times are in the zone of this terminal; those of --every are in UTC.',
    )
    .option('--user <user>', 'the owner, by name or id: the sessions are theirs', notEmpty)
    .option('--disabled', 'create it disabled');
  addTaskOptions(create).addHelpText('after', CREATE_HELP).action(act(io, createOne));
}

const CREATE_HELP = `
Examples:
  errand schedules create news --user alice --daily 08:30 --prompt "Write /news.md about what is new on our pages"
  errand schedules create report --user alice --cron "0 7 * * 1-5" --timezone Europe/Zurich \\
    --step "Collect yesterday's figures into /figures.csv" --step "Write /report.html about /figures.csv"`;

async function createOne(context: Context, name: string, options: CreateOptions): Promise<void> {
  const { user, disabled } = options;
  // Where no clock is changed, the pauses are the same throughout the year.
  const timezone = options.timezone ?? (options.every === undefined ? localZone() : 'UTC');
  const cron = cronOf(options);
  if (cron === undefined) throw new CommandError('usage', 'Give one of --cron, --every and --daily.');
  if (options.prompt === undefined && options.step === undefined)
    throw new CommandError('usage', 'Give --prompt, or at least one --step.');
  const task = await context.client().schedules.create({
    ...fieldsOf(options),
    name,
    cron,
    timezone,
    ...(user !== undefined && { user }),
    ...(disabled && { enabled: false }),
  });
  await showChanged(context, task);
}

interface PartOptions {
  readonly limit?: number;
  readonly offset?: number;
}

interface ListOptions extends PartOptions {
  readonly user?: string;
  readonly enabled?: true;
  readonly disabled?: true;
}

function addReads(schedules: Command, io: Io): void {
  schedules
    .command('list')
    .description('List scheduled tasks, the oldest first.')
    .addOption(OF_USER)
    .option('--enabled', 'only those that are enabled')
    .addOption(new Option('--disabled', 'only those that are disabled').conflicts('enabled'))
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, list));

  schedules
    .command('show')
    .addArgument(TASK)
    .description('Show one scheduled task.')
    .action(act(io, async (context, ref: string) => show(context, await context.client().schedules.get(ref))));

  schedules
    .command('next')
    .addArgument(TASK)
    .description('Show when a task fires next: in its own time zone, and in that of this terminal.')
    .action(act(io, next));

  schedules
    .command('firings')
    .addArgument(TASK)
    .description('List the firings of a task, the newest first.')
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, listFirings));
}

async function list({ client, out }: Context, options: ListOptions): Promise<void> {
  const { user, enabled, disabled, limit, offset } = options;
  const isEnabled = (enabled ?? disabled) === undefined ? undefined : enabled === true;
  const found = await client().schedules.list({ user, enabled: isEnabled, limit, offset });
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

async function listFirings({ client, out }: Context, ref: string, part: PartOptions) {
  const found = await client().schedules.listFirings(ref, part);
  out.page(found, FIRINGS, 'firings');
}

function addChanges(schedules: Command, io: Io): void {
  const set = schedules.command('set').addArgument(TASK).option('--name <text>', 'its name', notEmpty);
  addTaskOptions(set)
    .option('--no-steps', 'remove the steps: the prompt is the one step')
    .description('Change a task, from its next firing on. Other fields stay as they are; steps are replaced together.')
    .addHelpText('after', '\nExample:\n  errand schedules set news --daily 07:45 --timezone Europe/Zurich')
    .action(act(io, setOne));

  for (const [verb, enabled, description] of SWITCHES) {
    schedules
      .command(verb)
      .addArgument(TASK)
      .description(description)
      .action(
        act(io, async (context, ref: string) =>
          showChanged(context, await context.client().schedules.change(ref, { enabled })),
        ),
      );
  }

  schedules
    .command('delete')
    .addArgument(TASK)
    .description('Delete a task permanently. Its sessions stay. Asks first.')
    .action(act(io, remove));
}

const SWITCHES = [
  ['enable', true, 'Enable a task. It fires from its next time on.'],
  ['disable', false, 'Disable a task. Firings that have not begun are dropped; one that has continues.'],
] as const;

async function setOne(context: Context, ref: string, options: TaskOptions): Promise<void> {
  const fields = fieldsOf(options);
  if (Object.keys(fields).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
  await showChanged(context, await context.client().schedules.change(ref, fields));
}

async function remove(context: Context, ref: string): Promise<void> {
  const { schedules } = context.client();
  const { scheduled_task_id: id, name, owner } = await schedules.get(ref);
  await confirm(context, async () => `Delete the scheduled task "${name}" of ${owner.username}?`);
  const deleted = await schedules.remove(id);
  context.out.record(deleted, [field('scheduled_task_id')], deleted);
}

function addRuns(schedules: Command, io: Io): void {
  schedules
    .command('run')
    .addArgument(TASK)
    .description('Fire a task now, in addition to its times, even if it is disabled.')
    .action(act(io, run));
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
