// Large workspaces: they are recorded in parts, and a process that is killed between two of them loses nothing.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import { makeLostWorkspaces } from '../../../src/store/artifacts/lost-workspaces.ts';
import { makeRecordArtifacts } from '../../../src/store/artifacts/record-artifacts.ts';
import { compareIn, FILES_AT_ONCE, makeWorkspaceTree, partsOf } from '../../../src/store/artifacts/workspace-tree.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import { READER } from '../../../src/store/engine/statement.ts';
import { openRows } from '../../support/store/open-store.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aNode } from '../../support/store/nodes.ts';
import { fenceOf, START, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { sourceOf } from '../../support/store/small-contents.ts';
import { recordWhole, runArtifactsOf, workspaceOf } from '../../support/store/read-whole.ts';

const file = (path: string, content = path): FileVersion => ({ path, size: content.length, sha256: content });
const SMALL_PARTS = { atOnce: 2 };

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

async function end(run: ClaimedRun, untouched = false): Promise<void> {
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run), { untouched });
}

/** The database of a process that is killed after some commits. */
function dyingAfter(commits: number): Database {
  let made = 0;
  const write: Database['write'] = (verb, ...how) => {
    const alive = database.write(verb, ...how);
    return async (...args) => {
      made += 1;
      if (made > commits) throw new Error('killed');
      return alive(...args);
    };
  };
  return { ...database, write };
}

const isKilled = async (work: Promise<unknown>) =>
  work.then(
    () => false,
    (error: Error) => {
      expect(error.message).toBe('killed');
      return true;
    },
  );

const BEFORE = ['/a', '/b', '/gone1', '/gone2', '/gone3', '/kept'].map((path) => file(path));
const AFTER = [
  file('/a', 'new a'),
  file('/b'),
  file('/kept'),
  ...['/n1', '/n2', '/n3', '/n4'].map((path) => file(path)),
];

/** What is recorded of a session, whole. */
async function recordedOf({ sessionSeq }: ClaimedRun) {
  const { files } = await workspaceOf(artifacts(), sessionSeq);
  const [state] = fixture.rows(
    `SELECT step, run_seq, file_count, (SELECT workspace_bytes FROM session_totals t WHERE t.session_seq = w.session_seq) AS bytes
     FROM workspaces w WHERE session_seq = ${sessionSeq}`,
  );
  return { files, state };
}

/** As the snapshot thread reads them: the content of each file is its hash here. */
const CONTENTS = sourceOf(new Map([...BEFORE, ...AFTER].map(({ sha256 }) => [sha256, Buffer.from(sha256)])));

/** What rows list without its bytes. */
const withoutBytes = () =>
  fixture.rows(
    `SELECT sha256 FROM (SELECT sha256 FROM run_artifact_files UNION SELECT sha256 FROM workspace_files) AS listed
     WHERE NOT EXISTS (SELECT 1 FROM small_blobs b WHERE b.key = listed.sha256)`,
  );

const bytesOf = (files: readonly FileVersion[]) => files.reduce((sum, { size }) => sum + size, 0);
const atRest = (files: readonly FileVersion[]) => ({
  files,
  state: { step: null, run_seq: null, file_count: files.length, bytes: bytesOf(files) },
});

// With parts of two files, or all that is left at once.
test.each([SMALL_PARTS, {}])(
  'killed between any two parts, the files of a run and those after it are recorded once, and the next run waits meanwhile (%o)',
  async (later) => {
    let [kills, wasKilled] = [0, true];
    for (; wasKilled; kills += 1) {
      const first = await begin();
      await end(first);
      await recordWhole(artifacts(), first, { files: BEFORE, contents: CONTENTS, skipped: {} });
      const second = await begin(first.sessionId);
      await end(second);
      const dying = makeRecordArtifacts(dyingAfter(kills), SMALL_PARTS);
      const found = { files: AFTER, contents: CONTENTS, skipped: { links: 1 }, token: 'look' };
      wasKilled = await isKilled(recordWhole({ ...artifacts(), ...dying }, second, found));
      const { isUncollected: isPending } = await artifacts().findBefore(second.sessionSeq, second.seq + 1);
      expect(isPending).toBe(wasKilled);
      expect(withoutBytes()).toEqual([]);
      if (wasKilled) {
        expect(await runArtifactsOf(artifacts(), second.seq)).toMatchObject({ status: 'pending', files: [] });
        expect((await artifacts().getWorkspaceExport(second.sessionSeq)).status).toBe('pending');
        // The next start looks at the workspace again, and finds what differs from what is recorded by now.
        const alive = makeRecordArtifacts(database, later);
        expect(await recordWhole({ ...artifacts(), ...alive }, second, found)).toBeDefined();
      }
      expect(await recordedOf(second)).toEqual(atRest(AFTER));
      expect(await artifacts().findWorkspace(second.sessionSeq)).toEqual({
        token: 'look',
        extras: null,
        hasFiles: true,
      });
      const own = await runArtifactsOf(artifacts(), second.seq);
      expect(own).toMatchObject({ fileCount: 5, totalSize: 17, skipped: { links: 1 } });
      expect(own.files.map(({ path, change }) => `${change} ${path}`)).toEqual([
        'modified /a',
        'added /n1',
        'added /n2',
        'added /n3',
        'added /n4',
      ]);
      const totals = `SELECT artifact_count FROM session_totals WHERE session_seq = ${second.sessionSeq}`;
      expect(fixture.rows(totals)).toEqual([{ artifact_count: BEFORE.length + 5 }]);
    }
    expect(kills).toBeGreaterThan(10);
  },
);

test('killed while the baseline is recorded, a run is compared with what is recorded of it', async () => {
  let [kills, wasKilled] = [0, true];
  for (; wasKilled; kills += 1) {
    const first = await begin();
    await end(first);
    await recordWhole(artifacts(), first, { files: [file('/a')], skipped: {}, token: 'first' });
    const second = await begin(first.sessionId);
    const byHand = ['/h1', '/h2', '/h3', '/h4', '/h5'].map((path) => file(path));
    const { keepBaseline } = makeWorkspaceTree(dyingAfter(kills), SMALL_PARTS);
    wasKilled = await isKilled(keepBaseline(fenceOf(second), { files: byHand, gone: ['/a'], token: 'second' }));
    const { token } = await artifacts().findWorkspace(second.sessionSeq);
    // The files between two looks are those of none.
    expect(token).toBe(!wasKilled ? 'second' : kills === 0 ? 'first' : null);
    await end(second);
    const files = [...byHand, file('/made')];
    await recordWhole(artifacts(), second, { files, skipped: {} });
    expect(await recordedOf(second)).toEqual(atRest(files));
    const own = (await runArtifactsOf(artifacts(), second.seq)).files.map(({ path }) => path);
    expect(own).toContain('/made');
    if (!wasKilled) expect(own).toEqual(['/made']);
  }
  expect(kills).toBeGreaterThan(3);
});

test('a run that changed nothing has no files, even if many are found after it', async () => {
  const first = await begin();
  await end(first);
  await artifacts().failCollection(first.seq, 'No time.');
  const second = await begin(first.sessionId);
  await end(second, true);
  const { recordArtifacts } = makeRecordArtifacts(database, SMALL_PARTS);
  await recordWhole({ ...artifacts(), recordArtifacts }, second, { files: BEFORE, skipped: {} });
  expect(await runArtifactsOf(artifacts(), second.seq)).toMatchObject({ fileCount: 0, files: [] });
  expect(await recordedOf(second)).toEqual(atRest(BEFORE));
});

test('a workspace that can no longer be looked at fails, and leaves no part of a run’s files', async () => {
  const run = await begin();
  await end(run);
  const { recordArtifacts } = makeRecordArtifacts(dyingAfter(4), SMALL_PARTS);
  expect(await isKilled(recordArtifacts(run.seq, { files: BEFORE, skipped: {} }))).toBe(true);
  expect(fixture.rows('SELECT 1 FROM run_artifact_files')).not.toEqual([]);
  expect(await artifacts().failCollection(run.seq, 'No time.')).toBe(true);
  expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({ status: 'failed', files: [] });
  expect(fixture.rows('SELECT 1 FROM run_artifact_files')).toEqual([]);
  expect(await artifacts().failCollection(run.seq, 'No time.')).toBe(false);
});

test('a node that is lost while it records leaves no part of a run’s files', async () => {
  await fixture.store.nodes.beat(aNode({ id: START.node }), null);
  const run = await begin();
  await end(run);
  const { recordArtifacts } = makeRecordArtifacts(dyingAfter(4), SMALL_PARTS);
  expect(await isKilled(recordArtifacts(run.seq, { files: BEFORE, skipped: {} }))).toBe(true);
  await fixture.store.nodes.takeOver((await fixture.store.nodes.list())[0]!);
  const { concludeLost } = makeLostWorkspaces(database, SMALL_PARTS);
  expect(await concludeLost(run.sessionSeq, 0)).toMatchObject({ runs: 1 });
  expect(fixture.rows('SELECT 1 FROM run_artifact_files')).toEqual([]);
});

test('a workspace is not packed while its files are written', async () => {
  const first = await begin();
  await end(first);
  const limit = { fileCount: 99, totalBytes: 999 };
  await recordWhole(artifacts(), first, { files: BEFORE, skipped: {}, packedOnRequest: limit });
  const request = { kind: 'workspace', seq: first.sessionSeq } as const;
  expect(await artifacts().findRequested(request, limit)).toMatchObject({ packing: { runSeq: first.seq } });
  const second = await begin(first.sessionId);
  const { keepBaseline } = makeWorkspaceTree(dyingAfter(1), SMALL_PARTS);
  expect(await isKilled(keepBaseline(fenceOf(second), { files: AFTER.slice(3) }))).toBe(true);
  expect(await artifacts().findRequested(request, limit)).toBeUndefined();
});

test('the parts of a difference have all of it, each once', () => {
  const files = Array.from({ length: 5 }, (_, at) => file(`/${at}`));
  for (const count of [0, 1, 2, 5])
    for (const lost of [0, 1, 2, 3, 5]) {
      const gone = Array.from({ length: lost }, (_, at) => `/gone${at}`);
      const parts = [...partsOf({ files: files.slice(0, count), gone }, 2)];
      expect(parts.flatMap((part) => part.files)).toEqual(files.slice(0, count));
      expect(parts.flatMap((part) => part.gone ?? [])).toEqual(gone);
      expect(parts.length).toBeGreaterThan(0);
      for (const part of parts) expect([part.files.length <= 2, (part.gone ?? []).length <= 2]).toEqual([true, true]);
    }
});

test('a part is compared with what is recorded in a few statements', () => {
  const files = Array.from({ length: FILES_AT_ONCE }, (_, no) => file(`/n${no}`));
  const gone = files.map(({ path }) => `${path}.gone`);
  const recorded = new Map([file('/n1', 'old'), file('/n2'), file('/n3.gone')].map((each) => [each.path, each]));
  const verb = compareIn(READER, 1, { files, gone })[Symbol.iterator]();
  let statements = 0;
  let next = verb.next(undefined);
  for (; next.done !== true; statements += 1) {
    const paths = new Set([next.value].flat()[0]!.values);
    next = verb.next([...recorded.values()].filter(({ path }) => paths.has(path)));
  }
  expect(statements).toBeLessThan(10);
  expect(next.value.changed).toHaveLength(FILES_AT_ONCE - 1);
  expect(next.value.changed[1]).toMatchObject({ path: '/n1', change: 'modified' });
  expect(next.value).toMatchObject({ deletedPaths: ['/n3.gone'], replacedKeys: ['old', '/n3.gone'] });
});
