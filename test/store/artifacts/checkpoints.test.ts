// A workspace that is recorded in the midst of a run: what the run has changed stays its own, wherever it goes on and however often it is recorded.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import { makeLostWorkspaces } from '../../../src/store/artifacts/lost-workspaces.ts';
import { makeRecordArtifacts } from '../../../src/store/artifacts/record-artifacts.ts';
import { makeWorkspaceTree } from '../../../src/store/artifacts/workspace-tree.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aNode } from '../../support/store/nodes.ts';
import { openRows } from '../../support/store/open-store.ts';
import { runArtifactsOf, workspaceOf } from '../../support/store/read-whole.ts';
import { aStep, fenceOf, FREE, START, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const HERE = START.node;
const SMALL_PARTS = { atOnce: 2 };
const file = (path: string, content = path): FileVersion => ({ path, size: content.length, sha256: content });

let fixture: StoreFixture;
let database: Database;

beforeEach(async () => {
  fixture = await storeFixture();
  database = openRows(fixture.file, fixture.clock);
  onTestFinished(() => database.close());
});

const artifacts = () => fixture.store.artifacts;

async function begin(sessionId: string | null = null): Promise<ClaimedRun> {
  await fixture.accept({ sessionId });
  return (await fixture.claim())[0]!;
}

async function end(run: ClaimedRun): Promise<void> {
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run));
}

/** A run in a workspace that has some files. */
async function beginIn(...files: readonly FileVersion[]): Promise<ClaimedRun> {
  const first = await begin();
  await end(first);
  await artifacts().recordArtifacts(first.seq, { files, skipped: {}, token: 'first' }, HERE);
  const run = await begin(first.sessionId);
  await artifacts().keepBaseline(fenceOf(run), { files: [], token: 'baseline' }, HERE);
  return run;
}

const ownOf = async (run: ClaimedRun) =>
  (await runArtifactsOf(artifacts(), run.seq)).files.map(({ path, change, sha256 }) => `${change} ${path} ${sha256}`);
const filesOf = async ({ sessionSeq }: ClaimedRun) =>
  (await workspaceOf(artifacts(), sessionSeq)).files.map(({ sha256 }) => sha256);
const noted = () => fixture.rows('SELECT * FROM baseline_files');

const BEFORE = ['/back', '/changed', '/gone', '/kept', '/later', '/lost', '/same'].map((path) => file(path));
/** What the run had changed when its workspace was recorded, and what after that. */
const MIDST = {
  files: [file('/added', 'a1'), file('/back', 'b1'), file('/changed', 'c1'), file('/passing'), file('/twice', 't1')],
  gone: ['/gone', '/lost'],
  token: 'midst',
};
const LATER = {
  files: [file('/back'), file('/gone', 'again'), file('/later', 'l2'), file('/lost'), file('/twice', 't2')],
  gone: ['/passing'],
};
const OWN = [
  'added /added a1',
  'modified /changed c1',
  'modified /gone again',
  'modified /later l2',
  'added /twice t2',
];

test.each([SMALL_PARTS, {}])(
  'what a run has changed is told from its baseline, in parts or at once (%o)',
  async (parts) => {
    const run = await beginIn(...BEFORE);
    const { keepCheckpoint } = makeWorkspaceTree(database, parts);
    expect(await keepCheckpoint(fenceOf(run), MIDST, { here: HERE })).toEqual(['/back', '/changed', '/gone', '/lost']);
    expect(await filesOf(run)).toEqual(['a1', 'b1', 'c1', '/kept', '/later', '/passing', '/same', 't1']);
    await end(run);
    const { recordArtifacts } = makeRecordArtifacts(database, parts);
    await recordArtifacts(run.seq, { ...LATER, skipped: {} }, HERE);
    expect(await ownOf(run)).toEqual(OWN);
    expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({ fileCount: 5, totalSize: 13 });
    expect(noted()).toEqual([]);
  },
);

test('recorded twice, a file is told from what it was before the run', async () => {
  const run = await beginIn(file('/a'));
  await artifacts().keepCheckpoint(fenceOf(run), { files: [file('/a', 'a1')] }, { here: HERE });
  await artifacts().keepCheckpoint(fenceOf(run), { files: [file('/a', 'a2'), file('/b')] }, { here: HERE });
  await end(run);
  await artifacts().recordArtifacts(run.seq, { files: [], skipped: {} }, HERE);
  expect(await ownOf(run)).toEqual(['modified /a a2', 'added /b /b']);
});

test('killed between any two parts, the own files of a run are the same', async () => {
  let [kills, wasKilled] = [0, true];
  for (; wasKilled; kills += 1) {
    const run = await beginIn(...BEFORE);
    await makeWorkspaceTree(database, SMALL_PARTS).keepCheckpoint(fenceOf(run), MIDST, { here: HERE });
    await end(run);
    let made = 0;
    const dying: Database = {
      ...database,
      write: (verb, ...how) => {
        const alive = database.write(verb, ...how);
        return async (...args) => {
          made += 1;
          if (made > kills) throw new Error('killed');
          return alive(...args);
        };
      },
    };
    const found = { ...LATER, skipped: {} };
    wasKilled = await makeRecordArtifacts(dying, SMALL_PARTS)
      .recordArtifacts(run.seq, found, HERE)
      .then(
        () => false,
        () => true,
      );
    if (wasKilled) await makeRecordArtifacts(database, SMALL_PARTS).recordArtifacts(run.seq, found, HERE);
    expect(await ownOf(run)).toEqual(OWN);
    expect(noted()).toEqual([]);
  }
  expect(kills).toBeGreaterThan(10);
});

test('the workspace is of the newest step, so that nothing has to be told of the calls before it', async () => {
  const run = await begin();
  await fixture.store.runs.recordStep(
    fenceOf(run),
    aStep({ calls: [{ id: 'a', name: 'shell', input: { command: 'make' } }] }),
    FREE,
  );
  await artifacts().keepCheckpoint(fenceOf(run), { files: [file('/made')] }, { here: HERE });
  expect(fixture.rows('SELECT as_of_run, as_of_step FROM workspaces')).toEqual([{ as_of_run: run.seq, as_of_step: 1 }]);
  expect(await artifacts().moveWorkspace(fenceOf(run), { here: 'there', reading: [] })).toBe(false);
  // It is there now.
  expect(await artifacts().keepCheckpoint(fenceOf(run), { files: [] }, { here: HERE })).toBeUndefined();
  expect(await artifacts().keepCheckpoint(fenceOf(run), { files: [] }, { here: 'there' })).toEqual([]);
});

test('is refused to an attempt that no longer holds the run', async () => {
  const run = await begin();
  const fence = { ...fenceOf(run), attempt: run.attempt + 1 };
  expect(await artifacts().keepCheckpoint(fence, { files: [file('/a')] }, { here: HERE })).toBeUndefined();
  expect(noted()).toEqual([]);
});

test('a run whose files can’t be collected leaves nothing of what was noted', async () => {
  await fixture.store.nodes.beat(aNode({ id: HERE }), null);
  const failing = await beginIn(...BEFORE);
  await artifacts().keepCheckpoint(fenceOf(failing), MIDST, { here: HERE });
  await end(failing);
  await artifacts().failCollection(failing.seq, 'No time.', HERE);
  expect(noted()).toEqual([]);
  const lost = await beginIn(...BEFORE);
  await artifacts().keepCheckpoint(fenceOf(lost), MIDST, { here: HERE });
  await end(lost);
  await fixture.store.nodes.takeOver((await fixture.store.nodes.list())[0]!);
  const { concludeLost } = makeLostWorkspaces(database, SMALL_PARTS);
  expect(await concludeLost(lost.sessionSeq, 0)).toMatchObject({ runs: 1 });
  expect(noted()).toEqual([]);
});
