// The collector on real workspaces: what each run made, whatever ends or crashes between the steps.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { type Collector, makeCollector } from '../../../src/execution/artifacts/collector.ts';
import { makeSweeper } from '../../../src/execution/artifacts/removal/sweeper.ts';
import type { SnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import { noSpace } from '../../../src/files/blobs/no-space.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { type ArtifactFixture, artifactFixture, COMPLETED } from '../../support/files/artifact-fixture.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { large } from '../../support/files/snapshot-fixture.ts';
import { refuseThreads } from '../../support/workers.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let fixture: ArtifactFixture;
let collector: Collector;

beforeEach(async () => {
  fixture = await artifactFixture();
  collector = fixture.collect();
});

const settled = (run: ClaimedRun) =>
  waitFor(async () => {
    const [own, whole] = [await fixture.artifactsOf(run), await fixture.exportOf(run)];
    return own.status !== 'pending' && whole.status !== 'pending' ? { own, whole } : null;
  });

/** Takes the baseline, does something, ends the run and waits for what is kept of it. */
async function turn(files: Record<string, string | null>, sessionId: string | null = null) {
  const run = await fixture.begin(sessionId);
  const baseline = collector.baselineOf(run);
  await baseline.prepare();
  await baseline.take();
  fixture.write(run, files);
  await fixture.end(run);
  collector.wake(run.sessionSeq);
  return { run, ...(await settled(run)) };
}

const pathsOf = (files: readonly { readonly path: string }[]) => files.map(({ path }) => path);
const changesOf = (files: readonly { readonly path: string; readonly change: string }[]) =>
  files.map(({ path, change }) => `${change} ${path}`);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function tarText(key: string): Promise<string> {
  return gunzipSync(await fixture.blobs.read(key)).toString('latin1');
}

test('each run lists its own changes only, and its archive holds those files', {
  tags: ['§2.9-own-files', 'E5-changes'],
}, async () => {
  const first = await turn({ 'a.txt': 'one', 'deep/b.txt': 'two', 'same.txt': 'same' });
  expect(first.own).toMatchObject({ status: 'ready', fileCount: 3, totalSize: 10 });
  expect(changesOf(first.own.files)).toEqual(['added /a.txt', 'added /deep/b.txt', 'added /same.txt']);
  const second = await turn(
    { 'a.txt': 'changed', 'c.txt': 'new', 'deep/b.txt': null, 'same.txt': 'same' },
    first.run.sessionId,
  );
  expect(changesOf(second.own.files)).toEqual(['modified /a.txt', 'added /c.txt']);
  expect(second.own.files[0]!.sha256).toBe(sha256('changed'));
  expect(pathsOf(second.whole.files)).toEqual(['/a.txt', '/c.txt', '/same.txt']);
  const packed = await tarText(second.own.archive!.key);
  expect([packed.includes('c.txt'), packed.includes('changed'), packed.includes('same.txt')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(second.whole).toMatchObject({ status: 'ready', error: null });
  // The first run's archive and its version of the file are still there; the replaced zip is not.
  expect(await tarText(first.own.archive!.key)).toContain('one');
  expect(fixture.blobKeys()).toContain(sha256('one'));
  await waitFor(() => !fixture.blobKeys().includes(first.whole.archive!.key));
});

test('files that were put there by hand between two runs are in the export, and belong to no run', async () => {
  const first = await turn({ 'a.txt': 'one' });
  fixture.write(first.run, { 'by-hand.txt': 'hand' });
  const second = await turn({ 'b.txt': 'two' }, first.run.sessionId);
  expect(changesOf(second.own.files)).toEqual(['added /b.txt']);
  expect(pathsOf(second.whole.files)).toEqual(['/a.txt', '/b.txt', '/by-hand.txt']);
});

test('files that are collected while the store is asked whether they are, are waited for no longer', async () => {
  const first = await fixture.begin();
  fixture.write(first, { 'a.txt': 'one' });
  await fixture.end(first);
  const second = await fixture.begin(first.sessionId);
  const { findBefore } = fixture.store.artifacts;
  let asked = 0;
  vi.spyOn(fixture.store.artifacts, 'findBefore').mockImplementation(async (...which) => {
    asked += 1;
    if (asked !== 2) return findBefore(...which);
    const told = Promise.withResolvers<void>();
    onTestFinished(collector.onCollected(() => told.resolve()));
    collector.wake(first.sessionSeq);
    await told.promise;
    return { isUncollected: true, hasFiles: true, hasNotes: false, isToCopy: false };
  });
  await collector.baselineOf(second).prepare();
  expect(asked).toBe(3);
});

test('uploads are placed before the baseline; those that the agent changed are its artifacts', {
  tags: ['C4'],
}, async () => {
  for (const sessionId of [null, (await turn({ 'a.txt': 'one' })).run.sessionId]) {
    const run = await withUploads(['kept', 'changed'], sessionId);
    await collector.baselineOf(run).take();
    fixture.write(run, { 'uploads/changed.txt': 'by the agent' });
    await fixture.end(run);
    collector.wake(run.sessionSeq);
    const { own, whole } = await settled(run);
    expect(changesOf(own.files)).toEqual(['modified /uploads/changed.txt']);
    const uploads = pathsOf(whole.files).filter((path) => path !== '/a.txt');
    expect(uploads).toEqual(['/uploads/changed.txt', '/uploads/kept.txt']);
  }
});

test('uploads of a run that changes nothing are in the export, and no artifacts', { tags: ['C4'] }, async () => {
  const run = await withUploads(['kept']);
  await fixture.end(run, COMPLETED, { untouched: true, hasUploads: true });
  collector.wake(run.sessionSeq);
  const { own, whole } = await settled(run);
  expect([pathsOf(own.files), pathsOf(whole.files)]).toEqual([[], ['/uploads/kept.txt']]);
});

/** A claimed run whose uploads are in its workspace. */
async function withUploads(ids: readonly string[], sessionId: string | null = null): Promise<ClaimedRun> {
  const hold = fixture.blobs.hold();
  const attach = async (id: string) => {
    const key = await hold.put(Buffer.from(id));
    const attachmentId = `${id}-${sessionId}`;
    const path = `attachments/${attachmentId}/a`;
    return { id: attachmentId, name: `${id}.txt`, path, mimeType: 'text/plain', size: 1, sha256: key };
  };
  const attachments = await Promise.all(ids.map(attach));
  const content = attachments.map(({ id }) => ({ type: 'attachment', attachmentId: id, media: 'file' }) as const);
  await fixture.accept({ sessionId, content, attachments });
  hold.release();
  const run = (await fixture.claim())[0]!;
  const placed = (await fixture.store.turns.get(run.seq, 1)).attachments;
  await fixture.workspaces.placeUploads(run.sessionId, placed, { quotaBytes: 2 ** 30, hasBegun: false });
  return run;
}

test('what a failed or stopped run wrote is in the export, and in no artifacts', { tags: ['E4'] }, async () => {
  const failed = await fixture.begin();
  fixture.write(failed, { 'half.txt': 'half' });
  const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
  await fixture.end(failed, { outcome: 'failed', error });
  collector.wake(failed.sessionSeq);
  expect(await settled(failed)).toMatchObject({
    own: { status: 'failed', files: [], archive: null, error: { message: 'The run failed: The model is gone.' } },
    whole: { status: 'ready', files: [{ path: '/half.txt' }] },
  });
  const stopped = await fixture.begin();
  fixture.write(stopped, { 'half.txt': 'half' });
  await fixture.store.runs.stopSession(stopped.sessionSeq, 'user_requested_stop');
  collector.wake(stopped.sessionSeq);
  await fixture.store.runs.confirmStop(stopped.sessionSeq);
  collector.wake(stopped.sessionSeq);
  expect(await settled(stopped)).toMatchObject({
    own: { status: 'failed', error: { type: 'canceled_error' } },
    whole: { status: 'ready', files: [{ path: '/half.txt' }] },
  });
});

describe('the session’s next run', () => {
  /** A snapshot thread whose snapshots wait until they are let go. */
  function heldThread() {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const snapshotThread: SnapshotThread = {
      ...fixture.snapshotThread,
      takeSnapshot: async (order) => {
        asked += 1;
        await gate.promise;
        return fixture.snapshotThread.takeSnapshot(order);
      },
    };
    return { snapshotThread, letGo: () => gate.resolve(), asked: () => asked };
  }

  test('starts only after the earlier one was collected, and without waiting for its archives', async () => {
    const held = heldThread();
    const packing = Promise.withResolvers<void>();
    const slow = fixture.collect({
      snapshotThread: {
        ...held.snapshotThread,
        packTarGz: async (order) => packing.promise.then(() => fixture.snapshotThread.packTarGz(order)),
      },
    });
    const first = await fixture.begin();
    fixture.write(first, { 'a.txt': 'one' });
    await fixture.end(first);
    const second = await fixture.begin(first.sessionId);
    let free = false;
    const waiting = slow
      .baselineOf(second)
      .prepare()
      .then(() => (free = true));
    await waitFor(() => held.asked() === 1);
    expect(free).toBe(false);
    held.letGo();
    await waiting;
    expect(await fixture.artifactsOf(first)).toMatchObject({ status: 'pending', fileCount: 1 });
    // It begins to write while the archive of the first is still to be packed of what it was.
    fixture.write(second, { 'a.txt': 'two' });
    packing.resolve();
    const { archive } = (await settled(first)).own;
    expect(await tarText(archive!.key)).toContain('one');
  });

  test('does not wait when it was called off', async () => {
    const held = heldThread();
    const slow = fixture.collect({ snapshotThread: held.snapshotThread });
    const first = await fixture.begin();
    await fixture.end(first);
    const baseline = slow.baselineOf(await fixture.begin(first.sessionId));
    const free = baseline.prepare();
    baseline.abort();
    await free;
    held.letGo();
  });

  test('does not look again and again for what a stop holds back', async () => {
    const { artifacts } = fixture.store;
    let [looked, recorded] = [0, 0];
    const refusing = fixture.collect({
      store: {
        ...fixture.store,
        artifacts: {
          ...artifacts,
          findBefore: async (sessionSeq, runSeq) => {
            looked += 1;
            // AuditedAccess without an end would leave no turn to the test.
            return looked < 50 ? artifacts.findBefore(sessionSeq, runSeq) : new Promise(() => undefined);
          },
          recordArtifacts: async (...given) => {
            recorded += 1;
            if (recorded === 1) throw new ErrandError('unavailable', 'No space is left on the disk.');
            return artifacts.recordArtifacts(...given);
          },
        },
      },
    });
    const first = await fixture.begin();
    await fixture.end(first);
    const second = await fixture.begin(first.sessionId);
    const free = refusing.baselineOf(second).prepare();
    await waitFor(() => recorded === 1);
    await fixture.store.runs.stopSession(first.sessionSeq, 'user_requested_stop');
    refusing.wake(first.sessionSeq);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(looked).toBeLessThan(10);
    await fixture.store.runs.confirmStop(first.sessionSeq);
    refusing.wake(first.sessionSeq);
    await free;
    expect(recorded).toBe(2);
  });

  test('starts when the earlier one could not be collected', async () => {
    const refusing = fixture.collect({
      snapshotThread: {
        ...fixture.snapshotThread,
        takeSnapshot: async () => Promise.reject(new ErrandError('unavailable', 'No space is left on the disk.')),
      },
    });
    const first = await fixture.begin();
    await fixture.end(first);
    const second = await fixture.begin(first.sessionId);
    await refusing.baselineOf(second).prepare();
    expect(await fixture.artifactsOf(first)).toMatchObject({
      status: 'failed',
      error: { message: 'No space is left on the disk.' },
    });
    expect(await fixture.exportOf(first)).toMatchObject({ status: 'failed' });
  });
});

test('when the limit of files is lowered below what a workspace has, no run deletes the others, and they are back once it is raised', async () => {
  const before = await turn(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`${at}.txt`, `${at}`])));
  const { sessionId } = before.run;
  const { artifacts } = fixture.settings();
  const limited = (maxFiles: number) => {
    collector = fixture.collect({ settings: () => ({ ...fixture.settings(), artifacts: { ...artifacts, maxFiles } }) });
  };
  limited(4);
  const lowered = await turn({ '1.txt': 'changed', '7.txt': 'changed, too' }, sessionId);
  expect(changesOf(lowered.own.files)).toEqual(['modified /1.txt']);
  expect(pathsOf(lowered.whole.files)).toEqual(['/0.txt', '/1.txt', '/2.txt', '/3.txt']);
  expect(lowered.own.skipped).toMatchObject({ tooMany: 5 });
  // What the first run has made is still there.
  expect((await fixture.artifactsOf(before.run)).files).toHaveLength(9);
  expect(fixture.blobKeys()).toContain(sha256('8'));
  limited(9);
  const raised = await turn({ '8.txt': 'new' }, sessionId);
  expect(changesOf(raised.own.files)).toEqual(['modified /8.txt']);
  expect(pathsOf(raised.whole.files)).toHaveLength(9);
});

describe('the baseline of a run', () => {
  test('is not taken of the first one of a session, nor after an interruption, whose first attempt has one', async () => {
    let looks = 0;
    const { takeSnapshot } = fixture.snapshotThread;
    const counting = fixture.collect({
      snapshotThread: {
        ...fixture.snapshotThread,
        takeSnapshot: async (order) => {
          looks += 1;
          return takeSnapshot(order);
        },
      },
    });
    const first = await fixture.begin();
    fixture.write(first, { 'a.txt': 'one' });
    await counting.baselineOf(first).take();
    expect(looks).toBe(0);
    await fixture.end(first);
    counting.wake(first.sessionSeq);
    await settled(first);
    const second = await fixture.begin(first.sessionId);
    const baseline = counting.baselineOf(second);
    expect(looks).toBe(1);
    await Promise.all([baseline.take(), baseline.take()]);
    expect(looks).toBe(2);
    fixture.write(second, { 'b.txt': 'by the first attempt' });
    await counting.baselineOf({ ...second, attempt: 2 }).take();
    expect(looks).toBe(2);
    await fixture.end(second);
    counting.wake(second.sessionSeq);
    expect(pathsOf((await settled(second)).own.files)).toEqual(['/b.txt']);
  });

  test('is not waited for by a run that is aborted', async () => {
    const first = await turn({ 'a.txt': 'one' });
    const run = await fixture.begin(first.run.sessionId);
    const asked = Promise.withResolvers<void>();
    const stuck = fixture.collect({
      snapshotThread: {
        ...fixture.snapshotThread,
        takeSnapshot: ({ signal }) =>
          new Promise((_resolve, reject) => {
            asked.resolve();
            signal!.addEventListener('abort', () => reject(new ErrandError('unavailable', 'It was cancelled.')));
          }),
      },
    });
    const baseline = stuck.baselineOf(run);
    const taken = baseline.take();
    await asked.promise;
    baseline.abort();
    expect(await taken).toBe(true);
  });

  test('a run that does nothing has none of the files of one that could not be collected', async () => {
    let isRefused = true;
    const { takeSnapshot } = fixture.snapshotThread;
    const refuse = async () => Promise.reject(new ErrandError('unavailable', 'No.'));
    const snapshotThread: SnapshotThread = {
      ...fixture.snapshotThread,
      takeSnapshot: async (order) => (isRefused ? refuse() : takeSnapshot(order)),
    };
    const refusing = fixture.collect({ snapshotThread });
    const first = await fixture.begin();
    fixture.write(first, { 'a.txt': 'one' });
    await fixture.end(first);
    refusing.wake(first.sessionSeq);
    expect((await settled(first)).whole.status).toBe('failed');
    isRefused = false;
    const second = await fixture.begin(first.sessionId);
    await fixture.end(second, COMPLETED, { untouched: true });
    refusing.wake(second.sessionSeq);
    const { own, whole } = await settled(second);
    expect([pathsOf(own.files), pathsOf(whole.files)]).toEqual([[], ['/a.txt']]);
  });

  test('a baseline that takes too long is abandoned, and the run starts', async () => {
    const first = await turn({ 'a.txt': 'one' });
    const run = await fixture.begin(first.run.sessionId);
    const asked = Promise.withResolvers<void>();
    const stuck = fixture.collect({
      snapshotThread: {
        ...fixture.snapshotThread,
        takeSnapshot: async ({ signal, hold }) => {
          await hold!.put(Buffer.from('stored by then'));
          asked.resolve();
          await new Promise((resolve) => signal!.addEventListener('abort', resolve));
          throw new ErrandError('unavailable', 'It was cancelled.');
        },
      },
    });
    const known = fixture.blobKeys();
    const baseline = stuck.baselineOf(run);
    const taken = baseline.take();
    await asked.promise;
    fixture.clock.advance(60_000);
    await taken;
    await waitFor(() => fixture.blobKeys().length === known.length);
    // What its last run left represents it.
    fixture.write(run, { 'b.txt': 'two' });
    await fixture.end(run);
    collector.wake(run.sessionSeq);
    expect(changesOf((await settled(run)).own.files)).toEqual(['added /b.txt']);
  });
});

describe('after a crash', () => {
  /** The steps of a run's collection, each of which may be the last that a process takes. */
  test.each([
    [
      'before the workspace was looked at',
      (snapshotThread: SnapshotThread): SnapshotThread => ({ ...snapshotThread, takeSnapshot: never }),
    ],
    [
      'before the run’s archive was packed',
      (snapshotThread: SnapshotThread): SnapshotThread => ({ ...snapshotThread, packTarGz: never }),
    ],
    [
      'before the workspace’s archive was packed',
      (snapshotThread: SnapshotThread): SnapshotThread => ({ ...snapshotThread, packZip: never }),
    ],
  ])('%s the next start continues, and everything is reported once', { tags: ['§3.2'] }, async (_when, breaking) => {
    let reached = 0;
    never = () => {
      reached += 1;
      return new Promise<never>(() => undefined);
    };
    const dying = makeCollector({ ...fixture.parts, snapshotThread: breaking(fixture.snapshotThread) });
    const run = await fixture.begin();
    fixture.write(run, { 'a.txt': 'one' });
    await fixture.end(run);
    dying.wake(run.sessionSeq);
    await waitFor(() => reached === 1);
    // The process is gone: no one will ever report that step.
    collector.start();
    expect(await settled(run)).toMatchObject({ own: { status: 'ready', fileCount: 1 }, whole: { status: 'ready' } });
    const types = fixture.committed.map(({ type }) => type).filter((type) => /artifacts|export/.test(type));
    expect(types).toEqual(['artifacts.ready', 'workspace_export.completed']);
  });
});

let never: () => Promise<never>;

test('an archive that can’t be packed fails, its run stays completed, and nothing of it is left', async () => {
  const full = () => Promise.reject(new ErrandError('unavailable', 'No space is left on the disk.'));
  const broke = fixture.collect({ snapshotThread: { ...fixture.snapshotThread, packTarGz: full, packZip: full } });
  const run = await fixture.begin();
  fixture.write(run, { 'a.txt': 'one' });
  await fixture.end(run);
  broke.wake(run.sessionSeq);
  expect(await settled(run)).toMatchObject({
    own: { status: 'failed', archive: null, error: { message: 'No space is left on the disk.' }, fileCount: 1 },
    whole: { status: 'failed', archive: null, files: [{ path: '/a.txt' }] },
  });
  expect((await fixture.store.runs.get(run.seq)).status).toBe('completed');
  // The files themselves are kept, and listed.
  expect(fixture.blobKeys()).toEqual([sha256('one')]);
  // The next run has the workspace packed again.
  const second = await turn({ 'b.txt': 'two' }, run.sessionId);
  expect(second.whole).toMatchObject({ status: 'ready', files: [{ path: '/a.txt' }, { path: '/b.txt' }] });
});

describe('without space on the disk', () => {
  /** Refuses an order as the snapshot thread does, until there is space; counts the refusals. */
  function fullDisk() {
    const disk = { full: true, refusals: 0 };
    const unless =
      <Order, Result>(order: (given: Order) => Promise<Result>) =>
      async (given: Order) => {
        if (!disk.full) return order(given);
        disk.refusals += 1;
        throw noSpace();
      };
    const { snapshotThread } = fixture;
    const refusing = {
      ...snapshotThread,
      takeSnapshot: unless(snapshotThread.takeSnapshot),
      packTarGz: unless(snapshotThread.packTarGz),
      packZip: unless(snapshotThread.packZip),
    };
    return { disk, snapshotThread: refusing };
  }

  const endedRun = async () => {
    const run = await fixture.begin(null);
    fixture.write(run, { 'a.txt': 'one' });
    await fixture.end(run);
    return run;
  };
  const statuses = async (run: ClaimedRun) => [
    (await fixture.artifactsOf(run)).status,
    (await fixture.exportOf(run)).status,
  ];
  const minutesUntil = (condition: () => Promise<boolean> | boolean) =>
    waitFor(() => {
      fixture.clock.advance(60_000);
      return condition();
    });

  test('what a run made stays pending, and is stored when space is available again', async () => {
    const { disk, snapshotThread } = fullDisk();
    const patient = fixture.collect({ snapshotThread });
    const run = await endedRun();
    patient.wake(run.sessionSeq);
    await minutesUntil(() => disk.refusals >= 2);
    expect(await statuses(run)).toEqual(['pending', 'pending']);
    expect(fixture.blobKeys()).toEqual([]);
    disk.full = false;
    await minutesUntil(async () => !(await statuses(run)).includes('pending'));
    expect(await statuses(run)).toEqual(['ready', 'ready']);
    expect(changesOf((await fixture.artifactsOf(run)).files)).toEqual(['added /a.txt']);
  });

  test('an archive stays pending, and is packed when space is back', async () => {
    const { disk, snapshotThread } = fullDisk();
    const patient = fixture.collect({
      snapshotThread: { ...snapshotThread, takeSnapshot: fixture.snapshotThread.takeSnapshot },
    });
    const run = await endedRun();
    patient.wake(run.sessionSeq);
    await minutesUntil(() => disk.refusals >= 2);
    expect(await statuses(run)).toEqual(['pending', 'pending']);
    disk.full = false;
    await minutesUntil(async () => !(await statuses(run)).includes('pending'));
    expect(await statuses(run)).toEqual(['ready', 'ready']);
  });

  test('the session’s next run does not wait for space', async () => {
    const { disk, snapshotThread } = fullDisk();
    const patient = fixture.collect({ snapshotThread });
    const run = await endedRun();
    patient.wake(run.sessionSeq);
    await waitFor(() => disk.refusals === 1);
    const next = await fixture.begin(run.sessionId);
    await patient.baselineOf(next).prepare();
    expect(await fixture.artifactsOf(run)).toMatchObject({
      status: 'failed',
      error: { message: 'There is no space left on the disk.' },
    });
  });
});

test('what a run made stays pending while there is no thread to look at it, also when its session’s next run waits', async () => {
  const admit = refuseThreads();
  const patient = fixture.collect();
  const run = await fixture.begin(null);
  fixture.write(run, { 'a.txt': 'one' });
  await fixture.end(run);
  patient.wake(run.sessionSeq);
  const next = await fixture.begin(run.sessionId);
  const free = patient.baselineOf(next).prepare();
  for (let turn = 0; turn < 20; turn += 1) {
    fixture.clock.advance(1_000);
    await new Promise(setImmediate);
  }
  expect((await fixture.artifactsOf(run)).status).toBe('pending');
  admit();
  await waitFor(async () => {
    fixture.clock.advance(1_000);
    return (await fixture.artifactsOf(run)).status === 'ready';
  });
  await free;
});

test('a store that refuses to write is asked again', async () => {
  let refusals = 0;
  const { artifacts } = fixture.store;
  const store = {
    ...fixture.store,
    artifacts: {
      ...artifacts,
      recordArtifacts: async (...given: Parameters<typeof artifacts.recordArtifacts>) => {
        if (refusals > 0) return artifacts.recordArtifacts(...given);
        refusals += 1;
        throw new ErrandError('unavailable', 'The disk is full.');
      },
    },
  };
  const stubborn = fixture.collect({ store });
  const run = await fixture.begin();
  fixture.write(run, { 'a.txt': 'one' });
  await fixture.end(run);
  stubborn.wake(run.sessionSeq);
  await waitFor(() => refusals === 1);
  const { own } = await waitFor(async () => {
    fixture.clock.advance(1_000);
    const found = await fixture.artifactsOf(run);
    return found.status === 'pending' ? null : { own: found };
  });
  expect(own.status).toBe('ready');
});

test('a thousand files of a run, of which the small ones are rows, are recorded in parts, and its archive has them all', async () => {
  const names = Array.from({ length: 999 }, (_, at) => `many/${String(at).padStart(4, '0')}.txt`);
  const files = Object.fromEntries(names.map((name, at) => [name, `${name} ${'x'.repeat(at * 8)}`]));
  const { own } = await turn({ ...files, 'large.txt': large('one') });
  expect(own).toMatchObject({ status: 'ready', fileCount: 1_000 });
  expect(fixture.rows('SELECT count(*) AS n FROM small_blobs WHERE length(bytes) < 9000')).toEqual([{ n: 999 }]);
  const packed = await tarText(own.archive!.key);
  expect(names.every((name) => packed.includes(`${files[name]}`))).toBe(true);
  // What was written until the files were recorded goes.
  await waitFor(() => readdirSync(join(fixture.directory, 'blobs', 'incoming')).length === 0);
});

test('small files that an earlier version has stored as files are packed beside those that are rows', async () => {
  const { run } = await turn({ 'a.txt': 'one', 'c.txt': 'three' });
  await (await openBlobsInFiles(join(fixture.directory, 'blobs'))).hold().put(Buffer.from('one'));
  fixture.change(`DELETE FROM small_blobs WHERE key = '${sha256('one')}'`);
  const { own, whole } = await turn({ 'b.txt': 'two' }, run.sessionId);
  expect(changesOf(own.files)).toEqual(['added /b.txt']);
  const zip = (await fixture.blobs.read(whole.archive!.key)).toString('latin1');
  expect(['a.txt', 'b.txt', 'c.txt'].every((name) => zip.includes(name))).toBe(true);
});

test('a session that is deleted meanwhile leaves no blob behind', async () => {
  const run = await fixture.begin();
  fixture.write(run, { 'a.txt': 'one' });
  await fixture.end(run);
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const slow = fixture.collect({
    snapshotThread: {
      ...fixture.snapshotThread,
      takeSnapshot: async (order) => {
        const snapshot = await fixture.snapshotThread.takeSnapshot(order);
        asked.resolve();
        await gate.promise;
        return snapshot;
      },
    },
  });
  slow.wake(run.sessionSeq);
  await asked.promise;
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  gate.resolve();
  await waitFor(() => fixture.blobKeys().length === 0);
});

test('a clean-up that packing held up is done as soon as it has ended', async () => {
  const packing = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const sweeper = makeSweeper({
    isShared: false,
    ...fixture.parts,
    workspaces: fixture.workspaces,
    beforeErasing: async () => undefined,
  });
  onTestFinished(sweeper.stop);
  const slow = fixture.collect({
    happened: sweeper.notice,
    snapshotThread: {
      ...fixture.snapshotThread,
      packTarGz: async (order) => {
        const archive = await fixture.snapshotThread.packTarGz(order);
        packing.resolve();
        await goOn.promise;
        return archive;
      },
    },
  });
  const run = await fixture.begin();
  fixture.write(run, { 'a.txt': 'of a session that is deleted' });
  await fixture.end(run);
  slow.wake(run.sessionSeq);
  await packing.promise;
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  sweeper.wake();
  const cleanups = () => fixture.rows('SELECT session_seq FROM cleanups').length;
  await waitFor(() => !existsSync(fixture.workspaces.pathOf(run.sessionId)), { what: 'the sweeper has been there' });
  goOn.resolve();
  // The clock does not move: nothing is tried again because of the time.
  await waitFor(() => cleanups() === 0, { what: 'the clean-up is done' });
});

test('many sessions are all collected, six at a time', async () => {
  let [atOnce, most] = [0, 0];
  const counting = fixture.collect({
    snapshotThread: {
      ...fixture.snapshotThread,
      takeSnapshot: async (order) => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        const snapshot = await fixture.snapshotThread.takeSnapshot(order);
        atOnce -= 1;
        return snapshot;
      },
    },
  });
  const runs: ClaimedRun[] = [];
  for (let count = 0; count < 12; count += 1) {
    const run = await fixture.begin();
    fixture.write(run, { 'a.txt': `run ${count}` });
    await fixture.end(run);
    runs.push(run);
  }
  for (const { sessionSeq } of runs) counting.wake(sessionSeq);
  for (const run of runs) expect((await settled(run)).own).toMatchObject({ status: 'ready', fileCount: 1 });
  expect(most).toBe(6);
});
