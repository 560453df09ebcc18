// The client's verbs on scheduled tasks.
import { isUuid } from '../domain/ids.ts';
import type { ListWire, pageQuery } from '../wire/listing.ts';
import type {
  FiringWire,
  NewScheduledTaskWire,
  ScheduledTaskChangeWire,
  scheduledTaskQuery,
  ScheduledTaskWire,
} from '../wire/schedules/scheduled-task.ts';
import { type CallManagement, LISTED_BY_NAME, onlyOne, type References } from './references.ts';
import { type Query, queryOf } from './transport/query.ts';

/** Every `ref` is an id, the start of one, or the whole name of a task. */
export interface Schedules {
  list(query: Query<typeof scheduledTaskQuery>): Promise<ListWire<ScheduledTaskWire>>;
  get(ref: string): Promise<ScheduledTaskWire>;
  create(input: NewScheduledTaskWire): Promise<ScheduledTaskWire>;
  change(ref: string, fields: ScheduledTaskChangeWire): Promise<ScheduledTaskWire>;
  remove(ref: string): Promise<{ readonly scheduled_task_id: string }>;
  /** Fires it now. */
  run(ref: string): Promise<FiringWire>;
  listFirings(ref: string, page: Query<typeof pageQuery>): Promise<ListWire<FiringWire>>;
}

export function makeSchedules(call: CallManagement, { whole }: References): Schedules {
  const list: Schedules['list'] = async (query) =>
    call('GET', `/scheduled-tasks${queryOf({ ...query, user: await whole('users', query.user) })}`);

  /** The path of one task: a name comes before the start of an id. */
  async function at(ref: string): Promise<string> {
    if (isUuid(ref)) return `/scheduled-tasks/${ref}`;
    const named = await list({ name: ref, limit: LISTED_BY_NAME });
    const things = { noun: 'scheduled tasks', key: 'id', name: ref };
    const task = onlyOne(named, things, (one) => `${one.scheduled_task_id} (${one.owner.username})`);
    const id = task?.scheduled_task_id ?? (await whole('scheduled-tasks', ref));
    return `/scheduled-tasks/${encodeURIComponent(id)}`;
  }

  return {
    list,
    get: async (ref) => call('GET', await at(ref)),
    create: async ({ user, ...input }) =>
      call('POST', '/scheduled-tasks', { ...input, ...(user !== undefined && { user: await whole('users', user) }) }),
    change: async (ref, fields) => call('PATCH', await at(ref), fields),
    remove: async (ref) => call('DELETE', await at(ref)),
    run: async (ref) => call('POST', `${await at(ref)}/run`),
    listFirings: async (ref, page) => call('GET', `${await at(ref)}/firings${queryOf(page)}`),
  };
}
