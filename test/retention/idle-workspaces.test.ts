// Workspaces of sessions that nobody uses are emptied, and the next run is not blamed for it.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeEmptyIdle } from '../../src/retention/idle-workspaces.ts';
import { makeBatch, START } from '../../src/store/retention/batch.ts';
import { artifactFixture } from '../support/files/artifact-fixture.ts';
import { waitFor } from '../support/time/wait-for.ts';

const DAY = 86_400_000;

async function idleFixture() {
  const fixture = await artifactFixture();
  const collector = fixture.collect();
  const emptyIdle = makeEmptyIdle({ ...fixture, isShared: false });
  const finished = async (files: Record<string, string>, sessionId: string | null = null) => {
    const run = await fixture.begin(sessionId);
    const baseline = collector.baselineOf(run);
    await baseline.prepare();
    await baseline.take();
    fixture.write(run, files);
    await fixture.end(run);
    collector.wake(run.sessionSeq);
    const isPacked = async () => (await fixture.artifactsOf(run)).archive && (await fixture.exportOf(run)).archive;
    await waitFor(isPacked);
    return run;
  };
  return { ...fixture, collector, emptyIdle, finished };
}

test('an idle workspace is emptied; files of runs stay, and the next run has only added what it made', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high', 'moon.txt': 'full' });
  fixture.clock.advance(9 * DAY);
  expect(await fixture.store.retention.countIdle(fixture.clock.now() - DAY)).toMatchObject({ rows: 1, bytes: 8 });
  expect(await fixture.emptyIdle(fixture.clock.now() - DAY)).toMatchObject({ rows: 1, more: true });
  expect(await fixture.emptyIdle(fixture.clock.now() - DAY)).toMatchObject({ rows: 0, more: false });
  expect(existsSync(fixture.workspaces.pathOf(run.sessionId))).toBe(false);
  expect(await fixture.exportOf(run)).toMatchObject({ status: 'ready', files: [], archive: null, isUnpacked: false });
  expect((await fixture.artifactsOf(run)).files).toHaveLength(2);
  expect((await fixture.store.sessions.getSetup(run.sessionSeq)).workspaceRemovedAt).toBe(fixture.clock.now());
  const next = await fixture.finished({ 'sun.txt': 'bright' }, run.sessionId);
  expect((await fixture.artifactsOf(next)).files).toMatchObject([{ path: '/sun.txt', change: 'added' }]);
  expect((await fixture.exportOf(next)).files).toMatchObject([{ path: '/sun.txt' }]);
});

test('sessions that are kept are passed, some at a time', async () => {
  const fixture = await idleFixture();
  for (let no = 0; no < 3; no += 1) await fixture.begin();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  fixture.clock.advance(9 * DAY);
  const before = fixture.clock.now() - DAY;
  let from = START;
  for (let commit = 0; commit < 3; commit += 1) {
    let rooms = 1;
    const taken = await fixture.store.retention.takeIdle(before, { room: () => rooms-- }, from);
    expect(taken).toMatchObject({ session: undefined, more: true });
    from = taken.next;
  }
  const { session } = await fixture.store.retention.takeIdle(before, { room: () => 1 }, from);
  expect(session?.id).toBe(run.sessionId);
});

test('a session with a run in progress, or used since, keeps its files', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  const before = fixture.clock.now() - 1;
  fixture.clock.advance(DAY);
  await fixture.begin(run.sessionId);
  expect(await fixture.emptyIdle(fixture.clock.now() + 1)).toMatchObject({ rows: 0, more: false });
  expect(await fixture.emptyIdle(before)).toMatchObject({ rows: 0, more: false });
  expect(existsSync(fixture.workspaces.pathOf(run.sessionId))).toBe(true);
});

test('what a kill has left of an earlier removal is not in the way of the next', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  fixture.workspaces.retire(run.sessionId);
  await fixture.finished({ 'moon.txt': 'full' }, run.sessionId);
  fixture.clock.advance(9 * DAY);
  const before = fixture.clock.now() - DAY;
  expect(await fixture.emptyIdle(before)).toMatchObject({ rows: 0, more: true });
  expect(await fixture.emptyIdle(before)).toMatchObject({ rows: 1, more: true });
  expect(existsSync(fixture.workspaces.pathOf(run.sessionId))).toBe(false);
  expect(fixture.workspaces.retire(run.sessionId)).toBe(false);
});

test('until the files are forgotten, the export is one that a run has to look at again', async () => {
  const fixture = await idleFixture();
  await fixture.finished({ 'tide.txt': 'high' });
  const stale = () => fixture.rows('SELECT stale FROM workspace_exports');
  expect(stale()).toEqual([{ stale: 0 }]);
  fixture.clock.advance(DAY);
  const batch = makeBatch(() => 0);
  await fixture.store.retention.takeIdle(fixture.clock.now(), batch, START);
  expect(stale()).toEqual([{ stale: 1 }]);
});

test('a session whose files can not be removed is passed', async () => {
  const fixture = await idleFixture();
  const stuck = await fixture.finished({ 'tide.txt': 'high' });
  fixture.clock.advance(1_000);
  const other = await fixture.finished({ 'moon.txt': 'full' });
  fixture.clock.advance(9 * DAY);
  const before = fixture.clock.now() - DAY;
  const removeRetired = async (id: string) => {
    if (id === stuck.sessionId) throw new Error('EPERM');
    return fixture.workspaces.removeRetired(id);
  };
  const emptyIdle = makeEmptyIdle({
    isShared: false,
    ...fixture,
    workspaces: { ...fixture.workspaces, removeRetired },
  });
  const first = await emptyIdle(before);
  expect(first).toMatchObject({ rows: 0, more: true });
  expect(await emptyIdle(before, undefined, first.next)).toMatchObject({ rows: 1 });
  expect(existsSync(fixture.workspaces.pathOf(other.sessionId))).toBe(false);
});

test('a session that is deleted leaves nothing of a workspace that was taken out of the way', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  fixture.workspaces.retire(run.sessionId);
  await fixture.workspaces.remove(run.sessionId);
  fixture.write(run, { 'moon.txt': 'full' });
  expect(fixture.workspaces.retire(run.sessionId)).toBe(true);
});

test('what a kill interrupts is finished by the next pass', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  const at = fixture.clock.now() + 1;
  await fixture.store.retention.takeIdle(
    at,
    makeBatch(() => 0),
    START,
  );
  fixture.workspaces.retire(run.sessionId);
  fixture.clock.advance(DAY);
  expect(await fixture.emptyIdle(at)).toMatchObject({ rows: 0, more: true });
  expect((await fixture.exportOf(run)).files).toEqual([]);
  expect((await fixture.store.sessions.getSetup(run.sessionSeq)).workspaceRemovedAt).not.toBe(null);
  expect(await fixture.emptyIdle(at)).toMatchObject({ rows: 0, more: false });
});

test('where other nodes may have workspaces, what is recorded of an idle one stays', async () => {
  const fixture = await idleFixture();
  const run = await fixture.finished({ 'tide.txt': 'high' });
  fixture.clock.advance(9 * DAY);
  const emptyIdle = makeEmptyIdle({ ...fixture, isShared: true });
  expect(
    await emptyIdle(
      fixture.clock.now() - DAY,
      makeBatch(() => 0),
    ),
  ).toEqual({ rows: 0, more: false });
  expect((await fixture.exportOf(run)).files).toMatchObject([{ path: '/tide.txt' }]);
});
