// A workspace that is recorded after each step of a run: a lost node takes the files of the step in progress with it, and no others.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { WorkspaceBaseline } from '../../../../src/execution/artifacts/recording/workspace-baseline.ts';
import type { SnapshotThread } from '../../../../src/files/snapshots/snapshot-thread.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { type NodeFixture, type TwoNodes, twoNodes } from '../../../support/files/two-nodes.ts';
import { aStep, fenceOf, FREE } from '../../../support/store/store-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let fixture: TwoNodes;

beforeEach(async () => {
  fixture = await twoNodes();
});

const settings = () => {
  const given = fixture.settings();
  return { ...given, workspace: { ...given.workspace, checkpoint: 'step' as const } };
};

/** A collector of a node with that setting, and with another thread that looks. */
const collect = ({ parts }: NodeFixture, snapshotThread: Partial<SnapshotThread> = {}) =>
  fixture.collect({ ...parts, settings, snapshotThread: { ...parts.snapshotThread, ...snapshotThread } });

/** A run at work at a node. */
interface Working {
  readonly node: NodeFixture;
  readonly run: ClaimedRun;
  readonly baseline: WorkspaceBaseline;
}

/** A step with one call, which writes files. */
async function step({ node, run, baseline }: Working, no: number, files: Readonly<Record<string, string>>) {
  const calls = [{ id: `c${no}`, name: 'write_file', input: { path: Object.keys(files)[0]! } }];
  await fixture.store.runs.recordStep(fenceOf(run), aStep({ step: no, calls }), FREE);
  await baseline.take();
  node.write(run, files);
}

async function result({ run, baseline }: Omit<Working, 'node'>, no: number) {
  const call = { step: no, toolUseId: `c${no}`, name: 'write_file', ok: true, output: '', durationMs: 1 };
  await fixture.store.runs.recordToolResult({ ...fenceOf(run), workedMs: 0 }, call);
  baseline.stepEnded(no);
}

const recordedStep = (run: ClaimedRun) =>
  fixture.rows<{ step: number }>(`SELECT as_of_step AS step FROM workspaces WHERE session_seq = ${run.sessionSeq}`)[0]
    ?.step;

test('what steps before have left goes on elsewhere, and the agent is told of the calls since', async () => {
  const { north, south } = fixture;
  const run = await north.begin();
  const baseline = collect(north).baselineOf(run);
  expect(baseline.announces).toBe('each');
  await baseline.prepare();
  await step({ node: north, run, baseline }, 1, { 'a.txt': 'one', 'b.txt': 'two' });
  await result({ run, baseline }, 1);
  await step({ node: north, run, baseline }, 2, { 'a.txt': 'changed' });
  await result({ run, baseline }, 2);
  await waitFor(() => recordedStep(run) === 2);
  await step({ node: north, run, baseline }, 3, { 'lost.txt': 'lost' });
  await north.lose();
  const [again] = await fixture.claim(1, { node: 'south' });
  const there = collect(south).baselineOf(again!);
  expect(await there.prepare()).toEqual({ kind: 'ready', hasNotes: true });
  const root = south.workspaces.pathOf(run.sessionId);
  expect(readdirSync(root).map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['changed', 'two']);
  const [note] = await fixture.store.artifacts.listWorkspaceNotes(run.sessionSeq);
  expect(note!.text).toContain('as it was after step 2 of this turn');
  expect(note!.text).toContain('- writes lost.txt (step 3)');
  expect(note!.text).not.toContain('a.txt');
  south.write(again!, { 'c.txt': 'three' });
  await fixture.end(again!);
  south.collector.wake(run.sessionSeq);
  await waitFor(async () => (await fixture.artifactsOf(run)).status === 'ready');
  const own = await fixture.artifactsOf(run);
  expect(own.files.map(({ path, change }) => `${change} ${path}`)).toEqual([
    'added /a.txt',
    'added /b.txt',
    'added /c.txt',
  ]);
});

test('the next change waits until a step is recorded, which is that step however late it is', async () => {
  const { north } = fixture;
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const takeSnapshot: SnapshotThread['takeSnapshot'] = async (request) => {
    const found = await north.snapshotThread.takeSnapshot(request);
    asked.resolve();
    await go.promise;
    return found;
  };
  const run = await north.begin();
  const baseline = collect(north, { takeSnapshot }).baselineOf(run);
  await baseline.prepare();
  await step({ node: north, run, baseline }, 1, { 'a.txt': 'one' });
  await result({ run, baseline }, 1);
  await asked.promise;
  let isFree = false;
  const next = step({ node: north, run, baseline }, 2, { 'b.txt': 'two' }).then(() => (isFree = true));
  await waitFor(() => fixture.rows('SELECT 1 FROM steps').length === 2);
  expect([isFree, existsSync(join(north.workspaces.pathOf(run.sessionId), 'b.txt'))]).toEqual([false, false]);
  go.resolve();
  await next;
  expect(recordedStep(run)).toBe(1);
});

test('a step that could not be recorded is recorded with the next one, whatever that does', async () => {
  const { north } = fixture;
  let looks = 0;
  const takeSnapshot: SnapshotThread['takeSnapshot'] = async (request) => {
    looks += 1;
    if (looks === 1) throw new ErrandError('unavailable', 'No.');
    return north.snapshotThread.takeSnapshot(request);
  };
  const run = await north.begin();
  const baseline = collect(north, { takeSnapshot }).baselineOf(run);
  await baseline.prepare();
  await step({ node: north, run, baseline }, 1, { 'a.txt': 'one' });
  await result({ run, baseline }, 1);
  await waitFor(() => looks === 1);
  await waitFor(() => {
    baseline.stepEnded(2);
    return recordedStep(run) === 2;
  });
  expect(fixture.rows('SELECT path FROM workspace_files')).toEqual([{ path: '/a.txt' }]);
});

test.each([
  ['its default', {}],
  ['a daemon that is alone', { here: null, settings }],
])('with %s, no step is recorded', async (_which, over) => {
  const { north } = fixture;
  const run = await north.begin();
  const looks: string[] = [];
  const takeSnapshot: SnapshotThread['takeSnapshot'] = async (request) => {
    looks.push(request.sessionId);
    return north.snapshotThread.takeSnapshot(request);
  };
  const snapshotThread = { ...north.snapshotThread, takeSnapshot };
  const baseline = fixture.collect({ ...north.parts, ...over, snapshotThread }).baselineOf(run);
  await baseline.prepare();
  await step({ node: north, run, baseline }, 1, { 'a.txt': 'one' });
  await result({ run, baseline }, 1);
  await baseline.take();
  expect(looks).toEqual([]);
});

test('where another node may go on, the run that opens its session announces its first change, too', async () => {
  const { north } = fixture;
  const run = await north.begin();
  expect(north.collector.baselineOf(run).announces).toBe('first');
  const alone = (over: Partial<ClaimedRun>) =>
    fixture.collect({ ...north.parts, here: null }).baselineOf({ ...run, ...over }).announces;
  expect([alone({}), alone({ opensSession: false }), alone({ opensSession: false, attempt: 2 })]).toEqual([
    'none',
    'first',
    'none',
  ]);
});

test('a run without changes since its last step records nothing', async () => {
  const { north } = fixture;
  const run = await north.begin();
  const baseline = collect(north).baselineOf(run);
  await baseline.prepare();
  await step({ node: north, run, baseline }, 1, { 'a.txt': 'one' });
  await result({ run, baseline }, 1);
  await waitFor(() => recordedStep(run) === 1);
  writeFileSync(join(north.workspaces.pathOf(run.sessionId), 'by-hand.txt'), 'hand');
  baseline.stepEnded(2);
  await baseline.take();
  expect(recordedStep(run)).toBe(1);
});
