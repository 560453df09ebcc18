// Tasks that fire by the clock or on request, within the limits of background work.
import { expect, test } from 'vitest';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import { aTask, end, fireDue, fireNow, LIMITS, work } from '../../support/store/schedules.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const MINUTE = 60_000;
const NOTHING = { fired: 0, skipped: 0, putOff: 0, full: false };

test('a firing is a session of its owner without a key, with a run, at its minute', {
  tags: ['I1-firings', 'I6'],
}, async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq, { name: 'Ebb', projectId: 'p' }));
  expect(await store.schedules.nextLook(clock.now())).toEqual({ at: clock.now() + MINUTE, isBehind: false });
  expect(await fireDue(fixture)).toEqual(NOTHING);
  clock.advance(MINUTE);
  const firedAt = clock.now();
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, fired: 1 });
  expect(await store.schedules.find(task.id)).toMatchObject({
    nextFireAt: firedAt + MINUTE,
    lastFiredAt: firedAt,
    lastStatus: 'pending',
  });
  const { items, total } = await store.schedules.listFirings(task.seq, { limit: 9, offset: 0 });
  expect(total).toBe(1);
  const [firing] = items;
  expect(firing).toMatchObject({ taskId: task.id, dueAt: firedAt, trigger: 'clock', status: 'pending', stepCount: 1 });
  expect(await store.sessions.find(firing!.sessionId)).toMatchObject({
    kind: 'scheduled',
    keySeq: null,
    userSeq: user.seq,
    title: 'Ebb',
    projectId: 'p',
    status: 'pending',
  });
  const { items: runs } = await store.runs.list({ sessionSeq: null, status: null, limit: 9, offset: 0 });
  expect(runs).toMatchObject([
    { sessionId: firing!.sessionId, keyId: null, scheduleMode: 'scheduled', username: 'mara' },
  ]);
  expect(await store.sessions.listOfKey(fixture.key.seq, 9, 0)).toMatchObject({ total: 0 });
});

test('the times of a downtime fire once, and the next one is after it', { tags: ['I1-downtime'] }, async () => {
  const fixture = await storeFixture();
  const task = await fixture.store.schedules.create(aTask(fixture.user.seq));
  const due = fixture.clock.now() + MINUTE;
  fixture.clock.advance(3 * 60 * MINUTE + 20_000);
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, fired: 1 });
  expect(await fireDue(fixture)).toEqual(NOTHING);
  const { items } = await fixture.store.schedules.listFirings(task.seq, { limit: 9, offset: 0 });
  expect(items.map(({ dueAt }) => dueAt)).toEqual([due]);
  expect(await fixture.store.schedules.find(task.id)).toMatchObject({ nextFireAt: due + 3 * 60 * MINUTE });
});

test('a daemon that was off over a clock change fires what the change skipped, once', {
  tags: ['I1-downtime'],
}, async () => {
  const fixture = await storeFixture();
  fixture.clock.jump(Date.parse('2026-03-28T12:00Z') - fixture.clock.now());
  const cron = { cron: '30 2 * * *', timezone: 'Europe/Zurich' };
  const task = await fixture.store.schedules.create(aTask(fixture.user.seq, cron));
  expect(task.nextFireAt).toBe(Date.parse('2026-03-29T01:00Z'));
  fixture.clock.advance(36 * 60 * MINUTE);
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, fired: 1 });
  expect(await fixture.store.schedules.find(task.id)).toMatchObject({ nextFireAt: Date.parse('2026-03-30T00:30Z') });
});

test('no time fires twice when the clock is put back', { tags: ['I1-downtime'] }, async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq, { overlap: 'queue' }));
  for (let minute = 0; minute < 3; minute += 1) {
    clock.advance(MINUTE);
    await fireDue(fixture);
  }
  clock.jump(-2 * MINUTE);
  expect(await store.schedules.nextLook(clock.now())).toMatchObject({ isBehind: true });
  await store.schedules.recount(50);
  expect(await store.schedules.nextLook(clock.now())).toEqual({ at: clock.now() + MINUTE, isBehind: false });
  for (let minute = 0; minute < 3; minute += 1) {
    clock.advance(MINUTE);
    await fireDue(fixture);
  }
  const { items } = await store.schedules.listFirings(task.seq, { limit: 9, offset: 0 });
  expect(new Set(items.map(({ dueAt }) => dueAt)).size).toBe(items.length);
  expect(items).toHaveLength(4);
});

test('a clock that was years ahead for a while does not silence a task', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq));
  const year = 365 * 86_400_000;
  clock.jump(10 * year);
  await fireDue(fixture);
  clock.jump(-10 * year);
  await store.schedules.recount(50);
  expect(await store.schedules.find(task.id)).toMatchObject({ nextFireAt: clock.now() + MINUTE });
});

test('the time of a task whose owner is disabled passes without a firing', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  await store.users.create({ ...user, username: 'root', passwordHash: 'x' });
  const task = await store.schedules.create(aTask(user.seq));
  await store.users.change('mara', { disabled: true });
  clock.advance(10 * MINUTE);
  expect(await fireDue(fixture)).toEqual(NOTHING);
  expect(await store.schedules.find(task.id)).toMatchObject({ nextFireAt: clock.now() + MINUTE, lastFiredAt: null });
  expect(await fireNow(fixture, task)).toEqual({ kind: 'owner_disabled' });
  await store.users.change('mara', { disabled: false });
  clock.advance(MINUTE);
  expect(await fireDue(fixture)).toMatchObject({ fired: 1 });
});

test('a firing that falls due during an earlier one is skipped, and the task says when', {
  tags: ['I9-overlap'],
}, async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq));
  clock.advance(MINUTE);
  await fireDue(fixture);
  clock.advance(MINUTE);
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, skipped: 1 });
  expect(await store.schedules.find(task.id)).toMatchObject({
    lastSkippedAt: clock.now(),
    nextFireAt: clock.now() + MINUTE,
  });
  expect(await fireNow(fixture, task)).toEqual({ kind: 'busy' });
  await work(fixture);
  clock.advance(MINUTE);
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, fired: 1 });
});

test('firings queue behind an earlier one, up to a limit, and run in order, one at a time', {
  tags: ['I9-overlap'],
}, async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq, { overlap: 'queue' }));
  for (let minute = 0; minute < TASK_LIMITS.queuedFirings + 1; minute += 1) {
    clock.advance(MINUTE);
    expect(await fireDue(fixture)).toEqual({ ...NOTHING, fired: 1 });
  }
  clock.advance(MINUTE);
  expect(await fireDue(fixture)).toEqual({ ...NOTHING, skipped: 1 });
  expect(await fireNow(fixture, task)).toEqual({ kind: 'full' });
  const { items: waiting } = await store.runs.listWaiting({ limit: 2, offset: 0 });
  expect(waiting[1]).toMatchObject({ ready: false, behindInTask: waiting[0]!.runId, keyId: null });
  const order: number[] = [];
  for (let turn = 0; turn < TASK_LIMITS.queuedFirings + 1; turn += 1) {
    const [run, another] = await fixture.claim(9);
    expect(another).toBeUndefined();
    order.push(run!.seq);
    await end(fixture, run!);
  }
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(await fixture.claim()).toEqual([]);
});

test('the due tasks of an owner over their limit are put off together, and come back in the order of their times', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const make = (cron: string) => store.schedules.create(aTask(user.seq, { cron }));
  const later: number[] = [];
  for (let at = 0; at < 30; at += 1) later.push((await make('2 12 * * *')).seq);
  const earlier = [(await make('1 12 * * *')).seq, (await make('1 12 * * *')).seq];
  const tomorrow = await make('0 9 * * *');
  clock.advance(2 * MINUTE);
  const limits = { ...LIMITS, maxUnfinishedPerUser: 1 };
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 1, putOff: 1 });
  expect(await store.schedules.listDue(clock.now(), 99)).toEqual([]);
  clock.advance(5_000 + TASK_LIMITS.perOwner);
  const back = await store.schedules.listDue(clock.now(), 99);
  expect(back.map(({ seq }) => seq)).toEqual([earlier[1], ...later]);
  expect(await store.schedules.find(tomorrow.id)).toMatchObject({ nextFireAt: Date.parse('2026-03-02T09:00Z') });
});

test('an owner over their limit is put off, without delaying others and without losing the time', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const nils = await store.users.create({ ...user, username: 'nils', passwordHash: 'x' });
  const tasks = [];
  for (let at = 0; at < 3; at += 1) tasks.push(await store.schedules.create(aTask(user.seq, { cron: '1 12 * * *' })));
  await store.schedules.create(aTask(nils.seq));
  clock.advance(MINUTE);
  const limits = { ...LIMITS, maxUnfinishedPerUser: 2 };
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 3, putOff: 1 });
  expect(await store.schedules.nextLook(clock.now())).toMatchObject({ at: clock.now() + 5_000 });
  await work(fixture);
  clock.advance(5_000);
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 1 });
  const { items } = await store.schedules.listFirings(tasks[2]!.seq, { limit: 9, offset: 0 });
  expect(items).toMatchObject([{ dueAt: Date.parse('2026-03-01T12:01Z') }]);
});

test("one owner's tasks take at most half of the queue, and a full queue leaves the rest due", async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const nils = await store.users.create({ ...user, username: 'nils', passwordHash: 'x' });
  const olga = await store.users.create({ ...user, username: 'olga', passwordHash: 'x' });
  for (const owner of [user, nils, olga])
    for (let at = 0; at < 6; at += 1) await store.schedules.create(aTask(owner.seq, { cron: '1 12 * * *' }));
  clock.advance(MINUTE);
  const limits = { ...LIMITS, capacity: 1 };
  // Ten places: five for each of two owners, and none for the third.
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 10, putOff: 2, full: true });
  expect(await store.schedules.nextLook(clock.now())).toMatchObject({ at: clock.now() });
  expect(await fireDue(fixture, { ...limits, capacity: 0 })).toEqual({ ...NOTHING, full: true });
  await work(fixture);
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 1, full: true });
});

test('a task is fired on request, also while it is disabled, within the limits', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq, { enabled: false, overlap: 'queue' }));
  const fired = await fireNow(fixture, task);
  expect(fired).toMatchObject({ kind: 'fired', firing: { trigger: 'manual', dueAt: clock.now(), taskId: task.id } });
  // Two within one millisecond are two.
  expect(await fireNow(fixture, task)).toMatchObject({ kind: 'fired' });
  expect(await fireNow(fixture, task, { ...LIMITS, maxUnfinishedPerUser: 2 })).toEqual({ kind: 'user_limit' });
  expect(await fireNow(fixture, task, { ...LIMITS, capacity: 0 })).toEqual({ kind: 'no_capacity' });
  await store.schedules.remove(task.id);
  expect(await fireNow(fixture, task)).toEqual({ kind: 'gone' });
});

test('a task that was changed since it was listed is not fired', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const task = await store.schedules.create(aTask(user.seq));
  clock.advance(MINUTE);
  const due = await store.schedules.listDue(clock.now(), 9);
  await store.schedules.change(task.id, { cron: '0 0 * * *' });
  const setup = { target: 'free', capabilityConfig: {}, orchestration: null } as never;
  const orders = due.map(({ seq, dueAt }) => ({ seq, dueAt, setup, putOffMs: 1 }));
  expect(await store.schedules.fireDue(orders, LIMITS)).toEqual(NOTHING);
});

test('a time zone that the system no longer knows stops its task alone', async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  const lost = await store.schedules.create(aTask(user.seq));
  await store.schedules.create(aTask(user.seq));
  await store.schedules.change(lost.id, { name: 'lost' });
  clock.advance(MINUTE);
  fixture.change(`UPDATE scheduled_tasks SET timezone = 'Mars/Olympus' WHERE seq = ${lost.seq}`);
  expect(await fireDue(fixture)).toMatchObject({ fired: 2 });
  expect(await store.schedules.find(lost.id)).toMatchObject({ nextFireAt: null, enabled: true });
});
