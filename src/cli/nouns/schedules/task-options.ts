// The options that say what a scheduled task does, and when.
import { Option } from 'commander';
import { OVERLAPS, TASK_LIMITS } from '../../../domain/schedules/task.ts';
import type { ScheduledTaskChangeWire } from '../../../wire/schedules/scheduled-task.ts';
import { notEmpty, uuid } from '../../frame/arguments.ts';
import { choice, clearable, converted, option, type OptionsOf, type TypedOption } from '../../frame/options.ts';
import { TIMING } from './timing.ts';

const severalSteps = (text: string, before: readonly string[] = []) => [...before, notEmpty(text)];

/** Those that `create` and `set` share. */
export const TASK = {
  prompt: option('--prompt <text>', 'what the agent is to do; with steps, an introduction to the first', notEmpty),
  steps: converted(
    option(
      '--step <text>',
      `a step: a run of its own; can be repeated, up to ${TASK_LIMITS.steps} times`,
      severalSteps,
    ),
    (steps) => steps.map((prompt) => ({ prompt })),
  ),
  cron: converted(TIMING, ({ cron }) => cron),
  timezone: option(
    '--timezone <zone>',
    'the time zone of these times, by its IANA name, such as Europe/Zurich',
    notEmpty,
  ),
  target: option('--target <target>', 'who answers: "free", "expert:NAME" or "team:NAME" (default: free)', notEmpty),
  project_id: clearable('--project <uuid>', 'the project of its sessions; "none" for none', uuid),
  overlap: choice('--overlap <rule>', 'what to do while an earlier firing is unfinished (default: skip)', OVERLAPS),
} satisfies OptionsOf<ScheduledTaskChangeWire>;

/** Without it, commander has `steps` as true. */
export const NO_STEPS: TypedOption<{ readonly steps: null }> = {
  options: [new Option('--no-steps', 'remove the steps: the prompt is the one step')],
  valueIn: ({ steps }) => (steps === false ? { steps: null } : undefined),
};
