// Artifacts of runs in the real daemon: listed, packed and downloaded as by a client, and not lost in a crash.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tarEntries, zipEntries } from '../../support/files/archives.ts';
import { filesBelow, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type Reply, replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(replyFromDirectives));

interface FileNode {
  readonly path: string;
  readonly url: string;
  readonly downloadUrl: string;
  readonly oss_status: string | null;
  readonly oss_meta: { readonly size: number; readonly sha256: string };
}
interface Artifacts {
  readonly artifact_status: string;
  readonly workspace_export_status: string;
  readonly files: readonly FileNode[];
  readonly archive: { readonly url: string; readonly filename: string } | null;
  readonly error: { readonly message: string } | null;
}

async function get(path: string): Promise<{ status: number; body: Artifacts }> {
  const response = await fetch(`${daemon.url}/openapi/v1${path}`, { headers: { 'x-api-key': daemon.apiKey } });
  return { status: response.status, body: (await response.json()) as Artifacts };
}

const ofRun = (runId: string) =>
  waitFor(async () => {
    const { body } = await get(`/runs/${runId}/artifacts`);
    return body.artifact_status === 'pending' ? null : body;
  });
const ofSession = (sessionId: string) =>
  waitFor(async () => {
    const { body } = await get(`/sessions/${sessionId}/artifacts`);
    return body.workspace_export_status === 'pending' ? null : body;
  });

async function bytesAt(url: string | undefined): Promise<Buffer> {
  const response = await fetch(url!);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** The reply there, once its first bytes have come. Nothing reads them yet. */
async function beginAt(url: string): Promise<IncomingMessage> {
  const [reply] = (await once(request(url, { agent: false }).end(), 'response')) as [IncomingMessage];
  await once(reply, 'readable');
  return reply;
}

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
const changesOf = ({ files }: Artifacts) => files.map(({ path, oss_status }) => `${oss_status} ${path}`);
const writes = (path: string, content: string) => ({ name: 'write_file', input: { path, content } });

/** A reply with those calls, then the words. */
function script(calls: NonNullable<Reply['tools']>): void {
  model.script(({ step }) => (step === 0 ? { tools: calls } : { text: 'Done.' }));
}

test('two turns through the official clients: each run’s own files and the whole workspace, packed and fetched', {
  tags: ['§2.9-own-files', '§4.6-session-artifacts', '§4.6-run-artifacts'],
}, async () => {
  const anthropic = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
  script([writes('/a.txt', 'one'), writes('/deep/b.txt', 'two')]);
  const first = await anthropic.messages
    .create({ model: 'any', max_tokens: 100, messages: [{ role: 'user', content: 'Write.' }] })
    .asResponse();
  const sessionId = first.headers.get('x-session-id')!;
  const firstRun = await ofRun(first.headers.get('x-run-id')!);
  expect(changesOf(firstRun)).toEqual(['added /a.txt', 'added /deep/b.txt']);
  expect(await tarEntries(await bytesAt(firstRun.archive?.url))).toEqual({ 'a.txt': 'one', 'deep/b.txt': 'two' });

  const openai = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  script([writes('/a.txt', 'changed'), writes('/c.txt', 'three')]);
  const second = await openai.chat.completions
    .create({
      model: 'any',
      messages: [{ role: 'user', content: 'Write more.' }],
      metadata: { session_id: sessionId },
    })
    .asResponse();
  const secondRun = await ofRun(second.headers.get('x-run-id')!);
  expect(changesOf(secondRun)).toEqual(['modified /a.txt', 'added /c.txt']);
  expect(await tarEntries(await bytesAt(secondRun.archive?.url))).toEqual({ 'a.txt': 'changed', 'c.txt': 'three' });
  expect((await bytesAt(secondRun.files[0]!.downloadUrl)).toString()).toBe('changed');

  const whole = await ofSession(sessionId);
  expect(whole.archive?.filename).toBe(`workspace-${sessionId}.zip`);
  const expected = { 'a.txt': 'changed', 'c.txt': 'three', 'deep/b.txt': 'two' };
  expect(zipEntries(await bytesAt(whole.archive?.url))).toEqual(expected);
  // The first turn is still what it was.
  expect(await tarEntries(await bytesAt(firstRun.archive?.url))).toEqual({ 'a.txt': 'one', 'deep/b.txt': 'two' });

  const directory = temporaryDirectory();
  const args = [
    'sessions',
    'artifacts',
    sessionId,
    '--download',
    directory,
    '-o',
    'json',
    '--data-dir',
    daemon.dataDir,
  ];
  const { path } = JSON.parse((await runErrand(args)).stdout) as { path: string };
  expect(path).toBe(join(directory, `workspace-${sessionId}.zip`));

  const removed = await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId}`, {
    method: 'DELETE',
    headers: { 'x-api-key': daemon.apiKey },
  });
  expect(removed.status).toBe(200);
  expect((await fetch(whole.archive!.url)).status).toBe(404);
  expect((await fetch(firstRun.files[0]!.url)).status).toBe(404);
  await waitFor(() => filesBelow(join(daemon.dataDir, 'blobs')).length === 0, { what: 'every blob is gone' });
  await waitFor(() => rowsOf(daemon, 'SELECT key FROM small_blobs').length === 0, { what: 'every small blob is gone' });
});

test('a turn without tools is ready at once, with archives of no files', async () => {
  const { runId, sessionId } = await takeTurn(target(), { content: '[[text=ok]]' });
  const [own, whole] = [await get(`/runs/${runId}/artifacts`), await get(`/sessions/${sessionId}/artifacts`)];
  expect(own.body).toMatchObject({ artifact_status: 'ready', files: [], error: null });
  expect(whole.body).toMatchObject({ workspace_export_status: 'ready', files: [] });
  expect(await tarEntries(await bytesAt(own.body.archive?.url))).toEqual({});
  expect(zipEntries(await bytesAt(whole.body.archive?.url))).toEqual({});
});

test('turns that wait behind one another list their own files only', async () => {
  model.script(({ userText, step }) =>
    step === 0 ? { tools: [writes(`/${userText}.txt`, userText)] } : { text: 'Done.' },
  );
  const first = await takeTurn(target(), { content: 'one' });
  const sessionId = first.sessionId!;
  const behind = await Promise.all(['two', 'three'].map((content) => takeTurn(target(), { content, sessionId })));
  const lists = await Promise.all([first, ...behind].map(({ runId }) => ofRun(runId!)));
  expect(lists.map(changesOf)).toEqual([['added /one.txt'], ['added /two.txt'], ['added /three.txt']]);
  const whole = await ofSession(sessionId);
  expect(zipEntries(await bytesAt(whole.archive?.url))).toEqual({
    'one.txt': 'one',
    'three.txt': 'three',
    'two.txt': 'two',
  });
});

test('uploads are in the workspace, and no run made them', { tags: ['C4'] }, async () => {
  const source = { type: 'base64', media_type: 'text/csv', data: Buffer.from('a,b').toString('base64') };
  const content = [
    { type: 'file', file_name: 'data.csv', source },
    { type: 'text', text: '[[text=ok]]' },
  ];
  const { runId, sessionId } = await takeTurn(target(), { content });
  expect(await ofRun(runId!)).toMatchObject({ artifact_status: 'ready', files: [] });
  const whole = await ofSession(sessionId!);
  expect(zipEntries(await bytesAt(whole.archive?.url))).toEqual({ 'uploads/data.csv': 'a,b' });
});

test('what a stopped run wrote is in the workspace’s archive', async () => {
  let asked = 0;
  model.script(() => {
    asked += 1;
    return asked === 1 ? { tools: [writes('/half.txt', 'half')] } : { text: 'never', hang: 'before-headers' };
  });
  const response = await openTurn(target(), { stream: true, content: 'go' });
  const [sessionId, runId] = [response.headers.get('x-session-id')!, response.headers.get('x-run-id')!];
  await waitFor(() => asked === 2);
  await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId}/stop`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey },
  });
  await readTurn(response);
  expect(await ofRun(runId)).toMatchObject({
    artifact_status: 'failed',
    files: [],
    archive: null,
    error: { message: 'The run was stopped.' },
  });
  const whole = await ofSession(sessionId);
  expect(zipEntries(await bytesAt(whole.archive?.url))).toEqual({ 'half.txt': 'half' });
});

test('a large archive is packed by its download; a crash in the middle leaves no half one, and the next download is whole', {
  tags: ['§3.2'],
}, async () => {
  model.script(({ step }) => {
    if (step === 0) return { tools: [writes('/a.txt', 'one')] };
    // Large enough that packing it takes a while.
    const [{ id }] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM sessions ORDER BY seq DESC LIMIT 1') as [
      { id: string },
    ];
    writeFileSync(join(daemon.dataDir, 'workspaces', id, 'a.txt'), randomBytes(24 * 1_048_576));
    return { text: 'Done.' };
  });
  const response = await openTurn(target(), { stream: true, content: 'go' });
  const [sessionId, runId] = [response.headers.get('x-session-id')!, response.headers.get('x-run-id')!];
  await readTurn(response);
  const unpacked = await ofRun(runId);
  expect(unpacked).toMatchObject({ artifact_status: 'ready', archive: { size: null, sha256: null } });
  expect(await ofSession(sessionId)).toMatchObject({ workspace_export_status: 'ready', archive: { size: null } });
  const incoming = () => filesBelow(join(daemon.dataDir, 'blobs')).filter((path) => path.startsWith('incoming'));
  expect(incoming()).toEqual([]);

  // While the rest is packed. However late the crash comes, most of it is with the daemon still.
  const begun = await Promise.all([unpacked, unpacked].map(async ({ archive }) => beginAt(archive!.url)));
  const killed = daemon.kill();
  const ends = await Promise.allSettled(begun.map(async (reply) => buffer(reply)));
  await killed;
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await daemon.restart();
  expect(incoming()).toEqual([]);
  const own = await bytesAt((await ofRun(runId)).archive?.url);
  expect(Object.keys(await tarEntries(own))).toEqual(['a.txt']);
  const whole = await bytesAt((await ofSession(sessionId)).archive?.url);
  expect(Object.keys(zipEntries(whole))).toEqual(['a.txt']);
  // From now on, both are files like any other.
  const sha256 = createHash('sha256').update(own).digest('hex');
  expect((await ofRun(runId)).archive).toMatchObject({ size: own.length, sha256 });
  const again = await fetch((await ofSession(sessionId)).archive!.url, { headers: { range: 'bytes=10-19' } });
  expect([again.status, Buffer.from(await again.arrayBuffer())]).toEqual([206, whole.subarray(10, 20)]);
  const events = rowsOf<{ type: string }>(
    daemon,
    `SELECT type FROM events WHERE (type LIKE 'artifacts.%' OR type LIKE 'workspace_export.%')
       AND session_seq = (SELECT seq FROM sessions WHERE id = ?)`,
    sessionId,
  );
  expect(events.map(({ type }) => type).sort()).toEqual(['artifacts.ready', 'workspace_export.completed']);
});
