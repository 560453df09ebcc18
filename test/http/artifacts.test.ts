// Artifacts over HTTP: who owns them, what is reported of them, and that their addresses lead to the bytes.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { WAITED_FOR } from '../../src/execution/artifacts/artifact-parts.ts';
import { makeEmptyArchives } from '../../src/execution/artifacts/packing/empty-archives.ts';
import type { Collector } from '../../src/execution/artifacts/collector.ts';
import { openBlobStore } from '../../src/files/blobs/blobs.ts';
import { makeFileAddresses } from '../../src/files/file-address.ts';
import { makeAccess } from '../../src/operations/access.ts';
import { makeAuditedAccess } from '../../src/operations/audited-access.ts';
import { makeArtifactOperations } from '../../src/operations/sessions/artifacts.ts';
import { makeOpenFile } from '../../src/operations/sessions/open-file.ts';
import type { ClaimedRun } from '../../src/store/lifecycle/start-run.ts';
import { type ArtifactFixture, artifactFixture } from '../support/files/artifact-fixture.ts';
import { auditOf } from '../support/store/audit.ts';
import { type Fixture, loggedLines, openFixture, send } from '../support/http/http-fixture.ts';
import { fenceOf } from '../support/store/store-fixture.ts';
import { waitFor } from '../support/time/wait-for.ts';

const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';
const PUBLIC_URL = 'https://errand.example.com/base';

let rows: ArtifactFixture;
let fixture: Fixture;
let collector: Collector;
let addresses: ReturnType<typeof makeFileAddresses>;
let openElsewhere: ReturnType<typeof makeOpenFile>;

beforeEach(async () => {
  rows = await artifactFixture();
  collector = rows.collect({ packedOnRequest: WAITED_FOR });
  const secret = randomBytes(32);
  addresses = makeFileAddresses({ deriveKey: () => secret, now: rows.clock.now });
  const { store } = rows;
  const emptyArchives = makeEmptyArchives(rows.parts);
  const blobs = await openBlobStore(join(rows.directory, 'blobs'), store.smallBlobs);
  openElsewhere = makeOpenFile({
    store,
    blobs,
    fileAddresses: addresses,
    collector,
    emptyArchives: makeEmptyArchives({ blobs, snapshotThread: rows.anotherThread() }),
    clock: rows.clock,
  });
  const logged = loggedLines();
  const auditedAccess = makeAuditedAccess({ access: makeAccess(store), audit: auditOf({ store, log: logged.log }) });
  const operations = makeArtifactOperations({
    store,
    auditedAccess,
    fileAddresses: addresses,
    emptyArchives,
    collector,
  });
  fixture = await openFixture({ logged, operations, settings: { publicUrl: PUBLIC_URL } });
});

const get = (path: string, as = 'conversation-key') => send(fixture, { path, as });
const ofSession = ({ sessionId }: ClaimedRun, as?: string) => get(`/openapi/v1/sessions/${sessionId}/artifacts`, as);
const ofRun = ({ id }: ClaimedRun, as?: string) => get(`/openapi/v1/runs/${id}/artifacts`, as);

/** What an address returns, without credentials, at another node than the one that gave it. */
async function bytesAt(url: string): Promise<Buffer> {
  expect(url.startsWith(`${PUBLIC_URL}/files/`)).toBe(true);
  const opened = await openElsewhere(url.slice(PUBLIC_URL.length));
  if (!('blob' in opened)) throw new Error('It is packed while it is downloaded.');
  const bytes = Buffer.alloc(opened.blob.size);
  await opened.blob.read(bytes, 0);
  await opened.blob.close();
  return bytes;
}

async function completed(files: Record<string, string>): Promise<ClaimedRun> {
  const run = await rows.begin();
  rows.write(run, files);
  await rows.end(run);
  collector.wake(run.sessionSeq);
  await waitFor(async () => (await rows.exportOf(run)).status === 'ready');
  await waitFor(async () => (await rows.artifactsOf(run)).status === 'ready');
  return run;
}

describe('whose they are', () => {
  test.each([
    ['the session’s key', 'conversation-key', 200],
    ['another key of the same user', 'second-key', 403],
    ['a login token', 'token-of-user', 401],
    ['nobody', 'no-such-key', 401],
  ])('%s (%s) gets %i', { tags: ['§4.6-run-artifacts', 'E6'] }, async (_who, as, status) => {
    await rows.makeKey();
    const run = await completed({ 'a.txt': 'a' });
    expect([(await ofSession(run, as)).status, (await ofRun(run, as)).status]).toEqual([status, status]);
  });

  test('another user’s are refused', { tags: ['§4.6-run-artifacts', 'E6'] }, async () => {
    const { store } = rows;
    const other = await store.users.create({
      username: 'otto',
      fullName: '',
      department: '',
      role: 'user',
      teamId: null,
      functionalRole: null,
      scenario: null,
      passwordHash: 'x',
    });
    const key = { ...(await rows.makeKey()), userSeq: other.seq };
    const run = await rows.accept({ user: other, key });
    for (const path of [`/openapi/v1/sessions/${run.sessionId}/artifacts`, `/openapi/v1/runs/${run.id}/artifacts`]) {
      expect(await get(path)).toMatchObject({
        status: 403,
        json: { type: 'error', error: { type: 'permission_error' } },
      });
    }
  });

  test.each(['x', UNKNOWN])('%s is not found', { tags: ['E6'] }, async (id) => {
    for (const path of [`sessions/${id}/artifacts`, `runs/${id}/artifacts`]) {
      expect(await get(`/openapi/v1/${path}`)).toMatchObject({
        status: 404,
        json: { type: 'error', error: { type: 'not_found_error' } },
      });
      expect((await get(`/api/v1/${path}`, 'admin-key')).status).toBe(404);
    }
  });

  test('those of a deleted session are gone, for administrators too', async () => {
    const run = await completed({ 'a.txt': 'a' });
    await rows.store.sessions.deleteSession(run.sessionSeq);
    expect([(await ofSession(run)).status, (await ofRun(run)).status]).toEqual([404, 404]);
    expect((await get(`/api/v1/runs/${run.id}/artifacts`, 'admin-key')).status).toBe(404);
  });

  test('administrators get them in the envelope; others do not', async () => {
    const run = await completed({ 'a.txt': 'a' });
    const path = `/api/v1/runs/${run.id}/artifacts`;
    expect(await get(path, 'admin-key')).toMatchObject({
      status: 200,
      json: { code: 0, data: { run_id: run.id, artifact_status: 'ready', file_count: 1 } },
    });
    const whole = await get(`/api/v1/sessions/${run.sessionId}/artifacts`, 'admin-key');
    expect(whole.json).toMatchObject({ code: 0, data: { workspace_export_status: 'ready' } });
    expect((await get(path, 'global-key')).status).toBe(403);
  });
});

test('a run’s artifacts have the shape of the specification, and every address leads to its bytes', {
  tags: ['§2.8-fields', '§2.8-tree', '§2.9-fields', '§4.6-run-artifacts'],
}, async () => {
  const run = await completed({ 'reports/q1 ü.html': '<p>', 'a.txt': 'hello' });
  const { status, json } = await ofRun(run);
  expect(status).toBe(200);
  const [first, second] = (json as { files: Record<string, string>[] }).files;
  expect(json).toEqual({
    session_id: run.sessionId,
    run_id: run.id,
    artifact_status: 'ready',
    file_count: 2,
    total_size: 8,
    files: [
      {
        id: first!['id'],
        name: 'a.txt',
        type: 'file',
        path: '/a.txt',
        children: null,
        url: first!['url'],
        downloadUrl: first!['downloadUrl'],
        mimeType: 'text/plain',
        oss_status: 'added',
        oss_meta: { size: 5, sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' },
      },
      expect.objectContaining({ name: 'q1 ü.html', path: '/reports/q1 ü.html', mimeType: 'text/html' }),
    ],
    archive: {
      url: expect.stringContaining(`/run-artifacts-${run.id}.tar.gz`) as unknown,
      filename: `run-artifacts-${run.id}.tar.gz`,
      size: expect.any(Number) as unknown,
      sha256: expect.any(String) as unknown,
    },
    error: null,
    skipped: { links: 0, special: 0, not_utf8: 0, too_large: 0, too_deep: 0, too_many: 0, unreadable: 0 },
  });
  expect((await bytesAt(first!['url']!)).toString()).toBe('hello');
  expect((await bytesAt(second!['downloadUrl']!)).toString()).toBe('<p>');
  const { archive } = json as { archive: { url: string; size: number } };
  expect((await bytesAt(archive.url)).length).toBe(archive.size);
});

test('the workspace is a tree in the order of its paths, whose ids stay the same', {
  tags: ['§2.8-fields', '§2.8-tree', '§4.6-session-artifacts'],
}, async () => {
  const run = await completed({ 'b.txt': 'b', 'a/y/z.txt': 'z', 'a/x.txt': 'x', 'a.txt': 'a' });
  interface Node {
    readonly id: string;
    readonly type: string;
    readonly path: string;
    readonly url: string | null;
    readonly children: readonly Node[] | null;
  }
  interface Tree {
    readonly files: readonly Node[];
    readonly archive: { url: string; filename: string };
  }
  const shown = (nodes: readonly Node[]): unknown[] =>
    nodes.map(({ path, type, url, children }) =>
      children === null ? [type, path, url !== null] : [type, path, url, shown(children)],
    );
  const tree = (await ofSession(run)).json as Tree;
  expect(tree).toMatchObject({ session_id: run.sessionId, workspace_export_status: 'ready' });
  expect(shown(tree.files)).toEqual([
    ['file', '/a.txt', true],
    [
      'folder',
      '/a',
      null,
      [
        ['file', '/a/x.txt', true],
        ['folder', '/a/y', null, [['file', '/a/y/z.txt', true]]],
      ],
    ],
    ['file', '/b.txt', true],
  ]);
  expect(tree.archive.filename).toBe(`workspace-${run.sessionId}.zip`);
  expect((await bytesAt(tree.archive.url)).subarray(0, 2).toString()).toBe('PK');
  const again = (await ofSession(run)).json as Tree;
  expect(again.files.map(({ id }) => id)).toEqual(tree.files.map(({ id }) => id));
});

describe('the status', () => {
  test('is none and pending before a run has ended', { tags: ['§2.8-fields', 'E3'] }, async () => {
    const run = await rows.begin();
    expect((await ofRun(run)).json).toMatchObject({ artifact_status: 'pending', files: [], archive: null });
    expect((await ofSession(run)).json).toMatchObject({
      workspace_export_status: 'none',
      files: [],
      archive: null,
    });
  });

  test('is ready with an archive of nothing when nothing was made', { tags: ['§2.8-fields'] }, async () => {
    const run = await rows.begin();
    await rows.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await rows.store.runs.settle(fenceOf(run), { untouched: true });
    const [own, whole] = [(await ofRun(run)).json, (await ofSession(run)).json];
    expect(own).toMatchObject({ artifact_status: 'ready', file_count: 0, total_size: 0, files: [] });
    expect(whole).toMatchObject({ workspace_export_status: 'ready', files: [] });
    const zip = await bytesAt((whole as { archive: { url: string } }).archive.url);
    expect(zip.subarray(0, 4).toString('latin1')).toBe('PK\x05\x06');
    const tar = await bytesAt((own as { archive: { url: string } }).archive.url);
    expect(tar.subarray(0, 2).toString('hex')).toBe('1f8b');
  });

  test('is failed with the reason, and the workspace’s files are still listed', { tags: ['E3'] }, async () => {
    const run = await rows.begin();
    rows.write(run, { 'half.txt': 'half' });
    const error = { type: 'timeout_error', message: 'The model was silent.', retryable: true } as const;
    await rows.end(run, { outcome: 'failed', error });
    collector.wake(run.sessionSeq);
    await waitFor(async () => (await rows.exportOf(run)).status === 'ready');
    expect((await ofRun(run)).json).toMatchObject({
      artifact_status: 'failed',
      files: [],
      archive: null,
      error: { type: 'timeout_error', message: 'The run failed: The model was silent.' },
    });
    expect((await ofSession(run)).json).toMatchObject({
      workspace_export_status: 'ready',
      files: [{ path: '/half.txt' }],
    });
  });

  test('of a run from before there were artifacts is unavailable', { tags: ['§3.2'] }, async () => {
    const run = await rows.begin();
    await rows.end(run);
    const connection = new Connection(rows.file);
    connection.prepare("UPDATE runs SET artifact_status = 'unavailable'").run();
    connection.close();
    expect((await ofRun(run)).json).toMatchObject({ artifact_status: 'unavailable', files: [], error: null });
    expect((await ofSession(run)).json).toMatchObject({ workspace_export_status: 'none' });
  });

  test('is pending while the run’s changes are still to be packed, with the files known', async () => {
    const run = await rows.begin();
    await rows.end(run);
    const found = { files: [{ path: '/a.txt', size: 1, sha256: 'a'.repeat(64) }], skipped: {} };
    await rows.store.artifacts.recordArtifacts(run.seq, found);
    expect((await ofRun(run)).json).toMatchObject({ artifact_status: 'pending', file_count: 1, archive: null });
    expect((await ofSession(run)).json).toMatchObject({
      workspace_export_status: 'pending',
      files: [{ path: '/a.txt' }],
      archive: null,
    });
    await rows.store.artifacts.failExport(run.sessionSeq, run.seq, 'No space is left on the disk.');
    expect((await ofSession(run)).json).toMatchObject({
      workspace_export_status: 'failed',
      error: { message: 'No space is left on the disk.' },
    });
  });
});

test('archives are packed by the first request for them, and again when they were removed by age', async () => {
  const run = await completed({ 'tide.txt': 'high' });
  const { store, clock } = rows;
  expect(rows.blobKeys()).toHaveLength(1);
  const archives = async () =>
    [(await ofSession(run)).json, (await ofRun(run)).json].map((json) => (json as { archive: object }).archive);
  const [whole, own] = (await archives()) as { url: string; size: number; sha256: string }[];
  expect(rows.blobKeys()).toHaveLength(3);
  expect((await bytesAt(own!.url)).length).toBe(own!.size);
  expect(await store.retention.archives(clock.now() + 1, { room: () => 9 })).toEqual({ rows: 2, more: false });
  expect(await archives()).toEqual([whole, own]);
});

test('one that can’t be packed now is pending, with the files known', async () => {
  const run = await completed({ 'tide.txt': 'high' });
  await rows.snapshotThread.stop();
  expect((await ofSession(run)).json).toMatchObject({
    workspace_export_status: 'pending',
    files: [{ name: 'tide.txt' }],
    archive: null,
  });
  expect((await ofRun(run)).json).toMatchObject({ artifact_status: 'pending', archive: null, file_count: 1 });
});
