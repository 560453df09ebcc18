// The client's verbs on scheduled tasks.
import { isUuid } from '../domain/ids.ts';
import type { ListWire } from '../wire/listing.ts';
import type {
  FiringWire,
  NewScheduledTaskWire,
  ScheduledTaskChangeWire,
  scheduledTaskQuery,
  ScheduledTaskWire,
} from '../wire/schedules/scheduled-task.ts';
import type { CallManagement, References } from './references.ts';
import { ClientError } from './transport/client-error.ts';
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
  listFirings(ref: string, page: { readonly limit?: number | undefined }): Promise<ListWire<FiringWire>>;
}

/** How many tasks of one name an error names. */
const NAMED = 5;

export function makeSchedules(call: CallManagement, { whole }: References): Schedules {
  const list: Schedules['list'] = async (query) =>
    call('GET', `/scheduled-tasks${queryOf({ ...query, user: await whole('users', query.user) })}`);

  /** The path of one task: a name comes before the start of an id. */
  async function at(ref: string): Promise<string> {
    if (isUuid(ref)) return `/scheduled-tasks/${ref}`;
    const { items, total } = await list({ name: ref, limit: NAMED });
    if (total > 1) {
      const owned = items.map(({ scheduled_task_id: id, owner }) => `${id} (${owner.username})`).join(', ');
      const more = total > items.length ? ' and more' : '';
      const message = `Several scheduled tasks are named ${ref}: ${owned}${more}. Give the id.`;
      throw new ClientError({ kind: 'refused', status: 409 }, message);
    }
    const id = items[0]?.scheduled_task_id ?? (await whole('scheduled-tasks', ref));
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
