// Scheduled tasks and their firings (I1, I5).
import { TASK_RUN_STATUSES } from '../../domain/schedules/run-status.ts';
import { FIRING_TRIGGERS, OVERLAPS, TASK_LIMITS } from '../../domain/schedules/task.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { unprocessable } from '../../domain/errors.ts';
import { array } from '../shapes/composites.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf, pageFields, pageQuery } from '../listing.ts';
import { optionalFlag } from '../shapes/query.ts';
import { called, part, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, text, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, nullish, optional, orElse, refersTo, refined } from '../shapes/shape.ts';

const name = line({ max: TASK_LIMITS.name });
const prompt = text({ max: TASK_LIMITS.prompt });
const reference = line({ max: 200 });
/** Whether it ever fires isn't checked here. */
const cron = line({ max: TASK_LIMITS.cron });
const timezone = refined(line({ max: 100 }), (zone, path) => {
  if (isTimeZone(zone)) return zone;
  throw unprocessable(path, 'must be an IANA time zone such as Europe/Zurich');
});

const owner = record({ userId: uuid, username: string });
const step = record({ id: called('scheduled_task_step_id', uuid), prompt: string });

/** A scheduled task. `next_fires_at` is empty while it is disabled; `last_skipped_at` is when a firing was last skipped because of an earlier one. */
export const scheduledTask = named(
  'ScheduledTask',
  record({
    id: called('scheduled_task_id', uuid),
    name: string,
    cron: string,
    timezone: string,
    prompt: nullable(string),
    steps: array(step),
    owner: part(owner),
    target: string,
    projectId: nullable(uuid),
    enabled: boolean,
    overlap: oneOf(OVERLAPS),
    nextFirings: called('next_fires_at', array(time)),
    lastFiredAt: nullable(time),
    lastStatus: nullable(oneOf(TASK_RUN_STATUSES)),
    lastSkippedAt: nullable(time),
    createdAt: time,
    updatedAt: time,
  }),
);
export type ScheduledTaskWire = JsonOf<typeof scheduledTask>;

/** A step keeps its id when it is given; a step without one is new. */
const wantedStep = request({ id: called('scheduled_task_step_id', orElse(uuid, null)), prompt });

/** What can be chosen. An empty list of steps counts as none: then the prompt is the one step. */
const choices = {
  prompt: nullish(prompt),
  steps: nullish(array(wantedStep, { max: TASK_LIMITS.steps })),
  target: optional(reference),
  projectId: nullish(uuid),
  enabled: optional(boolean),
  overlap: optional(oneOf(OVERLAPS)),
};

/** `user` is a name or an id: for administrators, who may create tasks for others. The time zone is UTC unless it is given. */
export const newScheduledTask = named(
  'NewScheduledTask',
  request({ name, cron, timezone: optional(timezone), ...choices, user: orElse(refersTo('users', reference), null) }),
);

export const scheduledTaskChange = named(
  'ScheduledTaskChange',
  request(
    { name: optional(name), cron: optional(cron), timezone: optional(timezone), ...choices },
    { atLeastOne: true },
  ),
);
export type ScheduledTaskChangeWire = JsonOf<typeof scheduledTaskChange>;

/** Which tasks to list. `user` is a name or an id, `name` the whole name. */
export const scheduledTaskQuery = request({
  user: orElse(refersTo('users', string), null),
  name: orElse(string, null),
  enabled: orElse(optionalFlag, null),
  ...pageFields,
});

/** The id of what was deleted. */
export const scheduledTaskDeletion = named('ScheduledTaskDeletion', record({ id: called('scheduled_task_id', uuid) }));

/** One time that a task has fired, with what came of it. `step_no` is the last step that has a run. */
export const firing = named(
  'Firing',
  record({
    id: integer({ from: 1 }),
    taskId: called('scheduled_task_id', uuid),
    sessionId: uuid,
    dueAt: time,
    trigger: oneOf(FIRING_TRIGGERS),
    status: oneOf(TASK_RUN_STATUSES),
    stepNo: integer({ from: 1 }),
    stepCount: integer({ from: 1 }),
    createdAt: time,
    endedAt: nullable(time),
  }),
);
export type FiringWire = JsonOf<typeof firing>;

const task = { params: { id: idOf('Scheduled task', 'scheduled-tasks') }, reply: scheduledTask };

/** Scheduled tasks: everyone's own, and for administrators all (I5). */
// biome-ignore format: a table reads best with one endpoint a line
export const scheduledTasks = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/scheduled-tasks', summary: 'List scheduled tasks', operation: 'listScheduledTasks', query: scheduledTaskQuery, reply: listOf(scheduledTask), perPart: 25 },
  create: { route: 'POST /api/v1/scheduled-tasks', summary: 'Create a scheduled task', operation: 'createScheduledTask', body: newScheduledTask, reply: scheduledTask, statuses: [201] },
  get: { route: 'GET /api/v1/scheduled-tasks/:id', summary: 'Read a scheduled task', operation: 'getScheduledTask', ...task },
  change: { route: 'PATCH /api/v1/scheduled-tasks/:id', summary: 'Change a scheduled task', operation: 'changeScheduledTask', ...task, body: scheduledTaskChange },
  remove: { route: 'DELETE /api/v1/scheduled-tasks/:id', summary: 'Delete a scheduled task', operation: 'deleteScheduledTask', ...task, reply: scheduledTaskDeletion },
  run: { route: 'POST /api/v1/scheduled-tasks/:id/run', summary: 'Fire a scheduled task now', operation: 'runScheduledTask', ...task, reply: firing, statuses: [201] },
  listFirings: { route: 'GET /api/v1/scheduled-tasks/:id/firings', summary: 'List the firings of a scheduled task', operation: 'listFirings', ...task, query: pageQuery, reply: listOf(firing) },
});
