// Runs whose files a lost node has not collected: who counts as lost, and what becomes of them.
import { beforeEach, expect, test } from 'vitest';
import type { Ending } from '../../../src/store/lifecycle/end-run.ts';
import { aNode } from '../../support/store/nodes.ts';
import { runArtifactsOf, workspaceOf } from '../../support/store/read-whole.ts';
import { fenceOf, START, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const GRACE_MS = 120_000;
const COMPLETED: Ending = { outcome: 'completed', answer: '', stopReason: 'end_turn' };
const file = (path: string) => ({ path, size: 1, sha256: path });

let fixture: StoreFixture;
const artifacts = () => fixture.store.artifacts;

beforeEach(async () => {
  fixture = await storeFixture();
  await fixture.store.nodes.beat(aNode({ id: START.node }), null);
});

async function ended(ending: Ending = COMPLETED) {
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ending);
  await fixture.store.runs.settle(fenceOf(run!));
  return run!;
}

const row = async () => (await fixture.store.nodes.list())[0]!;
const lose = async () => fixture.store.nodes.takeOver(await row());
const silentFor = (ms: number) => fixture.change(`UPDATE worker_nodes SET last_beat_at = last_beat_at - ${ms}`);
const listed = async (silentMs = GRACE_MS) => artifacts().listLost(silentMs);

test('a node that was lost, or has left, has a while to come back', async () => {
  const { sessionSeq } = await ended();
  silentFor(GRACE_MS);
  expect(await listed()).toEqual([]);
  await fixture.store.nodes.beat(aNode({ id: START.node }), null);
  await lose();
  expect([await listed(), await listed(0)]).toEqual([[], [sessionSeq]]);
  silentFor(GRACE_MS);
  expect(await listed()).toEqual([sessionSeq]);
  await fixture.store.nodes.beat(aNode({ id: START.node, process: 'another' }), null);
  expect([await listed(), await listed(0)]).toEqual([[], []]);
  expect(await artifacts().concludeLost(sessionSeq, 0)).toEqual({ runs: 0, replacedKeys: [] });
});

test('one that was removed, or is not known, has none', async () => {
  const { sessionSeq } = await ended();
  await fixture.store.nodes.remove(await row());
  expect(await listed()).toEqual([sessionSeq]);
});

test('a session from before workspaces had nodes is lost with the home node', async () => {
  const { sessionSeq } = await ended();
  fixture.change('UPDATE sessions SET workspace_node = NULL');
  expect(await listed(0)).toEqual([]);
  await lose();
  expect(await listed(0)).toEqual([sessionSeq]);
});

test('the artifacts of a run fail, and the session has what is recorded of it', async () => {
  const first = await ended();
  await artifacts().recordArtifacts(first.seq, { files: [file('/a')], skipped: {}, token: 'first' });
  await artifacts().finishExport(first.sessionSeq, first.seq, { key: 'zip', size: 9 });
  await fixture.accept({ sessionId: first.sessionId });
  const [second] = await fixture.claim();
  await fixture.store.runs.end(fenceOf(second!), COMPLETED, {});
  await lose();
  expect(await artifacts().concludeLost(first.sessionSeq, 0)).toEqual({ runs: 1, replacedKeys: ['zip'] });
  expect(await listed(0)).toEqual([]);
  expect(await runArtifactsOf(artifacts(), second!.seq)).toMatchObject({ status: 'failed', files: [] });
  expect(await workspaceOf(artifacts(), first.sessionSeq)).toMatchObject({ status: 'ready', files: [{ path: '/a' }] });
  // What the look before has found is what there is.
  expect((await artifacts().findWorkspace(first.sessionSeq)).token).toBe('first');
});

test('a run that was stopped or has failed says so itself', async () => {
  const error = { type: 'api_error', message: 'Broken.', retryable: false } as const;
  const { seq, sessionSeq } = await ended({ outcome: 'failed', error });
  await lose();
  await artifacts().concludeLost(sessionSeq, 0);
  expect((await runArtifactsOf(artifacts(), seq)).error?.message).toBe('The run failed: Broken.');
});
