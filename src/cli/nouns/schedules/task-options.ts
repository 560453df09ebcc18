// The options that say what a scheduled task does, and when.
import { type Command, Option } from 'commander';
import { OVERLAPS, type Overlap, TASK_LIMITS } from '../../../domain/schedules/task.ts';
import type { ScheduledTaskChangeWire } from '../../../wire/schedules/scheduled-task.ts';
import { NONE, notEmpty, orNull, uuid } from '../../frame/arguments.ts';
import { addTimingOptions, cronOf, type TimingOptions } from './timing.ts';

/** The options as commander reads them. */
export interface TaskOptions extends TimingOptions {
  readonly name?: string;
  readonly prompt?: string;
  /** False: `--no-steps`. True, commander's default: not given. */
  readonly steps?: boolean;
  readonly step?: readonly string[];
  readonly timezone?: string;
  readonly target?: string;
  readonly project?: string;
  readonly overlap?: Overlap;
}

const steps = (text: string, before: readonly string[] = []) => [...before, notEmpty(text)];
const projectOrNone = (text: string) => (text === NONE ? text : uuid(text));

/** Adds the options that `create` and `set` share. */
export function addTaskOptions(command: Command): Command {
  return addTimingOptions(
    command
      .option('--prompt <text>', 'what the agent is to do; with steps, an introduction to the first', notEmpty)
      .option('--step <text>', `a step: a run of its own; can be repeated, up to ${TASK_LIMITS.steps} times`, steps),
  )
    .option('--timezone <zone>', 'the time zone of these times, by its IANA name, such as Europe/Zurich', notEmpty)
    .option('--target <target>', 'who answers: "free", "expert:NAME" or "team:NAME" (default: free)', notEmpty)
    .option('--project <uuid>', 'the project of its sessions; "none" for none', projectOrNone)
    .addOption(
      new Option('--overlap <rule>', 'what to do while an earlier firing is unfinished (default: skip)').choices(
        OVERLAPS,
      ),
    );
}

/** What the given options ask for, without fields for other options. */
export function fieldsOf(options: TaskOptions): ScheduledTaskChangeWire {
  const { name, prompt, step, steps: keepsSteps = true, timezone, target, project, overlap } = options;
  const cron = cronOf(options);
  return {
    ...(name !== undefined && { name }),
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(prompt !== undefined && { prompt }),
    ...(step !== undefined && { steps: step.map((text) => ({ prompt: text })) }),
    ...(!keepsSteps && { steps: null }),
    ...(target !== undefined && { target }),
    ...(project !== undefined && { project_id: orNull(project) }),
    ...(overlap !== undefined && { overlap }),
  };
}
