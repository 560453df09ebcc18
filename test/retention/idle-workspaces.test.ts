// Workspaces of sessions that nobody uses are emptied, and the next run is not blamed for it.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeEmptyIdle } from '../../src/retention/idle-workspaces.ts';
import { makeBatch, START } from '../../src/store/retention/batch.ts';
import { artifactHouse } from '../support/files/artifact-house.ts';
import { waitFor } from '../support/time/wait-for.ts';

const DAY = 86_400_000;

async function idleHouse() {
  const house = await artifactHouse();
  const collector = house.collect();
  const emptyIdle = makeEmptyIdle(house);
  const finished = async (files: Record<string, string>, sessionId: string | null = null) => {
    const run = await house.begin(sessionId);
    const baseline = collector.baselineOf(run);
    await baseline.workspaceFree();
    await baseline.take();
    house.write(run, files);
    await house.end(run);
    collector.wake(run.sessionSeq);
    const isPacked = async () => (await house.artifactsOf(run)).archive && (await house.exportOf(run)).archive;
    await waitFor(isPacked, { timeoutMs: 20_000 });
    return run;
  };
  return { ...house, collector, emptyIdle, finished };
}

test('an idle workspace is emptied; files of runs stay, and the next run has only added what it made', async () => {
  const house = await idleHouse();
  const run = await house.finished({ 'tide.txt': 'high', 'moon.txt': 'full' });
  house.clock.advance(9 * DAY);
  expect(await house.store.retention.countIdle(house.clock.now() - DAY)).toMatchObject({ rows: 1, bytes: 8 });
  expect(await house.emptyIdle(house.clock.now() - DAY)).toMatchObject({ rows: 1, more: true });
  expect(await house.emptyIdle(house.clock.now() - DAY)).toMatchObject({ rows: 0, more: false });
  expect(existsSync(house.workspaces.pathOf(run.sessionId))).toBe(false);
  expect(await house.exportOf(run)).toMatchObject({ status: 'ready', files: [], archive: null, isUnpacked: false });
  expect((await house.artifactsOf(run)).files).toHaveLength(2);
  expect((await house.store.sessions.getSetup(run.sessionSeq)).workspaceRemovedAt).toBe(house.clock.now());
  const next = await house.finished({ 'sun.txt': 'bright' }, run.sessionId);
  expect((await house.artifactsOf(next)).files).toMatchObject([{ path: '/sun.txt', change: 'added' }]);
  expect((await house.exportOf(next)).files).toMatchObject([{ path: '/sun.txt' }]);
});

test('sessions that are kept are passed, some at a time', async () => {
  const house = await idleHouse();
  for (let no = 0; no < 3; no += 1) await house.begin();
  const run = await house.finished({ 'tide.txt': 'high' });
  house.clock.advance(9 * DAY);
  const before = house.clock.now() - DAY;
  let from = START;
  for (let commit = 0; commit < 3; commit += 1) {
    let rooms = 1;
    const taken = await house.store.retention.takeIdle(before, { room: () => rooms-- }, from);
    expect(taken).toMatchObject({ session: undefined, more: true });
    from = taken.next;
  }
  const { session } = await house.store.retention.takeIdle(before, { room: () => 1 }, from);
  expect(session?.id).toBe(run.sessionId);
});

test('a session with a run in progress, or used since, keeps its files', async () => {
  const house = await idleHouse();
  const run = await house.finished({ 'tide.txt': 'high' });
  const before = house.clock.now() - 1;
  house.clock.advance(DAY);
  await house.begin(run.sessionId);
  expect(await house.emptyIdle(house.clock.now() + 1)).toMatchObject({ rows: 0, more: false });
  expect(await house.emptyIdle(before)).toMatchObject({ rows: 0, more: false });
  expect(existsSync(house.workspaces.pathOf(run.sessionId))).toBe(true);
});

test('what a kill has left of an earlier removal is not in the way of the next', async () => {
  const house = await idleHouse();
  const run = await house.finished({ 'tide.txt': 'high' });
  house.workspaces.retire(run.sessionId);
  await house.finished({ 'moon.txt': 'full' }, run.sessionId);
  house.clock.advance(9 * DAY);
  const before = house.clock.now() - DAY;
  expect(await house.emptyIdle(before)).toMatchObject({ rows: 0, more: true });
  expect(await house.emptyIdle(before)).toMatchObject({ rows: 1, more: true });
  expect(existsSync(house.workspaces.pathOf(run.sessionId))).toBe(false);
  expect(house.workspaces.retire(run.sessionId)).toBe(false);
});

test('until the files are forgotten, the export is one that a run has to look at again', async () => {
  const house = await idleHouse();
  await house.finished({ 'tide.txt': 'high' });
  const stale = () => house.rows('SELECT stale FROM workspace_exports');
  expect(stale()).toEqual([{ stale: 0 }]);
  house.clock.advance(DAY);
  const batch = makeBatch(() => 0);
  await house.store.retention.takeIdle(house.clock.now(), batch, START);
  expect(stale()).toEqual([{ stale: 1 }]);
});

test('a session whose files can not be removed is passed', async () => {
  const house = await idleHouse();
  const stuck = await house.finished({ 'tide.txt': 'high' });
  house.clock.advance(1_000);
  const other = await house.finished({ 'moon.txt': 'full' });
  house.clock.advance(9 * DAY);
  const before = house.clock.now() - DAY;
  const removeRetired = async (id: string) => {
    if (id === stuck.sessionId) throw new Error('EPERM');
    return house.workspaces.removeRetired(id);
  };
  const emptyIdle = makeEmptyIdle({ ...house, workspaces: { ...house.workspaces, removeRetired } });
  const first = await emptyIdle(before);
  expect(first).toMatchObject({ rows: 0, more: true });
  expect(await emptyIdle(before, undefined, first.next)).toMatchObject({ rows: 1 });
  expect(existsSync(house.workspaces.pathOf(other.sessionId))).toBe(false);
});

test('a session that is deleted leaves nothing of a workspace that was taken out of the way', async () => {
  const house = await idleHouse();
  const run = await house.finished({ 'tide.txt': 'high' });
  house.workspaces.retire(run.sessionId);
  await house.workspaces.remove(run.sessionId);
  house.write(run, { 'moon.txt': 'full' });
  expect(house.workspaces.retire(run.sessionId)).toBe(true);
});

test('what a kill interrupts is finished by the next pass', async () => {
  const house = await idleHouse();
  const run = await house.finished({ 'tide.txt': 'high' });
  const at = house.clock.now() + 1;
  await house.store.retention.takeIdle(
    at,
    makeBatch(() => 0),
    START,
  );
  house.workspaces.retire(run.sessionId);
  house.clock.advance(DAY);
  expect(await house.emptyIdle(at)).toMatchObject({ rows: 0, more: true });
  expect((await house.exportOf(run)).files).toEqual([]);
  expect((await house.store.sessions.getSetup(run.sessionSeq)).workspaceRemovedAt).not.toBe(null);
  expect(await house.emptyIdle(at)).toMatchObject({ rows: 0, more: false });
});
