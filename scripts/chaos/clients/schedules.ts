// Scheduled tasks in the storm: some are fired on request, again and again with new steps, others by the clock.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FiringWire } from '../../../src/wire/schedules/scheduled-task.ts';
import { type Chance, makeChance } from '../../../src/selftest/storm/chance.ts';
import { FIRST_SCHEDULED, wordsOf } from '../model/plan.ts';
import { type Late, untilKnown } from './late.ts';
import type { Operator } from './operator.ts';

const LOOK_MS = 200;
const BUSY_MS = 300;
const MOST_STEPS = 3;
/** More than a task ever has in progress. */
const NEWEST = 20;
const YEARLY = '0 0 1 1 *';
const EACH_MINUTE = '* * * * *';

/** What a task is: `once` fires until one firing completes. */
const TASKS = [
  { name: 'skips', cron: YEARLY, enabled: true, overlap: 'skip', atOnce: 1 },
  { name: 'rests', cron: YEARLY, enabled: false, overlap: 'skip', atOnce: 1 },
  { name: 'queues', cron: YEARLY, enabled: true, overlap: 'queue', atOnce: 3 },
  { name: 'once', cron: YEARLY, enabled: true, overlap: 'skip', atOnce: 1 },
  { name: 'ticks', cron: EACH_MINUTE, enabled: true, overlap: 'skip', atOnce: 0 },
  { name: 'ticks and queues', cron: EACH_MINUTE, enabled: true, overlap: 'queue', atOnce: 0 },
] as const;
export type TaskName = (typeof TASKS)[number]['name'];

/** Steps that a task got: their numbers begin here. */
export interface Work {
  readonly taskId: string;
  readonly first: number;
  readonly count: number;
}

/** A firing whose end a client has seen. */
export interface SeenFiring extends Pick<FiringWire, 'id' | 'session_id' | 'status'> {
  readonly work: Work;
}

export interface Schedules {
  readonly ids: ReadonlyMap<TaskName, string>;
  readonly works: readonly Work[];
  /** Firings that the daemon has confirmed, by id: what each was asked to do. */
  readonly fired: ReadonlyMap<number, Work>;
  /** By the id of a task: of firings. */
  readonly late: Late;
  /** Completed firings that nobody has taken yet. */
  readonly completed: SeenFiring[];
  /** Starts no more; resolves when every firing has ended. */
  finish(): Promise<void>;
  /** Rejects when a client breaks; never resolves. */
  readonly broken: Promise<never>;
}

interface Task {
  readonly id: string;
  readonly name: TaskName;
  readonly atOnce: number;
}

/** Creates the tasks, as ada's, and begins to fire them. `made` is called before the first firing. */
export async function startSchedules(
  operator: Operator,
  seed: number,
  made: (ids: ReadonlyMap<TaskName, string>) => Promise<void>,
): Promise<Schedules> {
  const chance = makeChance(seed ^ 0x5c4ed);
  const works: Work[] = [];
  const clients: Clients = {
    operator,
    chance,
    fired: new Map(),
    late: new Map(),
    completed: [],
    stopping: { aborted: false },
    newWork: (taskId) => {
      const last = works.at(-1);
      const first = last === undefined ? FIRST_SCHEDULED : last.first + last.count;
      const work = { taskId, first, count: chance.between(1, MOST_STEPS) };
      works.push(work);
      return work;
    },
  };
  const tasks: Task[] = [];
  for (const { atOnce, ...fields } of TASKS) tasks.push({ ...(await createTask(clients, fields)), atOnce });
  const ids = new Map(tasks.map(({ id, name }) => [name, id]));
  await made(ids);
  const all = Promise.all(
    tasks.map((task) => (task.atOnce === 0 ? fireByClock(clients, task) : fireOnRequest(clients, task))),
  );
  return {
    ids,
    works,
    fired: clients.fired,
    late: clients.late,
    completed: clients.completed,
    finish: async () => {
      clients.stopping.aborted = true;
      await all;
    },
    broken: all.then(() => new Promise<never>(() => undefined)),
  };
}

/** What the clients of all tasks share. */
interface Clients {
  readonly operator: Operator;
  readonly chance: Chance;
  readonly fired: Map<number, Work>;
  readonly late: Map<string, number>;
  readonly completed: SeenFiring[];
  readonly stopping: { aborted: boolean };
  newWork(taskId: string): Work;
}

async function createTask(
  { operator, newWork }: Clients,
  fields: Omit<(typeof TASKS)[number], 'atOnce'>,
): Promise<Pick<Task, 'id' | 'name'>> {
  // Its steps come with the first firing.
  const body = { ...fields, user: 'ada', enabled: false, prompt: 'Nothing yet.' };
  const path = '/api/v1/scheduled-tasks';
  const made = await operator.ask<{ scheduled_task_id: string }>('POST', path, { body, expected: [201] });
  const task = { id: made.scheduled_task_id, name: fields.name };
  const change = { ...stepsOf(newWork(task.id)), enabled: fields.enabled };
  await operator.ask('PATCH', pathOf(task), { body: change });
  return task;
}

async function change({ operator, newWork }: Clients, task: Task): Promise<Work> {
  const work = newWork(task.id);
  await operator.ask('PATCH', pathOf(task), { body: stepsOf(work) });
  return work;
}

/** Fires a task again and again, each time with new steps. */
async function fireOnRequest(clients: Clients, task: Task): Promise<void> {
  const { operator, chance, fired, completed, stopping } = clients;
  while (!stopping.aborted) {
    const firings: { id: number; work: Work }[] = [];
    for (let i = chance.between(1, task.atOnce); i > 0 && !stopping.aborted; i -= 1) {
      const work = await change(clients, task);
      const { id } = await fire(clients, task);
      fired.set(id, work);
      firings.push({ id, work });
    }
    const ended = await endsOf(
      operator,
      task,
      firings.map(({ id }) => id),
    );
    for (const { id, work } of firings) {
      const firing = ended.get(id)!;
      if (firing.status === 'completed') completed.push({ ...firing, work });
    }
    if (task.name === 'once' && [...ended.values()].some(({ status }) => status === 'completed')) return;
    await sleep(chance.between(0, 500));
  }
}

/** Changes the steps after each firing, so that no two do the same. */
async function fireByClock(clients: Clients, task: Task): Promise<void> {
  const { operator, stopping } = clients;
  let last = 0;
  while (!stopping.aborted) {
    const [newest] = await newestOf(operator, task, 1);
    if (newest !== undefined && newest.id > last) {
      last = newest.id;
      await change(clients, task);
    }
    await sleep(LOOK_MS);
  }
  await operator.ask('PATCH', pathOf(task), { body: { enabled: false } });
  const unfinished = async () => (await newestOf(operator, task, NEWEST)).some(({ ended_at }) => ended_at === null);
  while (await unfinished()) await sleep(LOOK_MS);
}

const pathOf = ({ id }: Pick<Task, 'id'>) => `/api/v1/scheduled-tasks/${id}`;

const stepsOf = ({ first, count }: Work) => ({
  prompt: null,
  steps: Array.from({ length: count }, (_, i) => ({ prompt: wordsOf(first + i) })),
});

async function newestOf(operator: Operator, task: Task, limit: number): Promise<readonly FiringWire[]> {
  const { items } = await operator.ask<{ items: FiringWire[] }>('GET', `${pathOf(task)}/firings?limit=${limit}`);
  return items;
}

/** Fires a task that nobody else fires: when the reply is lost, a new firing is this one. */
async function fire({ operator, late }: Clients, task: Task): Promise<FiringWire> {
  const [before] = await newestOf(operator, task, 1);
  return untilKnown<FiringWire>(late, {
    name: task.id,
    pauseMs: BUSY_MS,
    send: () => operator.once('POST', `${pathOf(task)}/run`),
    take: ({ status, data, text }) => {
      if (status === 201) return data as FiringWire;
      if (status === 409 || status === 429) return undefined;
      throw new Error(`A firing was answered ${status}: ${text}`);
    },
    look: async () => {
      const [newest] = await newestOf(operator, task, 1);
      return newest !== undefined && newest.id > (before?.id ?? 0) ? newest : undefined;
    },
  });
}

/** Waits until firings have ended. */
async function endsOf(operator: Operator, task: Task, ids: readonly number[]): Promise<Map<number, FiringWire>> {
  for (;;) {
    const own = (await newestOf(operator, task, NEWEST)).filter(({ id }) => ids.includes(id));
    if (own.length === ids.length && own.every(({ ended_at }) => ended_at !== null))
      return new Map(own.map((firing) => [firing.id, firing]));
    await sleep(LOOK_MS);
  }
}
