// The paths of scheduled tasks (I5): everyone's own, and for administrators all.
import type { Operations } from '../../operations/operations.ts';
import { listOf, pageQuery } from '../../wire/listing.ts';
import {
  firing,
  newScheduledTask,
  scheduledTask,
  scheduledTaskChange,
  scheduledTaskDeletion,
  scheduledTaskQuery,
} from '../../wire/schedules/scheduled-task.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makeScheduleHandlers } from './schedules.ts';

const ofUser = routesWith('user', 'envelope');

/** The rows of the table of routes. */
export function scheduleRoutes(operations: Operations): Route[] {
  const tasks = makeScheduleHandlers(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    ofUser('GET /api/v1/scheduled-tasks', 'List scheduled tasks', { query: scheduledTaskQuery, reply: listOf(scheduledTask), handler: tasks.list }),
    ofUser('POST /api/v1/scheduled-tasks', 'Create a scheduled task', { body: newScheduledTask, reply: scheduledTask, statuses: [201], handler: tasks.create }),
    ofUser('GET /api/v1/scheduled-tasks/:id', 'Read a scheduled task', { reply: scheduledTask, handler: tasks.get }),
    ofUser('PATCH /api/v1/scheduled-tasks/:id', 'Change a scheduled task', { body: scheduledTaskChange, reply: scheduledTask, handler: tasks.change }),
    ofUser('DELETE /api/v1/scheduled-tasks/:id', 'Delete a scheduled task', { reply: scheduledTaskDeletion, handler: tasks.remove }),
    ofUser('POST /api/v1/scheduled-tasks/:id/run', 'Fire a scheduled task now', { reply: firing, statuses: [201], handler: tasks.run }),
    ofUser('GET /api/v1/scheduled-tasks/:id/firings', 'List the firings of a scheduled task', { query: pageQuery, reply: listOf(firing), handler: tasks.listFirings }),
  ];
}
