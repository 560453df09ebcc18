// Everything in the storm that reaches people by itself: scheduled tasks, and pages of them and of their sessions.
import { SITE_ENTRY } from '../model/plan.ts';
import type { Asked } from '../subject.ts';
import { makeOperator } from './operator.ts';
import { createPage, type Publishers, startPublishers } from './publishing.ts';
import { type Schedules, startSchedules, type TaskName } from './schedules.ts';

/** Tasks with a page of their own; the entry of the last is never there. */
const PAGES = [
  ['skips', SITE_ENTRY],
  ['queues', SITE_ENTRY],
  ['ticks', SITE_ENTRY],
  ['once', '/none.html'],
] as const satisfies readonly (readonly [TaskName, string])[];

/** A page that gets a version after each firing. */
export interface TaskPage {
  readonly key: string;
  readonly taskId: string;
  readonly entryPath: string;
}

export interface Results {
  readonly schedules: Schedules;
  readonly publishers: Publishers;
  readonly taskPages: readonly TaskPage[];
  finish(): Promise<void>;
  readonly broken: Promise<never>;
}

/** Starts all of it, before the storm. */
export async function startResults(daemon: Asked, seed: number): Promise<Results> {
  const operator = makeOperator(daemon);
  const taskPages: TaskPage[] = [];
  const schedules = await startSchedules(operator, seed, async (ids) => {
    for (const [name, entryPath] of PAGES) {
      const taskId = ids.get(name)!;
      const fields = { name: `Page of ${name}`, scheduled_task_id: taskId, entry_path: entryPath };
      taskPages.push({ key: (await createPage(operator, new Map(), fields))!.publish_key, taskId, entryPath });
    }
  });
  const publishers = startPublishers(operator, seed, schedules.completed);
  return {
    schedules,
    publishers,
    taskPages,
    finish: async () => {
      await Promise.all([schedules.finish(), publishers.finish()]);
    },
    broken: Promise.race([schedules.broken, publishers.broken]),
  };
}
