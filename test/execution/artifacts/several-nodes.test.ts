// Several nodes on one store: the one that has a workspace collects it, and what a lost one has not collected is waited for by nobody.
import { rmSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { type TwoNodes, twoNodes } from '../../support/files/two-nodes.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LOST = 'The node that executed the run was lost before its files were collected.';

let fixture: TwoNodes;

beforeEach(async () => {
  fixture = await twoNodes();
});

const statusOf = async (run: Pick<ClaimedRun, 'seq'>) => (await fixture.artifactsOf(run)).status;

/** A run at the north that leaves a file, and has ended. */
async function ended(files: Readonly<Record<string, string>> = { 'a.txt': 'one' }, sessionId: string | null = null) {
  const run = await fixture.north.begin(sessionId);
  fixture.north.write(run, files);
  await fixture.end(run);
  return run;
}

/** The same, and its files are known. */
async function collected(files?: Readonly<Record<string, string>>) {
  const run = await ended(files);
  fixture.north.collector.wake(run.sessionSeq);
  await waitFor(async () => (await statusOf(run)) === 'ready');
  return run;
}

test('a node collects its own workspaces only', async () => {
  const run = await ended();
  const { artifacts } = fixture.store;
  expect(await artifacts.listSessionsToCollect('south')).toEqual([]);
  expect((await artifacts.findWork(run.sessionSeq, 'south'))?.run).toBeUndefined();
  const found = { files: [], skipped: {} };
  expect(await artifacts.recordArtifacts(run.seq, found, 'south')).toBeUndefined();
  expect(await artifacts.failCollection(run.seq, 'No.', 'south')).toBe(false);
  expect(await artifacts.listSessionsToCollect('north')).toEqual([run.sessionSeq]);
  fixture.north.collector.start();
  await waitFor(async () => (await statusOf(run)) === 'ready');
  expect((await fixture.artifactsOf(run)).files).toMatchObject([{ path: '/a.txt', change: 'added' }]);
});

test('a session from before workspaces had nodes is that of the home node', async () => {
  const run = await ended();
  fixture.change('UPDATE sessions SET workspace_node = NULL');
  expect(await fixture.store.artifacts.listSessionsToCollect('south')).toEqual([]);
  expect(await fixture.store.artifacts.listSessionsToCollect('north')).toEqual([run.sessionSeq]);
});

test('archives are packed at any node', async () => {
  const run = await collected();
  fixture.change("UPDATE workspace_exports SET status = 'pending', archive_key = NULL");
  expect(await fixture.store.artifacts.listSessionsToCollect('south')).toEqual([run.sessionSeq]);
  fixture.south.collector.start();
  await waitFor(async () => (await fixture.exportOf(run)).archive !== null);
});

test('a directory that is missing is no workspace whose files were deleted', async () => {
  const run = await collected();
  const next = await fixture.north.begin(run.sessionId);
  rmSync(fixture.north.workspaces.pathOf(run.sessionId), { recursive: true });
  await fixture.north.collector.baselineOf(next).take();
  await fixture.end(next);
  fixture.north.collector.wake(next.sessionSeq);
  const { status, error } = await waitFor(async () => {
    const own = await fixture.artifactsOf(next);
    return own.status === 'pending' ? null : own;
  });
  expect([status, error?.message]).toEqual(['failed', 'The directory of the workspace is missing.']);
  expect((await fixture.exportOf(next)).files).toMatchObject([{ path: '/a.txt' }]);
});

test('a run at another node waits until the files of the run before are known', async () => {
  const run = await ended();
  const next = await fixture.south.begin(run.sessionId);
  let isFree = false;
  const free = fixture.south.collector.baselineOf(next).prepare();
  void free.then(() => (isFree = true));
  await waitFor(async () => {
    fixture.clock.advance(1_000);
    return (await fixture.store.artifacts.findWork(run.sessionSeq, 'north'))?.run !== undefined;
  });
  expect(isFree).toBe(false);
  fixture.north.collector.wake(run.sessionSeq);
  await waitFor(async () => (await statusOf(run)) === 'ready');
  fixture.south.collector.knownElsewhere(run.sessionSeq);
  await free;
});

test('a run that waits for a workspace elsewhere is called off at once', async () => {
  const run = await ended();
  const baseline = fixture.south.collector.baselineOf(await fixture.south.begin(run.sessionId));
  const free = baseline.prepare();
  baseline.abort();
  await free;
  expect(await statusOf(run)).toBe('pending');
});

test('as soon as another node wants the workspace of a lost one, the artifacts that were not collected fail', async () => {
  const before = await collected({ 'a.txt': 'one', 'b.txt': 'two' });
  const run = await ended({ 'c.txt': 'three' }, before.sessionId);
  await fixture.north.lose();
  const next = await fixture.south.begin(run.sessionId);
  await fixture.south.collector.baselineOf(next).prepare();
  const own = await fixture.artifactsOf(run);
  expect([own.status, own.error]).toEqual(['failed', { type: 'api_error', message: LOST }]);
  const whole = await fixture.exportOf(run);
  expect([whole.status, whole.files.map(({ path }) => path)]).toEqual(['ready', ['/a.txt', '/b.txt']]);
  const told = fixture.committed.filter(({ type }) => type === 'artifacts.failed');
  expect(told.map(({ payload }) => payload)).toEqual([{ runId: run.id, message: LOST }]);
  // Its process is back, and finds that it is too late.
  await fixture.north.beat();
  expect(await fixture.store.artifacts.recordArtifacts(run.seq, { files: [], skipped: {} }, 'north')).toBeUndefined();
});

test('what a removed node has not collected is lost at once', async () => {
  const run = await ended();
  await fixture.north.lose();
  fixture.south.collector.start();
  const { nodes } = fixture.store;
  await nodes.remove((await nodes.list()).find(({ id }) => id === 'north')!);
  fixture.south.collector.nodeRemoved();
  await waitFor(async () => (await statusOf(run)) === 'failed');
});
