// The scheduler: fires on time, sleeps otherwise, and lets others write while many tasks are due.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { Shortage } from '../../../src/files/disk.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeScheduler } from '../../../src/execution/queue/scheduler.ts';
import { aTask, LIMITS, SETUP, work } from '../../support/store/schedules.ts';
import { type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function schedulerHouse() {
  const house = await storeHouse();
  const { store, clock } = house;
  const state = { limits: LIMITS, shortage: null as Shortage | null, setups: 0 };
  // The store's own timers are not counted.
  const timers = vi.fn<Clock['after']>(clock.after);
  const scheduler = makeScheduler({
    store,
    setupOf: async () => {
      state.setups += 1;
      return SETUP;
    },
    limits: () => state.limits,
    disk: { shortage: () => state.shortage },
    random: () => 0.5,
    clock: { ...clock, after: timers },
    log: makeLog({ level: 'fatal' }),
  });
  onTestFinished(scheduler.stop);
  store.schedules.onRescheduled(scheduler.wake);
  const settled = async () => {
    await scheduler.settled();
    await scheduler.settled();
  };
  /** Lets time pass in steps, with all that is done at each. */
  const pass = async (ms: number, stepMs = ms) => {
    for (let left = ms; left > 0; left -= stepMs) {
      clock.advance(stepMs);
      await settled();
    }
  };
  /** Works until nothing is due: each batch is followed by a pause of a millisecond. */
  const drain = async (batches = 1) => pass(batches, 1);
  scheduler.wake();
  await settled();
  const looks = vi.spyOn(store.schedules, 'nextLook');
  return { ...house, house, scheduler, state, timers, looks, settled, pass, drain };
}

const firings = ({ rows }: Pick<StoreHouse, 'rows'>) =>
  rows<{ taskSeq: number; dueAt: number; createdAt: number }>(
    'SELECT task_seq AS taskSeq, due_at AS dueAt, created_at AS createdAt FROM firings ORDER BY id',
  );

const person = async ({ store, user }: StoreHouse, username: string) =>
  (await store.users.create({ ...user, username, passwordHash: 'x' })).seq;

test('without a task there is no timer, and a new one wakes it', async () => {
  const { house, store, user, clock, timers, pass } = await schedulerHouse();
  await pass(HOUR);
  expect(timers).not.toHaveBeenCalled();
  await store.schedules.create(aTask(user.seq, { cron: '* * * * *' }));
  await pass(1);
  clock.advance(MINUTE - 1);
  await pass(1);
  expect(firings(house)).toHaveLength(1);
});

test('a task fires at its minute, each minute', async () => {
  const { house, store, user, clock, pass, settled } = await schedulerHouse();
  await store.schedules.create(aTask(user.seq, { overlap: 'queue' }));
  await settled();
  const start = clock.now();
  await pass(3 * MINUTE, 1_000);
  const fired = firings(house);
  expect(fired.map(({ dueAt }) => dueAt)).toEqual([start + MINUTE, start + 2 * MINUTE, start + 3 * MINUTE]);
  expect(fired.map(({ createdAt }) => createdAt)).toEqual(fired.map(({ dueAt }) => dueAt));
});

test('many idle tasks have one timer, and are looked at once a minute', async () => {
  const { house, store, looks, timers, pass, settled } = await schedulerHouse();
  for (let owner = 0; owner < 5; owner += 1) {
    const seq = await person(house, `idle${owner}`);
    for (let task = 0; task < 200; task += 1) await store.schedules.create(aTask(seq, { cron: '0 0 1 1 *' }));
  }
  await settled();
  looks.mockClear();
  timers.mockClear();
  const reads = vi.spyOn(store.schedules, 'listDue');
  await pass(HOUR, 10_000);
  expect(looks).toHaveBeenCalledTimes(60);
  expect(timers).toHaveBeenCalledTimes(60);
  expect(reads).not.toHaveBeenCalled();
});

test('a time that was missed while the daemon was off fires at the start, once', { tags: ['I9-missed'] }, async () => {
  const house = await storeHouse();
  await house.store.schedules.create(aTask(house.user.seq));
  house.clock.advance(5 * HOUR);
  const log = makeLog({ level: 'fatal' });
  const parts = { store: house.store, setupOf: async () => SETUP, limits: () => LIMITS, random: () => 0 };
  const scheduler = makeScheduler({ ...parts, disk: { shortage: () => null }, clock: house.clock, log });
  onTestFinished(scheduler.stop);
  scheduler.wake();
  await scheduler.settled();
  expect(firings(house)).toHaveLength(1);
  house.clock.advance(1);
  await scheduler.settled();
  expect(firings(house)).toHaveLength(1);
});

test('a clock that is set is followed within a minute, forward and back', async () => {
  const { house, store, user, clock, pass, settled } = await schedulerHouse();
  const { seq } = await store.schedules.create(aTask(user.seq, { cron: '0 * * * *', overlap: 'queue' }));
  await settled();
  clock.jump(90 * MINUTE);
  await pass(MINUTE + 2, 1);
  expect(firings(house)).toHaveLength(1);
  clock.jump(-80 * MINUTE);
  await pass(MINUTE + 2, MINUTE / 2);
  const next = Math.ceil(clock.now() / HOUR) * HOUR;
  expect(await store.schedules.nextLook(clock.now())).toEqual({ at: next, isBehind: false });
  expect(firings(house).filter(({ taskSeq }) => taskSeq === seq)).toHaveLength(1);
});

test('thousands of tasks due in one second fire in small commits, with room for others in between', async () => {
  const { house, store, state, user, clock, drain, settled } = await schedulerHouse();
  for (let owner = 0; owner < 10; owner += 1) {
    const seq = await person(house, `many${owner}`);
    for (let task = 0; task < 200; task += 1) await store.schedules.create(aTask(seq, { cron: '1 12 * * *' }));
  }
  await store.schedules.create(aTask(user.seq, { cron: '1 12 * * *' }));
  await settled();
  state.limits = { maxUnfinishedPerUser: 500, userQuotaBytes: 0, capacity: 10_000 };
  const commits = vi.spyOn(store.schedules, 'fireDue');
  clock.advance(MINUTE);
  await settled();
  expect(firings(house)).toHaveLength(20);
  // Another writer comes between two commits.
  await store.teams.create({ name: 'Red', budgetUsd: null });
  await drain(101);
  expect(firings(house)).toHaveLength(2_001);
  expect(Math.max(...commits.mock.calls.map(([due]) => due.length))).toBe(20);
  expect(commits).toHaveBeenCalledTimes(101);
  // One setup for the tasks of an owner within a commit.
  expect(state.setups).toBeLessThan(200);
});

test('an owner over their limit delays nobody, and fires all of their tasks in the end', async () => {
  const { house, store, state, user, clock, drain, pass, settled } = await schedulerHouse();
  const greedy = await person(house, 'greedy');
  for (let task = 0; task < 60; task += 1) await store.schedules.create(aTask(greedy, { cron: '1 12 * * *' }));
  const { seq } = await store.schedules.create(aTask(user.seq, { cron: '1 12 * * *' }));
  await settled();
  state.limits = { maxUnfinishedPerUser: 3, userQuotaBytes: 0, capacity: 100 };
  clock.advance(MINUTE);
  await settled();
  await drain(5);
  expect(firings(house).map(({ taskSeq }) => taskSeq)).toContain(seq);
  expect(firings(house)).toHaveLength(4);
  for (let turn = 0; turn < 30; turn += 1) {
    for (const run of await house.claim(9)) await endOf(house, run);
    await pass(10_000);
    await drain(5);
  }
  const all = firings(house);
  expect(all).toHaveLength(61);
  expect(new Set(all.map(({ dueAt }) => dueAt)).size).toBe(1);
});

const endOf = async ({ store }: StoreHouse, run: Awaited<ReturnType<StoreHouse['claim']>>[number]) =>
  store.runs.stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');

test('while the queue or the disk is full, tasks stay due and are tried every two seconds', async () => {
  const { house, store, state, user, clock, looks, pass, settled } = await schedulerHouse();
  await store.schedules.create(aTask(user.seq));
  await settled();
  state.limits = { ...LIMITS, capacity: 0 };
  await pass(MINUTE);
  looks.mockClear();
  await pass(10_000, 500);
  expect(looks).toHaveBeenCalledTimes(5);
  state.limits = LIMITS;
  state.shortage = { words: 'The disk is almost full.' };
  await pass(4_000, 500);
  expect(firings(house)).toEqual([]);
  state.shortage = null;
  await pass(2_000, 500);
  expect(firings(house)).toHaveLength(1);
  expect(clock.now()).toBeLessThan(firings(house)[0]!.dueAt + MINUTE);
  await work(house);
});

test('while the store refuses everything, no time is lost', async () => {
  const { house, store, user, pass, settled } = await schedulerHouse();
  await store.schedules.create(aTask(user.seq));
  await settled();
  const broken = vi.spyOn(store.schedules, 'fireDue').mockRejectedValueOnce(new Error('The disk is gone.'));
  vi.spyOn(store.schedules, 'putOff').mockRejectedValueOnce(new Error('The disk is gone.'));
  await pass(MINUTE);
  expect(firings(house)).toEqual([]);
  await pass(1_000);
  expect(firings(house)).toHaveLength(1);
  expect(broken).toHaveBeenCalledTimes(2);
});

test('a task that cannot be fired holds up no other, and is tried again in a minute', async () => {
  const { house, store, user, clock, pass, settled } = await schedulerHouse();
  const [first, broken, last] = [
    await store.schedules.create(aTask(user.seq, { overlap: 'queue' })),
    await store.schedules.create(aTask(user.seq)),
    await store.schedules.create(aTask(user.seq, { overlap: 'queue' })),
  ];
  const plans = (sql: string) => {
    const connection = new Connection(house.file);
    connection.prepare(sql).run(broken.seq);
    connection.close();
  };
  plans("UPDATE task_plans SET steps = 'no JSON' WHERE task_seq = ?");
  await settled();
  await pass(MINUTE);
  const dueAt = clock.now();
  expect(firings(house).map(({ taskSeq }) => taskSeq)).toEqual([first.seq, last.seq]);
  plans('UPDATE task_plans SET steps = (SELECT min(steps) FROM task_plans) WHERE task_seq = ?');
  await pass(MINUTE, 1_000);
  const late = firings(house).filter(({ taskSeq }) => taskSeq === broken.seq);
  expect(late).toEqual([{ taskSeq: broken.seq, dueAt, createdAt: dueAt + MINUTE }]);
});
