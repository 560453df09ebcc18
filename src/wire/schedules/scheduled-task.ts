// Scheduled tasks and their firings (I1, I5).
import { TASK_RUN_STATUSES } from '../../domain/schedules/run-status.ts';
import { FIRING_TRIGGERS, OVERLAPS, TASK_LIMITS } from '../../domain/schedules/task.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { unprocessable } from '../../domain/errors.ts';
import { array, object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { optionalFlag } from '../query.ts';
import { boolean, integer, line, oneOf, string, text, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, refined, type Static } from '../shape.ts';

const name = line({ max: TASK_LIMITS.name });
const prompt = text({ max: TASK_LIMITS.prompt });
const reference = line({ max: 200 });
/** Whether it ever fires isn't checked here. */
const cron = line({ max: TASK_LIMITS.cron });
const timezone = refined(line({ max: 100 }), (zone, path) => {
  if (isTimeZone(zone)) return zone;
  throw unprocessable(path, 'must be an IANA time zone such as Europe/Zurich');
});

const step = object({ scheduled_task_step_id: uuid, prompt: string });

/** A scheduled task. `next_fires_at` is empty while it is disabled; `last_skipped_at` is when a firing was last skipped because of an earlier one. */
export const scheduledTask = named(
  'ScheduledTask',
  object({
    scheduled_task_id: uuid,
    name: string,
    cron: string,
    timezone: string,
    prompt: nullable(string),
    steps: array(step),
    owner: object({ user_id: uuid, username: string }),
    target: string,
    project_id: nullable(uuid),
    enabled: boolean,
    overlap: oneOf(OVERLAPS),
    next_fires_at: array(time),
    last_fired_at: nullable(time),
    last_status: nullable(oneOf(TASK_RUN_STATUSES)),
    last_skipped_at: nullable(time),
    created_at: time,
    updated_at: time,
  }),
);
export type ScheduledTaskWire = Static<typeof scheduledTask>;

/** A step keeps its id when it is given; a step without one is new. */
const wantedSteps = array(object({ scheduled_task_step_id: optional(uuid), prompt }), { max: TASK_LIMITS.steps });

/** What can be chosen. An empty list of steps counts as none: then the prompt is the one step. */
const choices = {
  prompt: nullish(prompt),
  steps: nullish(wantedSteps),
  target: optional(reference),
  project_id: nullish(uuid),
  enabled: optional(boolean),
  overlap: optional(oneOf(OVERLAPS)),
};

/** `user` is a name or an id: for administrators, who may create tasks for others. The time zone is UTC unless it is given. */
export const newScheduledTask = named(
  'NewScheduledTask',
  object({ name, cron, timezone: optional(timezone), ...choices, user: optional(reference) }),
);
export type NewScheduledTaskWire = Static<typeof newScheduledTask>;

export const scheduledTaskChange = named(
  'ScheduledTaskChange',
  object(
    { name: optional(name), cron: optional(cron), timezone: optional(timezone), ...choices },
    { atLeastOne: true },
  ),
);
export type ScheduledTaskChangeWire = Static<typeof scheduledTaskChange>;

/** Which tasks to list. `user` is a name or an id, `name` the whole name. */
export const scheduledTaskQuery = object({
  user: optional(string),
  name: optional(string),
  enabled: optionalFlag,
  ...pageFields,
});

/** The id of what was deleted. */
export const scheduledTaskDeletion = named('ScheduledTaskDeletion', object({ scheduled_task_id: uuid }));

/** One time that a task has fired, with what came of it. `step_no` is the last step that has a run. */
export const firing = named(
  'Firing',
  object({
    id: integer({ from: 1 }),
    scheduled_task_id: uuid,
    session_id: uuid,
    due_at: time,
    trigger: oneOf(FIRING_TRIGGERS),
    status: oneOf(TASK_RUN_STATUSES),
    step_no: integer({ from: 1 }),
    step_count: integer({ from: 1 }),
    created_at: time,
    ended_at: nullable(time),
  }),
);
export type FiringWire = Static<typeof firing>;
