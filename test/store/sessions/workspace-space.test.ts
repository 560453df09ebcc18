// The space of workspaces is known per user at any moment, and nobody over the quota gets a new run.
import { expect, test } from 'vitest';
import { START } from '../../../src/store/retention/batch.ts';
import { ledgerFaultsOf } from '../../support/store/open-store.ts';
import { aTask, fireDue, fireNow, LIMITS, work } from '../../support/store/schedules.ts';
import { aTurn, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { recordWhole } from '../../support/store/read-whole.ts';

const NOTHING = { fired: 0, skipped: 0, putOff: 0, full: false };
const MINUTE = 60_000;
const file = (path: string, size: number) => ({ path, size, sha256: `${path} ${size}` });

async function spaceFixture() {
  const fixture = await storeFixture();
  const leave = async (files: readonly ReturnType<typeof file>[], sessionId: string | null = null) => {
    const run = await fixture.accept({ sessionId });
    await work(fixture);
    await recordWhole(fixture.store.artifacts, run, { files, skipped: {} });
    return run;
  };
  const used = async () => (await fixture.store.users.get('mara')).workspaceBytes;
  return { ...fixture, leave, used };
}

const acceptKind = async ({ store, user, key }: StoreFixture, userQuotaBytes: number) =>
  store.runs.accept({ ...aTurn(user, key), userQuotaBytes });

test('the sum follows what runs add, change and delete', async () => {
  const fixture = await spaceFixture();
  const { leave, used } = fixture;
  const { sessionId } = await leave([file('/a', 100), file('/b', 20)]);
  await leave([file('/c', 3)]);
  expect(await used()).toBe(123);
  await leave([file('/a', 70), file('/d', 5)], sessionId);
  expect(await used()).toBe(78);
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('a deleted session takes nothing from then on, whatever becomes of its rows', async () => {
  const { store, file: database, leave, used } = await spaceFixture();
  const deleted = await leave([file('/a', 100)]);
  await leave([file('/b', 20)]);
  await store.sessions.deleteSession(deleted.sessionSeq);
  expect(await used()).toBe(20);
  await store.artifacts.recordArtifacts(deleted.seq, { files: [file('/z', 9)], skipped: {} });
  while (await store.erasures.finishCleanup(deleted.sessionSeq));
  expect(await used()).toBe(20);
  expect(ledgerFaultsOf(database)).toEqual([]);
});

test('an idle workspace takes nothing once it is emptied, also when that is interrupted', async () => {
  const { store, clock, file: database, leave, used } = await spaceFixture();
  const run = await leave([file('/a', 100), file('/b', 20)]);
  await store.artifacts.finishArtifacts(run.seq, { key: 'x', size: 1 });
  await store.artifacts.finishExport(run.sessionSeq, run.seq, { key: 'y', size: 1 });
  clock.advance(MINUTE);
  const idle = (await store.retention.takeIdle(clock.now(), { room: () => 9 }, START)).session!;
  let rooms = 1;
  expect(await store.retention.forgetWorkspace(idle, true, { room: () => rooms-- })).toBe(true);
  expect(await used()).toBe(20);
  expect(await store.retention.forgetWorkspace(idle, true, { room: () => 9 })).toBe(false);
  expect(await used()).toBe(0);
  expect(ledgerFaultsOf(database)).toEqual([]);
});

test('a turn is refused beyond the quota, not at it; 0 is none', async () => {
  const fixture = await spaceFixture();
  await fixture.leave([file('/a', 100)]);
  expect(await acceptKind(fixture, 99)).toEqual({ kind: 'over_quota', usedBytes: 100 });
  expect(await acceptKind(fixture, 100)).toMatchObject({ kind: 'accepted' });
  expect(await acceptKind(fixture, 0)).toMatchObject({ kind: 'accepted' });
  expect(fixture.rows('SELECT 1 FROM sessions')).toHaveLength(3);
});

test('tasks of an owner over the quota wait, and fire for the same time once there is space', async () => {
  const fixture = await spaceFixture();
  const { store, clock, leave } = fixture;
  const { sessionSeq } = await leave([file('/a', 100)]);
  const task = await store.schedules.create(aTask(fixture.user.seq, { cron: '1 12 * * *' }));
  const limits = { ...LIMITS, userQuotaBytes: 99 };
  clock.advance(MINUTE);
  expect(await fireNow(fixture, task, limits)).toEqual({ kind: 'over_quota', usedBytes: 100 });
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, putOff: 1 });
  await store.sessions.deleteSession(sessionSeq);
  expect(await fireDue(fixture, limits)).toEqual(NOTHING);
  clock.advance(2 * MINUTE);
  expect(await fireDue(fixture, limits)).toEqual({ ...NOTHING, fired: 1 });
  const { items } = await store.schedules.listFirings(task.seq, { limit: 9, offset: 0 });
  expect(items).toMatchObject([{ dueAt: Date.parse('2026-03-01T12:01Z') }]);
});
