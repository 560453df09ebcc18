// Scheduled tasks as their owners define them.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import type { TaskFilter } from '../../../src/store/schedules/tasks.ts';
import { aTask, end, fireDue, fireNow, movesOf, steps, work } from '../../support/store/schedules.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const MINUTE = 60_000;

const promptsOf = ({ rows }: StoreFixture) =>
  rows<{ content: string }>("SELECT content FROM messages WHERE role = 'user' ORDER BY id").map(
    ({ content }) => (JSON.parse(content) as { text: string }[])[0]!.text,
  );

test('a task is found with its next time, its owner and the one step of its prompt', {
  tags: ['I1-fields'],
}, async () => {
  const { store, user, clock } = await storeFixture();
  const { schedules } = store;
  const task = await schedules.create(aTask(user.seq, { cron: '30 12 * * *', projectId: 'p' }));
  expect(task).toMatchObject({
    name: 'Tides',
    username: 'mara',
    prompt: 'Tell me of tides.',
    steps: [{ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, prompt: 'Tell me of tides.' }],
    projectId: 'p',
    nextFireAt: clock.now() + 30 * MINUTE,
    lastFiredAt: null,
    lastStatus: null,
    lastSkippedAt: null,
  });
  expect(await schedules.find(task.id)).toEqual(task);
  expect(await schedules.find('none')).toBeUndefined();
});

test('lists are narrowed by owner and by whether tasks are enabled, in order of creation', async () => {
  const { store, user } = await storeFixture();
  const { schedules } = store;
  const nils = await store.users.create({ ...user, username: 'nils', passwordHash: 'x' });
  for (const [name, owner, enabled] of [
    ['a', user.seq, true],
    ['b', nils.seq, false],
    ['c', user.seq, false],
  ] as const)
    await schedules.create(aTask(owner, { name, enabled }));
  const names = async (userSeq: number | null, enabled: boolean | null, over: Partial<TaskFilter> = {}) => {
    const { items, total } = await schedules.list({ userSeq, enabled, name: null, limit: 9, offset: 0, ...over });
    return [items.map(({ name }) => name).join(''), total];
  };
  expect(await names(null, null)).toEqual(['abc', 3]);
  expect(await names(user.seq, null)).toEqual(['ac', 2]);
  expect(await names(null, false)).toEqual(['bc', 2]);
  expect(await names(null, null, { limit: 1, offset: 1 })).toEqual(['b', 3]);
  expect(await names(null, null, { name: 'c' })).toEqual(['c', 1]);
  expect(await names(nils.seq, null, { name: 'c' })).toEqual(['', 0]);
});

test('a page of long prompts is shorter than its limit, and the next one continues', async () => {
  const { store, user } = await storeFixture();
  const { schedules } = store;
  const prompt = '海'.repeat(TASK_LIMITS.prompt);
  const work = { prompt, steps: [{ id: randomUUID(), prompt }] };
  const made: string[] = [];
  for (let at = 0; at < 20; at += 1) made.push((await schedules.create(aTask(user.seq, { work }))).id);
  const found: string[] = [];
  while (found.length < made.length) {
    const page = { userSeq: null, enabled: null, name: null, limit: 500, offset: found.length };
    const { items, total } = await schedules.list(page);
    expect(total).toBe(made.length);
    expect(JSON.stringify(items).length).toBeLessThan(250_000);
    found.push(...items.map(({ id }) => id));
  }
  expect(found).toEqual(made);
  const tail = await schedules.list({ userSeq: null, enabled: null, name: null, limit: 500, offset: found.length });
  expect(tail.items).toEqual([]);
});

test('an owner has no more tasks than the limit; a deleted one counts no more', async () => {
  const { store, user } = await storeFixture();
  const created = [];
  for (let at = 0; at < TASK_LIMITS.perOwner; at += 1) created.push(await store.schedules.create(aTask(user.seq)));
  await expect(store.schedules.create(aTask(user.seq))).rejects.toMatchObject({ reason: 'conflict' });
  await store.schedules.remove(created[0]!.id);
  await store.schedules.create(aTask(user.seq));
});

test('a change of the times applies from now on, and another one leaves them alone', async () => {
  const { store, user, clock } = await storeFixture();
  const { schedules } = store;
  const { id, nextFireAt } = await schedules.create(aTask(user.seq, { cron: '30 12 * * *' }));
  clock.advance(31 * MINUTE);
  expect(await schedules.change(id, { name: 'Ebb', cron: '30 12 * * *', enabled: true })).toMatchObject({ nextFireAt });
  expect(await schedules.change(id, { timezone: 'Europe/Zurich' })).toMatchObject({
    nextFireAt: Date.parse('2026-03-02T11:30Z'),
  });
  expect(await schedules.change(id, { enabled: false })).toMatchObject({ nextFireAt: null, enabled: false });
  expect(await schedules.change(id, { cron: '0 0 1 1 *' })).toMatchObject({ nextFireAt: null });
  expect(await schedules.change(id, { enabled: true, timezone: 'UTC' })).toMatchObject({
    nextFireAt: Date.parse('2027-01-01T00:00Z'),
  });
  await expect(schedules.change('none', {})).rejects.toMatchObject({ reason: 'not_found' });
});

test('a prompt that comes with steps precedes the first of them', async () => {
  const fixture = await storeFixture();
  const { store, user } = fixture;
  const work = { ...steps('one', 'two'), prompt: 'Of tides:' };
  const task = await store.schedules.create(aTask(user.seq, { work }));
  expect(task).toMatchObject(work);
  await fireNow(fixture, task);
  await end(fixture, (await fixture.claim())[0]!);
  expect(promptsOf(fixture)).toEqual(['Of tides:\n\none', 'two']);
});

test('whoever listens is called when times may have changed', async () => {
  const { store, user } = await storeFixture();
  let calls = 0;
  store.schedules.onRescheduled(() => (calls += 1));
  const { id } = await store.schedules.create(aTask(user.seq));
  await store.schedules.change(id, { enabled: false });
  expect(calls).toBe(2);
});

test.each(['disable', 'delete'])(
  'to %s a task drops a firing that has not begun, and leaves one that has',
  { tags: ['I8-disabled'] },
  async (how) => {
    const fixture = await storeFixture();
    const { store, user, clock } = fixture;
    const task = await store.schedules.create(aTask(user.seq, { overlap: 'queue', work: steps('one', 'two') }));
    clock.advance(MINUTE);
    await fireDue(fixture);
    clock.advance(MINUTE);
    await fireDue(fixture);
    const [first] = await fixture.claim();
    if (how === 'delete') await store.schedules.remove(task.id);
    else await store.schedules.change(task.id, { enabled: false });
    const { items } = await store.schedules.listFirings(task.seq, { limit: 9, offset: 0 });
    expect(items.map(({ status }) => status)).toEqual(['stopped', 'running']);
    expect(movesOf(fixture)).toEqual(['none → pending', 'none → pending', 'pending → running', 'pending → stopped']);
    // The one that has begun has all its steps.
    await store.runs.interrupt({ ...first!, runSeq: first!.seq, workedMs: 0 }, 'drain');
    await work(fixture);
    await work(fixture);
    expect((await store.schedules.listFirings(task.seq, { limit: 1, offset: 1 })).items[0]).toMatchObject({
      status: 'completed',
      stepNo: 2,
    });
    clock.advance(5 * MINUTE);
    expect(await fireDue(fixture)).toEqual({ fired: 0, skipped: 0, putOff: 0, full: false });
    const plans = fixture.rows('SELECT 1 FROM task_plans');
    expect(plans).toHaveLength(how === 'delete' ? 0 : 1);
    const found = await store.schedules.find(task.id);
    expect(found?.enabled).toBe(how === 'delete' ? undefined : false);
  },
);

test('a firing has the steps that the task had when it fired', async () => {
  const fixture = await storeFixture();
  const { store, user } = fixture;
  const task = await store.schedules.create(aTask(user.seq, { work: steps('one', 'two') }));
  await fireNow(fixture, task);
  await store.schedules.change(task.id, { work: () => steps('three') });
  await work(fixture);
  await work(fixture);
  expect(promptsOf(fixture)).toEqual(['one', 'two']);
  expect(fixture.rows('SELECT 1 FROM task_plans')).toHaveLength(1);
});
