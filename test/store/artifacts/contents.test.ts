// The contents of a workspace's small files, which are stored in the commits that list the files.
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { FileVersion } from '../../../src/domain/sessions/artifact.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { keyOf, sourceOf } from '../../support/store/small-contents.ts';

const KILOBYTE = 1_024;

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});

async function ended() {
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  return run!;
}

function filesOf(count: number, bytes: number) {
  const contents = Array.from({ length: count }, () => randomBytes(bytes));
  const files = contents.map((content, at): FileVersion => {
    return { path: `/${String(at).padStart(4, '0')}`, size: content.length, sha256: keyOf(content) };
  });
  return { files, contents: new Map(contents.map((content) => [keyOf(content), content])) };
}

const stored = () =>
  fixture.rows<{ key: string; bytes: number }>('SELECT key, length(bytes) AS bytes FROM small_blobs');

test('a few are in one commit', async () => {
  const { files, contents } = filesOf(3, KILOBYTE);
  const source = sourceOf(contents);
  const { seq } = await ended();
  await fixture.store.artifacts.recordArtifacts(seq, { files, contents: source, skipped: {} });
  expect(source.reads).toEqual([3]);
  expect(
    stored()
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual([...contents.keys()].toSorted());
});

test('no commit has much more than a megabyte of them, and at the end all are there', async () => {
  const { files, contents } = filesOf(100, 32 * KILOBYTE);
  const source = sourceOf(contents);
  const { seq } = await ended();
  await fixture.store.artifacts.recordArtifacts(seq, { files, contents: source, skipped: {} });
  expect(Math.max(...source.reads)).toBe(32);
  const found = await fixture.store.smallBlobs.findSome([...contents.keys()]);
  expect(found).toEqual(contents);
});

test('those of a baseline come in parts as well', async () => {
  await fixture.accept();
  const [run] = await fixture.claim();
  const { files, contents } = filesOf(40, 50 * KILOBYTE);
  const source = sourceOf(contents);
  await fixture.store.artifacts.keepBaseline(fenceOf(run!), { files, contents: source });
  expect(source.reads).toEqual([20, 20]);
  expect(stored()).toHaveLength(40);
});

test('what no row lists is not stored: a run that needs no collecting any more, and files that are as recorded', async () => {
  const { files, contents } = filesOf(2, KILOBYTE);
  const { seq } = await ended();
  await fixture.store.artifacts.recordArtifacts(seq, { files, skipped: {} });
  await fixture.store.artifacts.recordArtifacts(seq, { files, contents: sourceOf(contents), skipped: {} });
  expect(stored()).toEqual([]);
});

test('a small archive is stored with the row that names it', async () => {
  const [bytes, run] = [Buffer.from('an archive'), await ended()];
  await fixture.store.artifacts.recordArtifacts(run.seq, {
    files: [{ path: '/a', size: 1, sha256: 'a' }],
    skipped: {},
  });
  const archive = { key: keyOf(bytes), size: bytes.length, contents: new Map([[keyOf(bytes), bytes]]) };
  expect(await fixture.store.artifacts.finishArtifacts(run.seq, archive)).toBe(true);
  expect(await fixture.store.smallBlobs.find(archive.key)).toEqual(bytes);
});
