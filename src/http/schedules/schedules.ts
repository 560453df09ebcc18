// The handlers of scheduled tasks (I5).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import type {
  NewScheduledTaskWire,
  ScheduledTaskChangeWire,
  scheduledTaskQuery,
} from '../../wire/schedules/scheduled-task.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderList, renderLongList } from '../replies/render-list.ts';
import { created, ok } from '../replies/reply.ts';
import { newTaskOf, renderFiring, renderTask, taskInputOf } from './schedules-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeScheduleHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Scheduled task');
  return {
    list: async ({ query }: Exchange<Static<typeof scheduledTaskQuery>>, caller: Caller) => {
      const { user = null, name = null, enabled = null, ...page } = query;
      const list = async (part: Page) => operations.listScheduledTasks(caller, { user, name, enabled, ...part });
      return ok(await renderLongList({ ...page, perPart: 25, list, idOf: (one) => one.id }, renderTask));
    },
    create: async ({ body }: Exchange<unknown, NewScheduledTaskWire>, caller: Caller) =>
      created(renderTask(await operations.createScheduledTask(caller, newTaskOf(body)))),
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderTask(await operations.getScheduledTask(caller, id(exchange)))),
    change: async (exchange: Exchange<unknown, ScheduledTaskChangeWire>, caller: Caller) =>
      ok(renderTask(await operations.changeScheduledTask(caller, id(exchange), taskInputOf(exchange.body)))),
    remove: async (exchange: Exchange, caller: Caller) => {
      const removed = id(exchange);
      await operations.deleteScheduledTask(caller, removed);
      return ok({ scheduled_task_id: removed });
    },
    run: async (exchange: Exchange, caller: Caller) =>
      created(renderFiring(await operations.runScheduledTask(caller, id(exchange)))),
    listFirings: async (exchange: Exchange<Static<typeof pageQuery>>, caller: Caller) =>
      ok(renderList(await operations.listFirings(caller, id(exchange), exchange.query), renderFiring)),
  };
}
