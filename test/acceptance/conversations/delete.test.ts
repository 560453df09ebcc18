// Deleting a session of the real daemon: gone for everyone at once, cleaned up despite any crash, nothing else touched.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { filesBelow, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
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

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });

async function call(method: string, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${daemon.apiKey}` };
  const response = await fetch(`${daemon.url}/openapi/v1${path}`, { method, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const remove = (sessionId: string) => call('DELETE', `/sessions/${sessionId}`);
const workspaceOf = (sessionId: string) => join(daemon.dataDir, 'workspaces', sessionId);
const hasBlob = (text: string) =>
  blobs().some((path) => path.endsWith(createHash('sha256').update(text).digest('hex')));
/** Files, and keys of rows. */
const blobs = () => [
  ...filesBelow(join(daemon.dataDir, 'blobs')),
  ...rowsOf<{ key: string }>(daemon, 'SELECT key FROM small_blobs').map(({ key }) => key),
];
const cleanups = () => rowsOf(daemon, 'SELECT * FROM cleanups').length;

function withFile(text: string, words: string): object[] {
  const source = { type: 'base64', media_type: 'text/plain', data: Buffer.from(text).toString('base64') };
  return [
    { type: 'file', file_name: 'a.txt', source },
    { type: 'text', text: words },
  ];
}

test('a deleted session is 404 everywhere; its workspace and its own blobs go, those of others stay', {
  tags: ['§4.6-delete', 'E9'],
}, async () => {
  const first = await takeTurn(target(), { content: withFile('shared', '[[text=ok]]') });
  const stays = await takeTurn(target(), { content: withFile('shared', '[[tools=1]] [[text=ok]]') });
  const sessionId = first.sessionId!;
  await takeTurn(target(), { content: withFile('own', '[[tools=1]] [[text=ok]]'), sessionId });
  expect(existsSync(workspaceOf(sessionId))).toBe(true);
  expect(['shared', 'own'].map(hasBlob)).toEqual([true, true]);
  const [{ path }] = rowsOf<{ path: string }>(daemon, 'SELECT path FROM attachments ORDER BY seq DESC LIMIT 1') as [
    { path: string },
  ];

  expect(await remove(sessionId)).toEqual({ status: 200, body: { id: sessionId, cleanup: { scheduled: true } } });
  expect((await remove(sessionId)).status).toBe(404);
  expect((await call('GET', `/sessions/${sessionId}/messages`)).status).toBe(404);
  expect((await call('GET', `/sessions/${sessionId}/capability-config`)).status).toBe(404);
  expect((await call('POST', `/sessions/${sessionId}/stop`)).status).toBe(404);
  expect((await call('GET', `/runs/${first.runId}/stream`)).status).toBe(404);
  expect((await takeTurn(target(), { content: 'more', sessionId })).status).toBe(404);
  const stored = { type: 'file', source: { type: 'url', data: path } };
  expect((await takeTurn(target(), { content: [stored] })).status).toBe(404);
  const { body } = await call('GET', '/sessions');
  expect((body['items'] as { session_id: string }[]).map(({ session_id: id }) => id)).not.toContain(sessionId);

  await waitFor(() => cleanups() === 0, { what: 'the clean-up is done' });
  expect(existsSync(workspaceOf(sessionId))).toBe(false);
  expect(existsSync(workspaceOf(stays.sessionId!))).toBe(true);
  expect(['shared', 'own'].map(hasBlob)).toEqual([true, false]);
});

test('what runs in a deleted session is stopped, and its readers are notified', { tags: ['E9'] }, async () => {
  const from = model.requests.length;
  const response = await openTurn(target(), { stream: true, content: '[[deltas=4]] [[hang=mid-stream after=2]]' });
  const sessionId = response.headers.get('x-session-id')!;
  await model.waitForRequest(from + 1);
  expect((await remove(sessionId)).status).toBe(200);
  expect((await readTurn(response)).error).toMatchObject({ message: 'The run was stopped.' });
  // Earlier events may already be erased.
  const [last] = rowsOf<{ type: string }>(
    daemon,
    `SELECT type FROM events WHERE session_seq = (SELECT seq FROM sessions WHERE id = ?) ORDER BY id DESC LIMIT 1`,
    sessionId,
  );
  expect(last).toEqual({ type: 'session.deleted' });
  await waitFor(() => cleanups() === 0, { what: 'the clean-up is done' });
});

test('a clean-up survives kills at any moment, and follows no link out', { tags: ['§4.6-delete', 'E9'] }, async () => {
  const outside = temporaryDirectory({ 'kept.txt': 'kept', 'deep/kept.txt': 'kept' });
  const { sessionId } = await takeTurn(target(), { content: withFile('to be removed', '[[tools=1]] [[text=ok]]') });
  const workspace = workspaceOf(sessionId!);
  for (let folder = 0; folder < 60; folder += 1) {
    const path = join(workspace, `folder-${folder}`, 'below');
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 40; file += 1) writeFileSync(join(path, `${file}`), 'x');
    symlinkSync(outside, join(path, 'link'));
  }
  expect(hasBlob('to be removed')).toBe(true);
  let kills = 0;
  // Killed a little later after each start: in the reply, in the middle of the removal, and after it.
  const deleting = remove(sessionId!).catch(() => undefined);
  await waitFor(() => cleanups() === 1 || !existsSync(workspace), { everyMs: 1, what: 'the delete is committed' });
  do {
    await daemon.kill();
    kills += 1;
    expect(existsSync(join(outside, 'kept.txt'))).toBe(true);
    await daemon.restart();
    await new Promise((resolve) => setTimeout(resolve, kills * 5));
  } while (cleanups() > 0 && kills < 5);
  await deleting;
  await waitFor(() => cleanups() === 0, { what: 'the clean-up is done' });
  expect(existsSync(workspace)).toBe(false);
  // Every remaining blob is in use. One whose row was erased just before a kill is looked for after the start; of files of
  // sessions that stay, some may only be recorded then.
  const named = () =>
    rowsOf<{ key: string }>(
      daemon,
      `SELECT a.sha256 AS key FROM attachments a JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
       WHERE s.deleted_at IS NULL
     UNION SELECT sha256 FROM run_artifact_files UNION SELECT sha256 FROM workspace_files
     UNION SELECT archive_key FROM workspace_exports
     UNION SELECT p.archive_key FROM run_artifacts p JOIN runs r ON r.seq = p.run_seq
       JOIN sessions s ON s.seq = r.session_seq WHERE s.deleted_at IS NULL`,
    ).map(({ key }) => key);
  await waitFor(
    () => {
      const keys = named();
      return blobs().every((path) => keys.includes(path.slice(-64)));
    },
    { what: 'nothing is left over' },
  );
  expect(hasBlob('to be removed')).toBe(false);
  expect(readdirSync(outside).toSorted()).toEqual(['deep', 'kept.txt']);
  expect((await call('GET', `/sessions/${sessionId}/messages`)).status).toBe(404);
  expect((await takeTurn(target(), { content: '[[text=Fine.]]' })).text).toBe('Fine.');
});
