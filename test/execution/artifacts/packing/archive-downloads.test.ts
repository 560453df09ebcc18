// Large archives, which are packed while they are downloaded: once, and never half.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import type { Archive } from '../../../../src/domain/sessions/artifact.ts';
import { PACKED_ON_REQUEST } from '../../../../src/execution/artifacts/artifact-parts.ts';
import type { CollectorParts, Collector } from '../../../../src/execution/artifacts/collector.ts';
import { noSpace } from '../../../../src/files/blobs/no-space.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { type ArtifactFixture, artifactFixture } from '../../../support/files/artifact-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

const NOTHING = { fileCount: 0, totalBytes: 0 };
const OWNER = 1;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let fixture: ArtifactFixture;
let collector: Collector;

beforeEach(async () => {
  fixture = await artifactFixture();
  collector = collect();
});

const collect = (over: Partial<CollectorParts> = {}) =>
  fixture.collect({ packedOnRequest: PACKED_ON_REQUEST, waitedFor: NOTHING, ...over });

async function turn(files: Record<string, string | null>, sessionId: string | null = null) {
  const run = await fixture.begin(sessionId);
  fixture.write(run, files);
  await fixture.end(run);
  collector.wake(run.sessionSeq);
  await waitFor(async () => (await fixture.exportOf(run)).status === 'ready');
  return run;
}

const runOf = ({ seq }: ClaimedRun) => ({ kind: 'run', seq, runSeq: seq }) as const;
const workspaceAfter = ({ sessionSeq, seq }: ClaimedRun) =>
  ({ kind: 'workspace', seq: sessionSeq, runSeq: seq }) as const;

test('two downloads at once pack it once, and whoever asks later has it', async () => {
  let packings = 0;
  const { snapshotThread } = fixture;
  const counted = collect({
    snapshotThread: {
      ...snapshotThread,
      packTarGz: async (order) => {
        packings += 1;
        return snapshotThread.packTarGz(order);
      },
    },
  });
  const run = await turn({ 'a.txt': 'one' });
  const both = [counted.downloadArchive(runOf(run), OWNER), counted.downloadArchive(runOf(run), OWNER)];
  const [one, other] = await Promise.all(both.map(async ({ packed }) => packed));
  expect(one).toEqual(other);
  expect(packings).toBe(1);
  expect(gunzipSync(await fixture.blobs.read(one!.archive.key)).toString('latin1')).toContain('one');
  expect((await fixture.artifactsOf(run)).archive).toEqual(one!.archive);
  expect(await counted.packOnRequest({ kind: 'run', seq: run.seq }, run.sessionSeq)).toEqual(one!.archive);
  expect((await counted.downloadArchive(runOf(run), OWNER).packed).archive).toEqual(one!.archive);
  expect(packings).toBe(1);
});

test('what is there of it can be read while it is packed, also when a run overtakes it', async () => {
  const gate = Promise.withResolvers<void>();
  const packed = Promise.withResolvers<Archive>();
  const { snapshotThread } = fixture;
  const slow = collect({
    snapshotThread: {
      ...snapshotThread,
      packZip: async (order) => {
        const archive = await snapshotThread.packZip(order);
        packed.resolve(archive);
        await gate.promise;
        return archive;
      },
    },
  });
  // Of bytes that do not shrink, so that it is in a file.
  const noise = Array.from({ length: 40_000 }, (_, at) => sha256(String(at))).join('');
  const first = await turn({ 'a.txt': noise });
  const download = slow.downloadArchive(workspaceAfter(first), OWNER);
  const growing = await waitFor(() => download.open(), { what: 'the file is there' });
  await packed.promise;
  await turn({ 'b.txt': 'two' }, first.sessionId);
  gate.resolve();
  const { archive, isKept } = await download.packed;
  expect(isKept).toBe(false);
  const bytes = Buffer.alloc(archive.size);
  expect(await growing.read(bytes, 0)).toBe(archive.size);
  await growing.close();
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(archive.key);
  expect(fixture.blobKeys()).not.toContain(archive.key);
});

test('one of a workspace that has changed since, and of a deleted session, is not there', async () => {
  const first = await turn({ 'a.txt': 'one' });
  const second = await turn({ 'a.txt': 'two' }, first.sessionId);
  await expect(collector.downloadArchive(workspaceAfter(first), OWNER).packed).rejects.toMatchObject({
    reason: 'not_found',
  });
  expect((await collector.downloadArchive(workspaceAfter(second), OWNER).packed).isKept).toBe(true);
  await fixture.store.sessions.deleteSession(first.sessionSeq);
  await expect(collector.downloadArchive(runOf(first), OWNER).packed).rejects.toMatchObject({ reason: 'not_found' });
});

test('one that can’t be packed leaves nothing, and the next download tries again', async () => {
  let isFull = true;
  const { snapshotThread } = fixture;
  const packTarGz: typeof snapshotThread.packTarGz = async (order) => {
    if (isFull) throw noSpace();
    return snapshotThread.packTarGz(order);
  };
  const full = collect({ snapshotThread: { ...snapshotThread, packTarGz } });
  const run = await turn({ 'a.txt': 'one' });
  await expect(full.downloadArchive(runOf(run), OWNER).packed).rejects.toMatchObject({ reason: 'unavailable' });
  expect(fixture.blobKeys()).toEqual([sha256('one')]);
  isFull = false;
  expect((await full.downloadArchive(runOf(run), OWNER).packed).isKept).toBe(true);
});

test('while many are being packed, one more is refused', async () => {
  const gate = Promise.withResolvers<never>();
  const { artifacts } = fixture.store;
  const store = { ...fixture.store, artifacts: { ...artifacts, findRequested: async () => gate.promise } };
  const busy = collect({ store });
  const begun = Array.from({ length: 18 }, (_, seq) =>
    busy.downloadArchive({ kind: 'run', seq, runSeq: seq }, seq % 6),
  );
  expect(() => busy.downloadArchive({ kind: 'run', seq: 99, runSeq: 99 }, 99)).toThrow(
    'Many archives are being packed',
  );
  // One that is being packed can be joined.
  begun.push(busy.downloadArchive({ kind: 'run', seq: 0, runSeq: 0 }, 0));
  gate.reject(new Error('over'));
  await Promise.all(begun.map(async ({ packed }) => expect(packed).rejects.toThrow('over')));
});

test('one user does not take all places, and has them again when theirs are packed', async () => {
  const gate = Promise.withResolvers<never>();
  const { artifacts } = fixture.store;
  const store = { ...fixture.store, artifacts: { ...artifacts, findRequested: async () => gate.promise } };
  const busy = collect({ store });
  const ask = (seq: number, owner = OWNER) => busy.downloadArchive({ kind: 'run', seq, runSeq: seq }, owner);
  const begun = Array.from({ length: 6 }, (_, seq) => ask(seq));
  expect(() => ask(6)).toThrow('Many archives are being packed');
  begun.push(ask(5), ask(7, OWNER + 1));
  gate.reject(new Error('over'));
  await Promise.all(begun.map(async ({ packed }) => expect(packed).rejects.toThrow('over')));
  await expect(ask(6).packed).rejects.toThrow('over');
});
