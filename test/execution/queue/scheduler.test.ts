// The scheduler: fires on time, sleeps otherwise, and lets others write while many tasks are due.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { Shortage } from '../../../src/files/disk.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeScheduler } from '../../../src/execution/queue/scheduler.ts';
import { aTask, LIMITS, SETUP, work } from '../../support/store/schedules.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function schedulerFixture() {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
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
  return { ...fixture, fixture, scheduler, state, timers, looks, settled, pass, drain };
}

const firings = ({ rows }: Pick<StoreFixture, 'rows'>) =>
  rows<{ taskSeq: number; dueAt: number; createdAt: number }>(
    'SELECT task_seq AS taskSeq, due_at AS dueAt, created_at AS createdAt FROM firings ORDER BY id',
  );

const person = async ({ store, user }: StoreFixture, username: string) =>
  (await store.users.create({ ...user, username, passwordHash: 'x' })).seq;

test('without a task there is no timer, and a new one wakes it', async () => {
  const { fixture, store, user, clock, timers, pass } = await schedulerFixture();
  await pass(HOUR);
  expect(timers).not.toHaveBeenCalled();
  await store.schedules.create(aTask(user.seq, { cron: '* * * * *' }));
  await pass(1);
  clock.advance(MINUTE - 1);
  await pass(1);
  expect(firings(fixture)).toHaveLength(1);
});

test('a task fires at its minute, each minute', async () => {
  const { fixture, store, user, clock, pass, settled } = await schedulerFixture();
  await store.schedules.create(aTask(user.seq, { overlap: 'queue' }));
  await settled();
  const start = clock.now();
  await pass(3 * MINUTE, 1_000);
  const fired = firings(fixture);
  expect(fired.map(({ dueAt }) => dueAt)).toEqual([start + MINUTE, start + 2 * MINUTE, start + 3 * MINUTE]);
  expect(fired.map(({ createdAt }) => createdAt)).toEqual(fired.map(({ dueAt }) => dueAt));
});

test('many idle tasks have one timer, and are looked at once a minute', async () => {
  const { fixture, store, looks, timers, pass, settled } = await schedulerFixture();
  for (let owner = 0; owner < 5; owner += 1) {
    const seq = await person(fixture, `idle${owner}`);
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
  const fixture = await storeFixture();
  await fixture.store.schedules.create(aTask(fixture.user.seq));
  fixture.clock.advance(5 * HOUR);
  const log = makeLog({ level: 'fatal' });
  const parts = { store: fixture.store, setupOf: async () => SETUP, limits: () => LIMITS, random: () => 0 };
  const scheduler = makeScheduler({ ...parts, disk: { shortage: () => null }, clock: fixture.clock, log });
  onTestFinished(scheduler.stop);
  scheduler.wake();
  await scheduler.settled();
  expect(firings(fixture)).toHaveLength(1);
  fixture.clock.advance(1);
  await scheduler.settled();
  expect(firings(fixture)).toHaveLength(1);
});

test('a clock that is set is followed within a minute, forward and back', async () => {
  const { fixture, store, user, clock, pass, settled } = await schedulerFixture();
  const { seq } = await store.schedules.create(aTask(user.seq, { cron: '0 * * * *', overlap: 'queue' }));
  await settled();
  clock.jump(90 * MINUTE);
  await pass(MINUTE + 2, 1);
  expect(firings(fixture)).toHaveLength(1);
  clock.jump(-80 * MINUTE);
  await pass(MINUTE + 2, MINUTE / 2);
  const next = Math.ceil(clock.now() / HOUR) * HOUR;
  expect(await store.schedules.nextLook(clock.now())).toEqual({ at: next, isBehind: false });
  expect(firings(fixture).filter(({ taskSeq }) => taskSeq === seq)).toHaveLength(1);
});

test('thousands of tasks due in one second fire in small commits, with room for others in between', async () => {
  const { fixture, store, state, user, clock, drain, settled } = await schedulerFixture();
  for (let owner = 0; owner < 10; owner += 1) {
    const seq = await person(fixture, `many${owner}`);
    for (let task = 0; task < 200; task += 1) await store.schedules.create(aTask(seq, { cron: '1 12 * * *' }));
  }
  await store.schedules.create(aTask(user.seq, { cron: '1 12 * * *' }));
  await settled();
  state.limits = { maxUnfinishedPerUser: 500, userQuotaBytes: 0, capacity: 10_000 };
  const commits = vi.spyOn(store.schedules, 'fireDue');
  clock.advance(MINUTE);
  await settled();
  expect(firings(fixture)).toHaveLength(20);
  // Another writer comes between two commits.
  await store.teams.create({ name: 'Red', budgetUsd: null });
  await drain(101);
  expect(firings(fixture)).toHaveLength(2_001);
  expect(Math.max(...commits.mock.calls.map(([due]) => due.length))).toBe(20);
  expect(commits).toHaveBeenCalledTimes(101);
  // One setup for the tasks of an owner within a commit.
  expect(state.setups).toBeLessThan(200);
});

test('an owner over their limit delays nobody, and fires all of their tasks in the end', async () => {
  const { fixture, store, state, user, clock, drain, pass, settled } = await schedulerFixture();
  const greedy = await person(fixture, 'greedy');
  for (let task = 0; task < 60; task += 1) await store.schedules.create(aTask(greedy, { cron: '1 12 * * *' }));
  const { seq } = await store.schedules.create(aTask(user.seq, { cron: '1 12 * * *' }));
  await settled();
  state.limits = { maxUnfinishedPerUser: 3, userQuotaBytes: 0, capacity: 100 };
  clock.advance(MINUTE);
  await settled();
  await drain(5);
  expect(firings(fixture).map(({ taskSeq }) => taskSeq)).toContain(seq);
  expect(firings(fixture)).toHaveLength(4);
  for (let turn = 0; turn < 30; turn += 1) {
    for (const run of await fixture.claim(9)) await endOf(fixture, run);
    await pass(10_000);
    await drain(5);
  }
  const all = firings(fixture);
  expect(all).toHaveLength(61);
  expect(new Set(all.map(({ dueAt }) => dueAt)).size).toBe(1);
});

const endOf = async ({ store }: StoreFixture, run: Awaited<ReturnType<StoreFixture['claim']>>[number]) =>
  store.runs.stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');

test('while the queue or the disk is full, tasks stay due and are tried every two seconds', async () => {
  const { fixture, store, state, user, clock, looks, pass, settled } = await schedulerFixture();
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
  expect(firings(fixture)).toEqual([]);
  state.shortage = null;
  await pass(2_000, 500);
  expect(firings(fixture)).toHaveLength(1);
  expect(clock.now()).toBeLessThan(firings(fixture)[0]!.dueAt + MINUTE);
  await work(fixture);
});

test('while the store refuses everything, no time is lost', async () => {
  const { fixture, store, user, pass, settled } = await schedulerFixture();
  await store.schedules.create(aTask(user.seq));
  await settled();
  const broken = vi.spyOn(store.schedules, 'fireDue').mockRejectedValueOnce(new Error('The disk is gone.'));
  vi.spyOn(store.schedules, 'putOff').mockRejectedValueOnce(new Error('The disk is gone.'));
  await pass(MINUTE);
  expect(firings(fixture)).toEqual([]);
  await pass(1_000);
  expect(firings(fixture)).toHaveLength(1);
  expect(broken).toHaveBeenCalledTimes(2);
});

test('a task that cannot be fired holds up no other, and is tried again in a minute', async () => {
  const { fixture, store, user, clock, pass, settled } = await schedulerFixture();
  const [first, broken, last] = [
    await store.schedules.create(aTask(user.seq, { overlap: 'queue' })),
    await store.schedules.create(aTask(user.seq)),
    await store.schedules.create(aTask(user.seq, { overlap: 'queue' })),
  ];
  const plans = (sql: string) => {
    const connection = new Connection(fixture.file);
    connection.prepare(sql).run(broken.seq);
    connection.close();
  };
  plans("UPDATE task_plans SET steps = 'no JSON' WHERE task_seq = ?");
  await settled();
  await pass(MINUTE);
  const dueAt = clock.now();
  expect(firings(fixture).map(({ taskSeq }) => taskSeq)).toEqual([first.seq, last.seq]);
  plans('UPDATE task_plans SET steps = (SELECT min(steps) FROM task_plans) WHERE task_seq = ?');
  await pass(MINUTE, 1_000);
  const late = firings(fixture).filter(({ taskSeq }) => taskSeq === broken.seq);
  expect(late).toEqual([{ taskSeq: broken.seq, dueAt, createdAt: dueAt + MINUTE }]);
});
