// What lists and records of scheduled tasks and their firings show.
import type { FiringWire, ScheduledTaskWire } from '../../../wire/schedules/scheduled-task.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { localZone, type SayCron, wallTime } from './words.ts';

type Task = ScheduledTaskWire;

const stateOf = ({ enabled }: Task) => (enabled ? 'enabled' : 'disabled');

/** The columns of a list of tasks. */
export function tasksIn(say: SayCron): readonly Column<Task>[] {
  return [
    field('scheduled_task_id', 9),
    state('state', stateOf, 8),
    field('name', 8),
    column('username', ({ owner }) => owner.username, 6),
    column('fires', ({ cron }) => say(cron), 6),
    field('timezone', 4),
    column('next_fires_at', ({ next_fires_at: [next] }) => next, 7),
    field('last_fired_at', 4),
    field('last_status', 5),
  ];
}

/** The lines of one task. */
export function taskIn(say: SayCron): readonly Column<Task>[] {
  return [
    ...tasksIn(say),
    field('last_skipped_at'),
    field('cron'),
    field('prompt'),
    column('steps', ({ steps }) => steps.map(({ prompt }, index) => `${index + 1}. ${prompt}`).join(' ')),
    field('overlap'),
    field('target'),
    field('project_id'),
    column('user_id', ({ owner }) => owner.user_id),
    field('created_at'),
    field('updated_at'),
  ];
}

/** One of the next firings, as the clocks there and here show it. */
interface Moment {
  readonly fires_at: string;
  readonly in_its_zone: string;
  readonly here: string;
}

export const MOMENTS: readonly Column<Moment>[] = [field('fires_at'), field('in_its_zone'), field('here')];

/** The next firings of a task. */
export function momentsOf({ next_fires_at: moments, timezone }: Task): Moment[] {
  return moments.map((moment) => {
    const at = Date.parse(moment);
    return { fires_at: moment, in_its_zone: wallTime(at, timezone), here: wallTime(at, localZone()) };
  });
}

export const FIRINGS: readonly Column<FiringWire>[] = [
  column('firing', ({ id }) => id, 8),
  state('status', ({ status }) => status, 8),
  field('due_at', 7),
  field('trigger', 4),
  column('step', ({ step_no: no, step_count: count }) => `${no} of ${count}`, 5),
  field('session_id', 9),
  field('ended_at', 5),
];
