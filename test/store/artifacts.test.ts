// Artifacts in the store: every move is made once, and only what a run changed is its own.
import { beforeEach, describe, expect, test } from 'vitest';
import type { FileVersion } from '../../src/domain/sessions/artifact.ts';
import type { Run } from '../../src/domain/sessions/run.ts';
import type { ClaimedRun } from '../../src/store/lifecycle/start-run.ts';
import type { Ending } from '../../src/store/lifecycle/end-run.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';
import { recordWhole, runArtifactsOf, workspaceOf } from '../support/store/read-whole.ts';

const DONE: Ending = { outcome: 'completed', answer: '', stopReason: 'end_turn' };
const FAILED: Ending = {
  outcome: 'failed',
  error: { type: 'timeout_error', message: 'The model was silent.', retryable: true },
};
const ARCHIVE = { key: 'a'.repeat(64), size: 99 };
const file = (path: string, content = path): FileVersion => ({ path, size: content.length, sha256: content });
const found = (...files: FileVersion[]) => ({ files, skipped: { links: 1 } });

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});

const artifacts = () => fixture.store.artifacts;
const record = (run: Pick<Run, 'seq' | 'sessionSeq'>, after: ReturnType<typeof found>) =>
  recordWhole(artifacts(), run, after);

async function begin(sessionId: string | null = null): Promise<ClaimedRun> {
  await fixture.accept({ sessionId });
  return (await fixture.claim())[0]!;
}

async function end(run: ClaimedRun, ending = DONE, options: { untouched?: boolean } = {}): Promise<void> {
  await fixture.store.runs.finalize(fenceOf(run), ending);
  await fixture.store.runs.settle(fenceOf(run), options);
}

async function ended(ending = DONE, sessionId: string | null = null): Promise<ClaimedRun> {
  const run = await begin(sessionId);
  await end(run, ending);
  return run;
}

const eventsOf = (...types: string[]) =>
  fixture.committed.filter(({ type }) => types.includes(type)).map(({ type, payload }) => ({ type, ...payload }));
const statusOf = async ({ seq }: Pick<Run, 'seq'>) => (await runArtifactsOf(artifacts(), seq)).status;
const exportOf = async ({ sessionSeq }: Pick<Run, 'sessionSeq'>) => workspaceOf(artifacts(), sessionSeq);

describe('a run that did nothing in its workspace', () => {
  test('is ready with no files in the commit of its end, and so is the export', { tags: ['§3.2'] }, async () => {
    const run = await begin();
    expect([await statusOf(run), (await exportOf(run)).status]).toEqual(['pending', 'none']);
    await end(run, DONE, { untouched: true });
    expect(await runArtifactsOf(artifacts(), run.seq)).toEqual({
      status: 'ready',
      fileCount: 0,
      totalSize: 0,
      files: [],
      skipped: null,
      archive: null,
      isUnpacked: false,
      error: null,
    });
    expect(await exportOf(run)).toEqual({ status: 'ready', files: [], archive: null, isUnpacked: false, error: null });
    expect(eventsOf('artifacts.ready', 'workspace_export.completed')).toEqual([
      { type: 'artifacts.ready', runId: run.id, fileCount: 0, totalSize: 0 },
      { type: 'workspace_export.completed', runId: run.id, fileCount: 0, archiveSize: 0 },
    ]);
    expect(await artifacts().listSessionsToCollect()).toEqual([]);
    // A run's own events end with its terminal one.
    const own = fixture.committed.filter(({ runSeq }) => runSeq === run.seq);
    expect(own.at(-1)!.type).toBe('run.done');
  });

  test('is failed when it failed', { tags: ['E4'] }, async () => {
    const run = await begin();
    await end(run, FAILED, { untouched: true });
    expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({
      status: 'failed',
      error: { type: 'timeout_error', message: 'The run failed: The model was silent.' },
    });
    expect(eventsOf('artifacts.ready')).toEqual([]);
  });

  test('is collected after all when the workspace is not known to be packed as it is', async () => {
    const first = await ended();
    await artifacts().failCollection(first.seq, 'No time.');
    const second = await begin(first.sessionId);
    await end(second, DONE, { untouched: true });
    expect([await statusOf(second), (await artifacts().findWork(second.sessionSeq))?.run?.runSeq]).toEqual([
      'pending',
      second.seq,
    ]);
    // Something that no run has done has changed it.
    const other = await begin();
    await artifacts().keepBaseline(fenceOf(other), { files: [file('/a')] });
    await end(other, DONE, { untouched: true });
    expect(await statusOf(other)).toBe('pending');
  });

  test('leaves an export that is still being packed to its own end', async () => {
    const first = await ended();
    await record(first, found(file('/a')));
    const second = await begin(first.sessionId);
    await end(second, DONE, { untouched: true });
    expect([await statusOf(second), (await exportOf(second)).status]).toEqual(['ready', 'pending']);
    expect(eventsOf('workspace_export.completed')).toEqual([]);
  });
});

test('a run lists what it added and changed, then its archive makes it ready once', {
  tags: ['§2.9-own-files', '§3.2'],
}, async () => {
  const first = await ended();
  await record(first, found(file('/kept'), file('/old', 'x'), file('/gone')));
  const second = await ended(DONE, first.sessionId);
  const change = await record(second, found(file('/kept'), file('/new'), file('/old', 'yy')));
  expect(change).toMatchObject({ replacedKeys: ['x', '/gone'] });
  expect(await runArtifactsOf(artifacts(), second.seq)).toMatchObject({
    status: 'pending',
    fileCount: 2,
    totalSize: 6,
    files: [
      { path: '/new', change: 'added', size: 4, sha256: '/new' },
      { path: '/old', change: 'modified', size: 2, sha256: 'yy' },
    ],
    skipped: { links: 1 },
    archive: null,
  });
  expect(await artifacts().finishArtifacts(second.seq, ARCHIVE)).toBe(true);
  expect(await artifacts().finishArtifacts(second.seq, ARCHIVE)).toBe(false);
  expect(await artifacts().failArtifacts(second.seq, 'Too late.')).toBe(false);
  expect(await runArtifactsOf(artifacts(), second.seq)).toMatchObject({
    status: 'ready',
    archive: ARCHIVE,
    error: null,
  });
  expect(eventsOf('artifacts.ready')).toEqual([
    { type: 'artifacts.ready', runId: second.id, fileCount: 2, totalSize: 6 },
  ]);
  // The earlier run keeps what was its own.
  expect((await runArtifactsOf(artifacts(), first.seq)).files.map(({ path }) => path)).toEqual([
    '/gone',
    '/kept',
    '/old',
  ]);
});

test('recording a run twice, or one that has not ended, changes nothing', async () => {
  const run = await begin();
  expect(await record(run, found(file('/a')))).toBeUndefined();
  await end(run);
  expect(await record(run, found(file('/a')))).toBeDefined();
  expect(await record(run, found(file('/b')))).toBeUndefined();
  expect((await runArtifactsOf(artifacts(), run.seq)).files.map(({ path }) => path)).toEqual(['/a']);
});

test('a run that touched its workspace and changed nothing is ready without packing', async () => {
  const run = await ended();
  await record(run, found());
  expect([await statusOf(run), (await artifacts().listPacking(run.sessionSeq))[0]?.kind]).toEqual([
    'ready',
    'workspace',
  ]);
});

describe('uploads', () => {
  const upload = { id: 'u', name: 'a.csv', path: 'attachments/u/a.csv', mimeType: 'text/csv', size: 3, sha256: 'csv' };

  test('are not artifacts while they are unchanged, whether or not the baseline was stored', async () => {
    await fixture.accept({ attachments: [upload] });
    const run = (await fixture.claim())[0]!;
    await end(run);
    await record(run, found(file('/out'), { ...upload, path: '/uploads/a.csv' }));
    expect((await runArtifactsOf(artifacts(), run.seq)).files.map(({ path }) => path)).toEqual(['/out']);
    expect((await exportOf(run)).files.map(({ path }) => path)).toEqual(['/out', '/uploads/a.csv']);
  });

  test('are modified once the agent has changed them', { tags: ['E5-changes'] }, async () => {
    await fixture.accept({ attachments: [upload] });
    const run = (await fixture.claim())[0]!;
    await artifacts().keepBaseline(fenceOf(run), { files: [{ ...upload, path: '/uploads/a.csv' }] });
    await end(run);
    await record(run, found({ path: '/uploads/a.csv', size: 4, sha256: 'csv2' }));
    expect((await runArtifactsOf(artifacts(), run.seq)).files).toMatchObject([
      { path: '/uploads/a.csv', change: 'modified' },
    ]);
  });
});

describe('the baseline', () => {
  test('counts what no run has done as there before, and has it packed after the next run', async () => {
    const first = await ended();
    await record(first, found(file('/a')));
    await artifacts().finishArtifacts(first.seq, ARCHIVE);
    await artifacts().finishExport(first.sessionSeq, first.seq, ARCHIVE);
    const second = await begin(first.sessionId);
    await artifacts().keepBaseline(fenceOf(second), { files: [file('/a'), file('/laid-by-hand')] });
    await end(second);
    await record(second, found(file('/a'), file('/laid-by-hand')));
    expect(await runArtifactsOf(artifacts(), second.seq)).toMatchObject({ status: 'ready', files: [] });
    expect(await artifacts().listPacking(second.sessionSeq)).toMatchObject([{ kind: 'workspace', runSeq: second.seq }]);
  });

  test('is refused to an attempt that no longer holds the run', async () => {
    const run = await begin();
    const fence = { ...fenceOf(run), attempt: run.attempt + 1 };
    expect(await artifacts().keepBaseline(fence, { files: [file('/a')] })).toBeUndefined();
    expect((await artifacts().findWorkspace(run.sessionSeq)).hasFiles).toBe(false);
  });
});

describe('a run that failed', () => {
  test('has no artifacts, but its files are in the export', { tags: ['§3.2'] }, async () => {
    const run = await ended(FAILED);
    await record(run, found(file('/half-done')));
    expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({ status: 'failed', fileCount: 0, files: [] });
    expect(await exportOf(run)).toMatchObject({ status: 'pending', files: [{ path: '/half-done' }] });
    expect(eventsOf('artifacts.failed')).toMatchObject([
      { runId: run.id, message: 'The run failed: The model was silent.' },
    ]);
  });

  test('because it was stopped is examined only after its executor has ended', { tags: ['§3.2'] }, async () => {
    const run = await begin();
    await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
    expect((await artifacts().findWork(run.sessionSeq))?.run).toBeUndefined();
    await fixture.store.runs.confirmStop(run.sessionSeq);
    expect(await artifacts().findWork(run.sessionSeq)).toMatchObject({ run: { runSeq: run.seq }, hasMore: false });
    await record(run, found(file('/a')));
    expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({
      status: 'failed',
      error: { type: 'canceled_error', message: 'The run was stopped.' },
    });
  });

  test('because it was canceled in the queue has nothing to collect', async () => {
    const run = await fixture.accept();
    await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
    expect([await statusOf(run), await artifacts().listSessionsToCollect()]).toEqual(['failed', []]);
    expect((await exportOf(run)).status).toBe('ready');
  });
});

test('an incomplete run keeps its artifacts', async () => {
  const run = await ended({
    outcome: 'incomplete',
    error: { type: 'structured_output_error', message: 'No result.', retryable: false },
  });
  await record(run, found(file('/a')));
  await artifacts().finishArtifacts(run.seq, ARCHIVE);
  expect(await statusOf(run)).toBe('ready');
});

test('a workspace that could not be examined fails artifacts and export, and the run stays completed', {
  tags: ['§3.2'],
}, async () => {
  const run = await ended();
  expect(await artifacts().failCollection(run.seq, 'The disk is full.')).toBe(true);
  expect(await artifacts().failCollection(run.seq, 'The disk is full.')).toBe(false);
  expect(await runArtifactsOf(artifacts(), run.seq)).toMatchObject({
    status: 'failed',
    error: { type: 'api_error', message: 'The disk is full.' },
  });
  expect(await exportOf(run)).toMatchObject({ status: 'failed', error: 'The disk is full.' });
  expect((await fixture.store.runs.get(run.seq)).status).toBe('completed');
});

test('an export that a later run overtook is packed for that one, and the old archive is given up once', {
  tags: ['E3'],
}, async () => {
  const first = await ended();
  await record(first, found(file('/a')));
  const second = await ended(DONE, first.sessionId);
  await record(second, found(file('/b')));
  expect(await artifacts().finishExport(first.sessionSeq, first.seq, ARCHIVE)).toBeUndefined();
  expect(await artifacts().failExport(first.sessionSeq, first.seq, 'Too late.')).toBe(false);
  expect(await artifacts().finishExport(first.sessionSeq, second.seq, ARCHIVE)).toEqual({ replacedKey: null });
  expect(await exportOf(second)).toMatchObject({ status: 'ready', archive: ARCHIVE });
  const third = await ended(DONE, first.sessionId);
  await record(third, found(file('/c')));
  expect(await artifacts().finishExport(first.sessionSeq, third.seq, { key: 'b', size: 1 })).toEqual({
    replacedKey: ARCHIVE.key,
  });
  expect(eventsOf('workspace_export.completed')).toMatchObject([{ runId: second.id }, { runId: third.id }]);
});

test('a session whose last run is not looked at yet is pending, whatever was exported before', async () => {
  const first = await ended();
  await record(first, found(file('/a')));
  await artifacts().finishArtifacts(first.seq, ARCHIVE);
  await artifacts().finishExport(first.sessionSeq, first.seq, ARCHIVE);
  const second = await begin(first.sessionId);
  expect((await exportOf(second)).status).toBe('ready');
  await end(second);
  expect(await exportOf(second)).toMatchObject({ status: 'pending', archive: null, files: [{ path: '/a' }] });
  expect(await artifacts().findBefore(second.sessionSeq, second.seq)).toMatchObject({
    isUncollected: false,
    hasFiles: true,
  });
  expect(await artifacts().findBefore(second.sessionSeq, second.seq + 1)).toMatchObject({ isUncollected: true });
});

describe('blobs', () => {
  test('are in use while a row names them, and the clean-up of a deleted session says which it has erased', async () => {
    const run = await ended();
    const inUse = (...keys: string[]) => Promise.all(keys.map((key) => fixture.store.sessions.isBlobInUse(key)));
    await record(run, found(file('/a', 'content')));
    await artifacts().finishArtifacts(run.seq, { key: 'tar', size: 1 });
    await artifacts().finishExport(run.sessionSeq, run.seq, { key: 'zip', size: 1 });
    expect(await inUse('content', 'tar', 'zip', 'other')).toEqual([true, true, true, false]);
    await fixture.store.sessions.deleteSession(run.sessionSeq);
    expect((await fixture.store.erasures.finishCleanup(run.sessionSeq))?.toSorted()).toEqual(['content', 'tar', 'zip']);
    expect(await inUse('content', 'tar', 'zip')).toEqual([false, false, false]);
    expect(await fixture.store.sessions.listCleanups(0, 10)).toHaveLength(1);
    expect(await fixture.store.erasures.finishCleanup(run.sessionSeq)).toBe(null);
    expect(await fixture.store.sessions.listCleanups(0, 10)).toEqual([]);
    expect(fixture.rows('SELECT 1 FROM workspace_files UNION ALL SELECT 1 FROM run_artifact_files')).toEqual([]);
  });

  test('of a deleted session are no longer packed', async () => {
    const run = await ended();
    await record(run, found(file('/a')));
    const other = await ended(DONE, run.sessionId);
    await fixture.store.sessions.deleteSession(run.sessionSeq);
    expect(await artifacts().listSessionsToCollect()).toEqual([]);
    expect(await record(other, found(file('/b')))).toBeUndefined();
    expect(await artifacts().finishArtifacts(run.seq, ARCHIVE)).toBe(false);
    expect(await artifacts().finishExport(run.sessionSeq, run.seq, ARCHIVE)).toBeUndefined();
  });
});

test('a start finds what is to be collected and packed, the longest wait first', async () => {
  const first = await ended();
  const second = await ended();
  const third = await ended();
  await record(first, found(file('/a')));
  await artifacts().finishArtifacts(first.seq, ARCHIVE);
  await record(third, found(file('/a')));
  expect(await artifacts().listSessionsToCollect()).toEqual([first.sessionSeq, second.sessionSeq, third.sessionSeq]);
  await artifacts().finishExport(first.sessionSeq, first.seq, ARCHIVE);
  expect(await artifacts().listSessionsToCollect()).toEqual([second.sessionSeq, third.sessionSeq]);
});
