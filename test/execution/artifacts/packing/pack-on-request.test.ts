// Archives that are packed when they are asked for: what is reported, what is stored, and what becomes of those that can't be.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { noSpace } from '../../../../src/files/blobs/no-space.ts';
import { PACKED_ON_REQUEST } from '../../../../src/execution/artifacts/artifact-parts.ts';
import { type Collector, makeCollector } from '../../../../src/execution/artifacts/collector.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { type ArtifactFixture, artifactFixture } from '../../../support/files/artifact-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

const SMALL = { fileCount: 3, totalBytes: 1_000 };

let fixture: ArtifactFixture;
let collector: Collector;

beforeEach(async () => {
  fixture = await artifactFixture();
  collector = fixture.collect({ packedOnRequest: SMALL });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const ask = async (kind: 'run' | 'workspace', seq: number, { sessionSeq }: ClaimedRun, from: Collector) => {
  const packed = await from.packOnRequest({ kind, seq }, sessionSeq);
  if (packed !== null && 'unpacked' in packed) throw new Error('It is said to be large.');
  return packed;
};
const ofRun = async (run: ClaimedRun, from = collector) => ask('run', run.seq, run, from);
const ofWorkspace = async (run: ClaimedRun, from = collector) => ask('workspace', run.sessionSeq, run, from);
const statuses = async (run: ClaimedRun) => [
  (await fixture.artifactsOf(run)).status,
  (await fixture.exportOf(run)).status,
];
const reported = () => fixture.committed.filter(({ type }) => /artifacts|export/.test(type)).map(({ type }) => type);

async function turn(files: Record<string, string | null>, sessionId: string | null = null, by = collector) {
  const run = await fixture.begin(sessionId);
  fixture.write(run, files);
  await fixture.end(run);
  by.wake(run.sessionSeq);
  await waitFor(async () => !(await statuses(run)).includes('pending'));
  return run;
}

test('a run with few files is reported in the commit that records them, and no archive is stored or looked for', async () => {
  const { artifacts } = fixture.store;
  let looks = 0;
  const listPacking: typeof artifacts.listPacking = async (session) => {
    looks += 1;
    return artifacts.listPacking(session);
  };
  const counted = fixture.collect({
    packedOnRequest: SMALL,
    store: { ...fixture.store, artifacts: { ...artifacts, listPacking } },
  });
  const run = await turn({ 'a.txt': 'one', 'b.txt': 'two' }, null, counted);
  await counted.stop();
  expect(looks).toBe(0);
  expect(await fixture.artifactsOf(run)).toMatchObject({ status: 'ready', archive: null, isUnpacked: true });
  expect(await fixture.exportOf(run)).toMatchObject({ status: 'ready', archive: null, isUnpacked: true });
  expect(fixture.blobKeys()).toEqual([sha256('one'), sha256('two')].sort());
  const events = fixture.committed.filter(({ type }) => /artifacts|export/.test(type));
  expect(events.map(({ type, payload }) => ({ type, ...payload }))).toEqual([
    { type: 'artifacts.ready', runId: run.id, fileCount: 2, totalSize: 6 },
    { type: 'workspace_export.completed', runId: run.id, fileCount: 2, archiveSize: null },
  ]);
  expect(new Set(events.map(({ createdAt }) => createdAt)).size).toBe(1);
  expect(await fixture.store.artifacts.findWork(run.sessionSeq)).toBeUndefined();
});

test('one beyond what is packed on request is packed after the run, beside a workspace or a run that is small', async () => {
  const first = await turn({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three' });
  const second = await turn({ 'd.txt': 'four' }, first.sessionId);
  expect(await fixture.artifactsOf(second)).toMatchObject({ isUnpacked: true, archive: null });
  expect(await fixture.exportOf(second)).toMatchObject({
    isUnpacked: false,
    archive: { size: expect.any(Number) as number },
  });
  const third = await turn({ 'a.txt': 'x'.repeat(1_001), 'b.txt': null, 'c.txt': null }, first.sessionId);
  expect((await fixture.artifactsOf(third)).archive).not.toBeNull();
});

test('what an earlier process left to pack is packed, also when the run to collect there is small', async () => {
  let packing = 0;
  const dying = makeCollector({
    ...fixture.parts,
    snapshotThread: {
      ...fixture.snapshotThread,
      packTarGz: () => {
        packing += 1;
        return new Promise<never>(() => undefined);
      },
    },
  });
  const first = await fixture.begin();
  fixture.write(first, { 'a.txt': 'one' });
  await fixture.end(first);
  dying.wake(first.sessionSeq);
  await waitFor(() => packing === 1);
  const second = await fixture.begin(first.sessionId);
  fixture.write(second, { 'b.txt': 'two' });
  await fixture.end(second);
  collector.start();
  await waitFor(async () => !(await statuses(first)).includes('pending'));
  expect((await fixture.artifactsOf(first)).archive).not.toBeNull();
  expect(await fixture.artifactsOf(second)).toMatchObject({ status: 'ready', fileCount: 1, archive: null });
});

describe('whoever asks', () => {
  test('gets what would have been packed after the run, and the same from then on', async () => {
    const eager = fixture.collect();
    const before = await turn({ 'a.txt': 'one' }, null, eager);
    const run = await turn({ 'a.txt': 'one' });
    const [own, again] = await Promise.all([ofRun(run), ofRun(run)]);
    expect(own).toEqual((await fixture.artifactsOf(before)).archive);
    expect(again).toEqual(own);
    expect(await ofWorkspace(run)).toEqual((await fixture.exportOf(before)).archive);
    expect((await fixture.artifactsOf(run)).archive).toEqual(own);
    expect((await fixture.exportOf(run)).archive).toEqual(await ofWorkspace(run));
    expect(gunzipSync(await fixture.blobs.read(own!.key)).toString('latin1')).toContain('one');
    // Once for each of the two runs.
    expect(reported()).toHaveLength(4);
  });

  test('gets the archive at once that was removed by age, without another report', async () => {
    const run = await turn({ 'a.txt': 'one' });
    const [own, whole] = [await ofRun(run), await ofWorkspace(run)];
    await fixture.store.retention.archives(fixture.clock.now() + 1, { room: () => 9 });
    expect(await fixture.artifactsOf(run)).toMatchObject({ status: 'ready', archive: null, isUnpacked: true });
    expect([await ofRun(run), await ofWorkspace(run)]).toEqual([own, whole]);
    expect(reported()).toHaveLength(2);
  });

  test('learns of a large one where it is packed, and nothing is packed yet', async () => {
    const large = fixture.collect({ packedOnRequest: PACKED_ON_REQUEST, waitedFor: { fileCount: 0, totalBytes: 0 } });
    const run = await turn({ 'a.txt': 'one' }, null, large);
    const { seq, sessionSeq } = run;
    expect([
      await large.packOnRequest({ kind: 'run', seq }, sessionSeq),
      await large.packOnRequest({ kind: 'workspace', seq: sessionSeq }, sessionSeq),
    ]).toEqual([
      { unpacked: { kind: 'run', seq, runSeq: seq } },
      { unpacked: { kind: 'workspace', seq: sessionSeq, runSeq: seq } },
    ]);
    expect([await statuses(run), fixture.blobKeys()]).toEqual([['ready', 'ready'], [sha256('one')]]);
    expect(reported()).toHaveLength(2);
  });

  test('gets nothing of a run that failed, or isn’t known yet, or of a deleted session', async () => {
    const failed = await fixture.begin();
    fixture.write(failed, { 'a.txt': 'one' });
    const error = { type: 'api_error', message: 'No.', retryable: true } as const;
    expect(await ofWorkspace(failed)).toBeNull();
    await fixture.end(failed, { outcome: 'failed', error });
    collector.wake(failed.sessionSeq);
    await waitFor(async () => (await fixture.exportOf(failed)).status === 'ready');
    expect([await ofRun(failed), await ofWorkspace(failed)]).toEqual([null, expect.anything()]);
    const deleted = await turn({ 'b.txt': 'two' });
    await fixture.store.sessions.deleteSession(deleted.sessionSeq);
    expect([await ofRun(deleted), await ofWorkspace(deleted)]).toEqual([null, null]);
  });
});

test('the archive of a workspace goes with the change that it lacks; runs keep theirs', async () => {
  const first = await turn({ 'a.txt': 'one' });
  const [own, whole] = [await ofRun(first), await ofWorkspace(first)];
  const second = await turn({ 'a.txt': 'two' }, first.sessionId);
  await waitFor(() => !fixture.blobKeys().includes(whole!.key));
  expect(fixture.blobKeys()).toEqual([sha256('one'), sha256('two'), own!.key].sort());
  expect((await ofWorkspace(second))!.key).not.toBe(whole!.key);
  // What changed nothing leaves it.
  const third = await turn({ 'a.txt': 'two' }, first.sessionId);
  expect(await fixture.exportOf(third)).toMatchObject({ archive: await ofWorkspace(second) });
  expect(fixture.committed.at(-1)!.payload).toMatchObject({ archiveSize: (await ofWorkspace(third))!.size });
});

test('one that a run overtakes while it is packed is not recorded, and nothing of it is left', async () => {
  const gate = Promise.withResolvers<void>();
  const packed = Promise.withResolvers<string>();
  const slow = fixture.collect({
    packedOnRequest: SMALL,
    snapshotThread: {
      ...fixture.snapshotThread,
      packZip: async (order) => {
        const archive = await fixture.snapshotThread.packZip(order);
        packed.resolve(archive.key);
        await gate.promise;
        return archive;
      },
    },
  });
  const first = await turn({ 'a.txt': 'one' });
  const asked = ofWorkspace(first, slow);
  const overtaken = await packed.promise;
  await turn({ 'b.txt': 'two' }, first.sessionId);
  gate.resolve();
  expect(await asked).toBeNull();
  expect(fixture.blobKeys()).not.toContain(overtaken);
  expect(await statuses(first)).toEqual(['ready', 'ready']);
  expect((await fixture.exportOf(first)).archive).toBeNull();
});

describe('one that can’t be packed', () => {
  test('for lack of space is pending, and packed when there is space', async () => {
    let isFull = true;
    const { snapshotThread } = fixture;
    const packTarGz: typeof snapshotThread.packTarGz = async (order) => {
      if (isFull) throw noSpace();
      return snapshotThread.packTarGz(order);
    };
    const patient = fixture.collect({ packedOnRequest: SMALL, snapshotThread: { ...snapshotThread, packTarGz } });
    const run = await turn({ 'a.txt': 'one' });
    expect(await ofRun(run, patient)).toBeNull();
    expect(await statuses(run)).toEqual(['pending', 'ready']);
    isFull = false;
    await waitFor(async () => {
      fixture.clock.advance(60_000);
      return (await fixture.artifactsOf(run)).archive !== null;
    });
    expect(await ofRun(run)).toEqual((await fixture.artifactsOf(run)).archive);
  });

  test('because a file is damaged fails with its reason', async () => {
    const run = await turn({ 'a.txt': 'one' });
    fixture.change(`DELETE FROM small_blobs WHERE key = '${sha256('one')}'`);
    expect(await ofWorkspace(run)).toBeNull();
    await waitFor(async () => (await fixture.exportOf(run)).status === 'failed');
    expect(await fixture.exportOf(run)).toMatchObject({ error: '/a.txt no longer exists.' });
  });

  test('because the store refuses to record it is asked for again', async () => {
    const { artifacts } = fixture.store;
    const refuse = async () => Promise.reject(noSpace());
    const store = { ...fixture.store, artifacts: { ...artifacts, keepRequested: refuse, packRunAgain: refuse } };
    const refusing = fixture.collect({ packedOnRequest: SMALL, store });
    const run = await turn({ 'a.txt': 'one' });
    expect(await ofRun(run, refusing)).toBeNull();
    expect([await statuses(run), fixture.blobKeys()]).toEqual([['ready', 'ready'], [sha256('one')]]);
    expect(await ofRun(run)).not.toBeNull();
  });

  test('because many wait is not ready yet, and nothing changes', async () => {
    const gate = Promise.withResolvers<void>();
    const begun: number[] = [];
    const { artifacts } = fixture.store;
    const store = {
      ...fixture.store,
      artifacts: {
        ...artifacts,
        findRequested: async (...given: Parameters<typeof artifacts.findRequested>) => {
          begun.push(given[0].seq);
          await gate.promise;
          return artifacts.findRequested(...given);
        },
      },
    };
    const busy = fixture.collect({ packedOnRequest: SMALL, store });
    const run = await turn({ 'a.txt': 'one' });
    const asked = Array.from({ length: 66 }, (_, index) => busy.packOnRequest({ kind: 'run', seq: 1_000 + index }, 1));
    expect(await ofRun(run, busy)).toBeNull();
    expect(await statuses(run)).toEqual(['ready', 'ready']);
    expect(begun).toEqual([1_000, 1_001]);
    gate.resolve();
    await Promise.all(asked);
    expect(await ofRun(run, busy)).not.toBeNull();
  });
});
