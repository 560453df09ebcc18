// A run that leaves its node before its end: its workspace is recorded before, so that it goes on elsewhere with its files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { type NodeFixture, type TwoNodes, twoNodes } from '../../../support/files/two-nodes.ts';
import { aStep, fenceOf, FREE } from '../../../support/store/store-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let fixture: TwoNodes;

beforeEach(async () => {
  fixture = await twoNodes();
});

const progressOf = (run: ClaimedRun) => ({ ...fenceOf(run), workedMs: 0 });
const call = { id: 'c', name: 'write_file', input: { path: 'b.txt' } };

function filesOf({ workspaces }: NodeFixture, { sessionId }: Pick<ClaimedRun, 'sessionId'>): Record<string, string> {
  const root = workspaces.pathOf(sessionId);
  return Object.fromEntries(readdirSync(root).map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

/** A run at a node, whose agent has changed files. */
async function working(node: NodeFixture, files: Record<string, string | null>, sessionId: string | null = null) {
  const run = await node.begin(sessionId);
  const baseline = node.collector.baselineOf(run);
  await baseline.prepare();
  await fixture.store.runs.recordStep(fenceOf(run), aStep({ calls: [call] }), FREE);
  await baseline.take();
  node.write(run, files);
  return { run, baseline };
}

async function collected(node: NodeFixture, run: ClaimedRun) {
  await fixture.end(run);
  node.collector.wake(run.sessionSeq);
  return waitFor(async () => {
    const found = await fixture.artifactsOf(run);
    return found.status === 'pending' ? null : found;
  });
}

/** The run goes back to the queue, and another node takes it. */
async function goesOnAt(node: NodeFixture, run: ClaimedRun) {
  await fixture.store.runs.interrupt(progressOf(run), 'drain');
  const [again] = await fixture.claim(1, { node: node.id });
  const baseline = node.collector.baselineOf(again!);
  return { run: again!, baseline, prepared: await baseline.prepare() };
}

test('it goes on with the files that it had, without a note, and its artifacts have all that it made', async () => {
  const { north, south } = fixture;
  const first = await working(north, { 'a.txt': 'one', 'old.txt': 'old' });
  await collected(north, first.run);
  const { run, baseline } = await working(
    north,
    { 'a.txt': 'new', 'b.txt': 'two', 'old.txt': null },
    first.run.sessionId,
  );
  // As in a drain.
  baseline.abort();
  await baseline.keep();
  const later = await goesOnAt(south, run);
  expect(later.prepared).toEqual({ kind: 'ready', hasNotes: false });
  expect(filesOf(south, run)).toEqual({ 'a.txt': 'new', 'b.txt': 'two' });
  south.write(run, { 'c.txt': 'three' });
  const own = await collected(south, later.run);
  expect(own.files.map(({ path, change }) => `${change} ${path}`)).toEqual([
    'modified /a.txt',
    'added /b.txt',
    'added /c.txt',
  ]);
});

test('it leaves each node with its files, also one where it has only waited', async () => {
  const { north, south } = fixture;
  const { run, baseline } = await working(north, { 'a.txt': 'one' });
  await baseline.keep();
  const there = await goesOnAt(south, run);
  south.write(run, { 'b.txt': 'two' });
  await there.baseline.keep();
  const back = await goesOnAt(north, there.run);
  expect(back.prepared.kind).toBe('ready');
  expect(await fixture.store.artifacts.listWorkspaceNotes(run.sessionSeq)).toEqual([]);
  expect(filesOf(north, run)).toEqual({ 'a.txt': 'one', 'b.txt': 'two' });
});

test('a run that has changed nothing records nothing, and neither does a node that is alone', async () => {
  const { north } = fixture;
  const looks: string[] = [];
  const snapshotThread = {
    ...north.snapshotThread,
    takeSnapshot: (...[request]: Parameters<typeof north.snapshotThread.takeSnapshot>) => {
      looks.push(request.sessionId);
      return north.snapshotThread.takeSnapshot(request);
    },
  };
  const { run: first } = await working(north, { 'a.txt': 'one' });
  await collected(north, first);
  const run = await north.begin(first.sessionId);
  const shared = fixture.collect({ ...north.parts, snapshotThread }).baselineOf(run);
  await shared.prepare();
  north.write(run, { 'upload.txt': 'up' });
  await shared.keep();
  const alone = fixture.collect({ ...north.parts, here: null, snapshotThread }).baselineOf(run);
  await alone.prepare();
  await alone.keep();
  expect(looks).toEqual([]);
  await shared.take();
  await shared.keep();
  // For its baseline, and then.
  expect(looks).toEqual([run.sessionId, run.sessionId]);
});

test('a run that opens its session, of whose changes nobody says when they begin, is recorded as well', async () => {
  const { north, south } = fixture;
  const run = await north.begin();
  const baseline = north.collector.baselineOf(run);
  await baseline.prepare();
  north.write(run, { 'a.txt': 'one' });
  await baseline.keep();
  await goesOnAt(south, run);
  expect(filesOf(south, run)).toEqual({ 'a.txt': 'one' });
});

test('a workspace that is not here yet is not taken for what the run has left', async () => {
  const { north, south } = fixture;
  const { run, baseline } = await working(north, { 'a.txt': 'one' });
  await baseline.keep();
  await fixture.store.runs.interrupt(progressOf(run), 'drain');
  const [again] = await fixture.claim(1, { node: 'south' });
  const there = south.collector.baselineOf(again!);
  there.abort();
  await there.prepare();
  south.write(run, { 'other.txt': 'other' });
  await there.keep();
  expect(fixture.rows('SELECT path FROM workspace_files')).toEqual([{ path: '/a.txt' }]);
});

test.each(['is in time', 'is refused'])(
  'where nothing %s to record it, the agent is told what may be missing',
  async (what) => {
    const { north, south, clock } = fixture;
    const first = await working(north, { 'a.txt': 'one' });
    await collected(north, first.run);
    const asked = Promise.withResolvers<void>();
    const snapshotThread: typeof north.snapshotThread = {
      ...north.snapshotThread,
      takeSnapshot: ({ signal }) => {
        asked.resolve();
        const refused = new ErrandError('unavailable', 'No.');
        if (what === 'is refused') return Promise.reject(refused);
        return new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(refused)));
      },
    };
    const { run } = await working(north, { 'b.txt': 'two' }, first.run.sessionId);
    const stuck = fixture.collect({ ...north.parts, snapshotThread }).baselineOf({ ...run, attempt: run.attempt + 1 });
    await stuck.prepare();
    const kept = stuck.keep();
    await asked.promise;
    clock.advance(4_000);
    await kept;
    const later = await goesOnAt(south, run);
    expect(later.prepared).toEqual({ kind: 'ready', hasNotes: true });
    expect(filesOf(south, run)).toEqual({ 'a.txt': 'one' });
    expect(existsSync(north.workspaces.pathOf(run.sessionId))).toBe(true);
  },
);
