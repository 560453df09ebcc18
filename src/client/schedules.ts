// The client's verbs on scheduled tasks.
import { isUuid } from '../domain/ids.ts';
import { scheduledTasks } from '../wire/schedules/scheduled-task.ts';
import { type CallManagement, LISTED_BY_NAME, onlyOne } from './references.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** Every task is named by its id, the start of one, or its whole name. */
export type Schedules = Verbs<typeof scheduledTasks>;

export function makeSchedules(call: CallManagement, complete: Complete): Schedules {
  const verbs = verbsOf(scheduledTasks, call, async (noun, reference) =>
    noun === 'scheduled-tasks' ? find(reference) : complete(noun, reference),
  );

  /** A name comes before the start of an id. */
  async function find(ref: string): Promise<string> {
    if (isUuid(ref)) return ref;
    const named = await verbs.list({ name: ref, limit: LISTED_BY_NAME });
    const things = { noun: 'scheduled tasks', key: 'id', name: ref };
    const task = onlyOne(named, things, (one) => `${one.scheduled_task_id} (${one.owner.username})`);
    return task?.scheduled_task_id ?? complete('scheduled-tasks', ref);
  }

  return verbs;
}
