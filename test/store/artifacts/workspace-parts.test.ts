// Parts of a workspace: the store compares what may differ, and the result is that of a comparison of all files.
import { beforeEach, expect, test } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import type { ClaimedRun } from '../../../src/store/runs/start-run.ts';
import { fenceOf, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';
import { runArtifactsOf, workspaceOf } from '../../support/store/read-whole.ts';

const file = (path: string, content = path): FileVersion => ({ path, size: content.length, sha256: content });
const skipped = {};

let house: StoreHouse;

beforeEach(async () => {
  house = await storeHouse();
});

const artifacts = () => house.store.artifacts;

async function begin(sessionId: string | null = null): Promise<ClaimedRun> {
  await house.accept({ sessionId });
  return (await house.claim())[0]!;
}

async function end(run: ClaimedRun): Promise<void> {
  await house.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await house.store.runs.settle(fenceOf(run));
}

const pathsIn = async ({ sessionSeq }: ClaimedRun) =>
  (await workspaceOf(artifacts(), sessionSeq)).files.map(({ path }) => path);

// One statement for each path, and one for all.
test.each([
  ['a few', 3],
  ['thousands of', 3_000],
])('%s paths that were looked at are compared, and all others stay as recorded', async (_, count) => {
  const numbered = Array.from({ length: count }, (_, at) => `/many/${at}`);
  const first = await begin();
  await end(first);
  const before = [file('/kept'), file('/old', 'x'), file('/gone'), ...numbered.map((path) => file(path))];
  const recorded = await artifacts().recordArtifacts(first.seq, { files: before, skipped });
  const second = await begin(first.sessionId);
  await end(second);
  const change = await artifacts().recordArtifacts(second.seq, {
    files: [file('/old', 'yy'), file('/new')],
    skipped,
    part: { paths: ['/old', '/new', '/gone', ...numbered], ...recorded!.size },
  });
  expect(await pathsIn(second)).toEqual(['/kept', '/new', '/old']);
  expect((await runArtifactsOf(artifacts(), second.seq)).files.map(({ path }) => path)).toEqual(['/new', '/old']);
  const totalBytes = '/kept'.length + '/new'.length + 'yy'.length;
  expect(change!.size).toEqual({ fileCount: 3, totalBytes });
});

test('a baseline of a part leaves what the run itself has changed, and tells the size of all', async () => {
  const first = await begin();
  await end(first);
  const recorded = await artifacts().recordArtifacts(first.seq, {
    files: [file('/a'), file('/b'), file('/c')],
    skipped,
  });
  const second = await begin(first.sessionId);
  const change = await artifacts().keepBaseline(fenceOf(second), {
    files: [file('/a', 'by the run'), file('/d')],
    changed: ['/a'],
    part: { paths: ['/a', '/c', '/d'], ...recorded!.size },
  });
  expect(change).toMatchObject({ size: { fileCount: 3, totalBytes: 6 }, deletedPaths: ['/c'] });
  await end(second);
  const all = [file('/a', 'by the run'), file('/b'), file('/d')];
  await artifacts().recordArtifacts(second.seq, { files: all, skipped });
  expect((await runArtifactsOf(artifacts(), second.seq)).files).toMatchObject([{ path: '/a', change: 'modified' }]);
});

test('uploads that the baseline does not have are no artifacts of a part, unless the agent has changed them', async () => {
  const upload = { id: 'u', name: 'a.csv', path: 'attachments/u/a.csv', mimeType: 'text/csv', size: 3, sha256: 'csv' };
  const other = { ...upload, id: 'v', name: 'b.csv', path: 'attachments/v/b.csv' };
  const first = await begin();
  await end(first);
  const { size } = (await artifacts().recordArtifacts(first.seq, { files: [file('/a')], skipped }))!;
  await house.accept({ sessionId: first.sessionId, attachments: [upload, other] });
  const run = (await house.claim())[0]!;
  await end(run);
  const files = [
    { ...upload, path: '/uploads/a.csv' },
    { ...other, path: '/uploads/b.csv', sha256: 'csv2' },
  ];
  const part = { paths: files.map(({ path }) => path), ...size };
  await artifacts().recordArtifacts(run.seq, { files, skipped, part });
  expect((await runArtifactsOf(artifacts(), run.seq)).files).toMatchObject([{ path: '/uploads/b.csv' }]);
  expect(await pathsIn(run)).toEqual(['/a', '/uploads/a.csv', '/uploads/b.csv']);
});
