// What scheduled tasks leave behind goes by age: firings, deleted tasks, whole sessions.
import { expect, test } from 'vitest';
import type { Removed } from '../../../src/store/retention/batch.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { aPage, publishFixture, SITE } from '../../support/store/publishing.ts';
import { aTask, fireNow, work } from '../../support/store/schedules.ts';

const DAY = 86_400_000;
const always = { room: () => 9 };

async function taskFixture() {
  const fixture = await storeFixture();
  const task = await fixture.store.schedules.create(aTask(fixture.user.seq));
  const fire = async () => {
    const fired = await fireNow(fixture, task);
    const run = await work(fixture);
    fixture.clock.advance(DAY);
    return { fired, run };
  };
  const firings = async () => (await fixture.store.schedules.listFirings(task.seq, { limit: 9, offset: 0 })).total;
  return { ...fixture, task, fire, firings };
}

test('firings go by their age, except the last of a task', async () => {
  const { store, clock, fire, firings } = await taskFixture();
  for (let no = 0; no < 3; no += 1) await fire();
  expect(await store.retention.countFirings(clock.now())).toMatchObject({ rows: 2 });
  expect(await store.retention.firings(clock.now() - 5 * DAY, always)).toMatchObject({ rows: 0, more: false });
  expect(await store.retention.firings(clock.now(), always)).toMatchObject({ rows: 2, more: false });
  expect(await firings()).toBe(1);
  expect(await store.retention.firings(clock.now(), always)).toMatchObject({ rows: 0, more: false });
});

test('last firings of many tasks are passed, some at a time, and nothing behind them is forgotten', async () => {
  const fixture = await storeFixture();
  const { store, clock, user } = fixture;
  const fire = async (task: Awaited<ReturnType<typeof store.schedules.create>>) => {
    await fireNow(fixture, task);
    await work(fixture);
  };
  // All end in the same millisecond.
  for (let no = 0; no < 9; no += 1) await fire(await store.schedules.create(aTask(user.seq)));
  const last = await store.schedules.create(aTask(user.seq));
  for (let no = 0; no < 3; no += 1) await fire(last);
  clock.advance(DAY);
  let removed: Removed = { rows: 0, more: true };
  const rows: number[] = [];
  while (removed.more) {
    let rooms = 2;
    removed = await store.retention.firings(clock.now(), { room: () => (rooms-- > 0 ? 4 : 0) }, removed.next);
    rows.push(removed.rows);
  }
  expect(rows).toEqual([0, 2, 0]);
  expect(fixture.rows('SELECT 1 FROM firings')).toHaveLength(10);
});

test('a deleted task goes with its last firing', async () => {
  const { store, clock, task, fire, rows } = await taskFixture();
  await fire();
  await store.schedules.remove(task.id);
  await store.retention.firings(clock.now() - DAY - 1, always);
  expect(rows('SELECT 1 FROM scheduled_tasks')).toHaveLength(1);
  expect(await store.retention.firings(clock.now() + 1, always)).toMatchObject({ rows: 1, more: false });
  for (const table of ['scheduled_tasks', 'task_plans', 'firings', 'scheduled_runs'])
    expect(rows(`SELECT 1 FROM ${table}`)).toEqual([]);
});

test('sessions of a task are deleted by their age, unless a page is made of them; others stay', async () => {
  const fixture = await taskFixture();
  const { store, clock, fire, rows, committed } = fixture;
  const [old, shown] = [await fire(), await fire()];
  await fixture.accept();
  await work(fixture);
  clock.advance(DAY);
  await fire();
  const pages = await publishFixture(fixture);
  await store.artifacts.recordArtifacts(shown.run.seq, { files: SITE, skipped: {} });
  await pages.publish(shown.run);
  const before = clock.now() - DAY;
  expect(await store.retention.countScheduledSessions(before)).toMatchObject({ rows: 1 });
  expect(await store.retention.scheduledSessions(before, always)).toMatchObject({ rows: 1, more: false });
  const deleted = rows<{ seq: number }>('SELECT seq FROM sessions WHERE deleted_at IS NOT NULL');
  expect(deleted).toEqual([{ seq: old.run.sessionSeq }]);
  expect(committed.at(-1)).toMatchObject({ type: 'session.deleted', sessionSeq: old.run.sessionSeq });
});

test('sessions that pages are made of are passed, some at a time, and nothing behind them is forgotten', async () => {
  const fixture = await storeFixture();
  const { store, clock, user } = fixture;
  const task = await store.schedules.create(aTask(user.seq));
  const sessions: number[] = [];
  for (let no = 0; no < 11; no += 1) {
    await fireNow(fixture, task);
    sessions.push((await work(fixture)).sessionSeq);
  }
  for (const sessionSeq of sessions.slice(0, 9)) await store.pages.createPage(aPage(user.seq, { sessionSeq }));
  clock.advance(DAY);
  let removed: Removed = { rows: 0, more: true };
  const rows: number[] = [];
  while (removed.more) {
    let rooms = 2;
    const batch = { room: () => (rooms-- > 0 ? 4 : 0) };
    removed = await store.retention.scheduledSessions(clock.now(), batch, removed.next);
    rows.push(removed.rows);
  }
  expect(rows).toEqual([0, 2]);
  expect(await store.retention.countScheduledSessions(clock.now())).toMatchObject({ rows: 0 });
  expect(fixture.rows('SELECT 1 FROM sessions WHERE deleted_at IS NULL')).toHaveLength(9);
});
