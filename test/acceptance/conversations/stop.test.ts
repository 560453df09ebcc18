// Stopping a session of the real daemon: who is notified, what ends, and what can continue.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type StopReply, stopped } from '../../support/daemon/stopped.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { changeRows } from '../../support/store/open-store.ts';

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
const HANGS = '[[deltas=4]] [[hang=mid-stream after=2]]';

async function call(method: string, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${daemon.apiKey}` };
  const response = await fetch(`${daemon.url}/openapi/v1${path}`, { method, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const askToStop = async (sessionId: string) =>
  (await call('POST', `/sessions/${sessionId}/stop`)).body as Record<string, unknown> & StopReply;
const stop = (sessionId: string) => stopped(() => askToStop(sessionId));

/** Begins a turn and resolves once the model has been called for it. */
async function begin(request: Parameters<typeof openTurn>[1]) {
  const from = model.requests.length;
  const response = await openTurn(target(), { stream: true, ...request });
  const [sessionId, runId] = ['x-session-id', 'x-run-id'].map((name) => response.headers.get(name)!) as [
    string,
    string,
  ];
  await model.waitForRequest(from + 1);
  return { response, sessionId, runId };
}

const terminalEvents = (runId: string) =>
  rowsOf<{ type: string }>(
    daemon,
    `SELECT e.type FROM events e JOIN runs r ON r.seq = e.run_seq
     WHERE r.id = ? AND e.type IN ('run.done', 'run.failed', 'run.stopped')`,
    runId,
  ).map(({ type }) => type);
const statusOf = (runId: string) =>
  rowsOf<{ status: string }>(daemon, 'SELECT status FROM runs WHERE id = ?', runId)[0]?.status;

test.each(['messages', 'chat'] as const)(
  '%s: a reader of a stopped run gets the error, and the stream ends',
  async (protocol) => {
    const { response, sessionId, runId } = await begin({ protocol, content: HANGS });
    expect(await stop(sessionId)).toEqual({
      session_id: sessionId,
      status: 'stopped',
      stop_state: 'stopped',
      termination_reason: 'user_requested_stop',
      cancelled_runs: 1,
      expired_user_input_requests: 0,
      executor_cancelled: true,
    });
    const answer = await readTurn(response);
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', message: 'The run was stopped.' });
    const names = answer.events.map(({ event, data }) => event ?? data);
    if (protocol === 'messages') {
      expect(names.at(-1)).toBe('error');
      expect(names).not.toContain('message_stop');
      expect(names.filter((name) => name === 'content_block_start')).toHaveLength(
        names.filter((name) => name === 'content_block_stop').length,
      );
    } else expect(names).not.toContain('[DONE]');
    expect([statusOf(runId), terminalEvents(runId)]).toEqual(['canceled', ['run.stopped']]);
    expect(await stop(sessionId)).toMatchObject({ stop_state: 'already_stopped', cancelled_runs: 0 });
    expect(terminalEvents(runId)).toEqual(['run.stopped']);
  },
);

test('a request that waits for a stopped run gets that as its reply', async () => {
  const from = model.requests.length;
  const waiting = takeTurn(target(), { content: HANGS });
  await model.waitForRequest(from + 1);
  const [{ id }] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM sessions ORDER BY seq DESC LIMIT 1') as [
    { id: string },
  ];
  await stop(id);
  expect(await waiting).toMatchObject({ status: 409, error: { message: 'The run was stopped.' } });
});

test('a stopped command of the shell dies before the stop is confirmed', async () => {
  // Of this process alone: the file may run on both engines at once.
  const marker = `61.${process.pid}`;
  const { sessionId, runId } = await begin({ content: `[[shell=sleep ${marker}]]` });
  await waitFor(() => processesWith(marker).length > 0, { what: 'the command runs' });
  expect(await stop(sessionId)).toMatchObject({ stop_state: 'stopped', executor_cancelled: true });
  expect(processesWith(marker)).toEqual([]);
  expect(statusOf(runId)).toBe('canceled');
});

function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words[0] === 'sleep' && words.includes(text);
    } catch {
      return false;
    }
  });
}

test('waiting runs of the session end with the running one, and the session continues afterwards', {
  tags: ['§4.6-stop', 'E8'],
}, async () => {
  const first = await begin({ content: HANGS });
  const behind = await Promise.all(
    [1, 2].map(async () => openTurn(target(), { stream: true, content: '[[text=no]]', sessionId: first.sessionId })),
  );
  expect(await stop(first.sessionId)).toMatchObject({ stop_state: 'stopped', cancelled_runs: 3 });
  for (const response of [first.response, ...behind]) {
    expect((await readTurn(response)).error).toMatchObject({ message: 'The run was stopped.' });
  }
  const { body } = await call('GET', '/sessions?limit=1');
  expect(body['items']).toMatchObject([{ session_id: first.sessionId, status: 'stopped' }]);
  const next = await takeTurn(target(), { content: '[[text=Going on.]]', sessionId: first.sessionId });
  expect([next.status, next.text]).toEqual([200, 'Going on.']);
  expect(await stop(first.sessionId)).toMatchObject({ stop_state: 'not_running', status: 'completed' });
});

test('a stopped background run is canceled', { tags: ['§3.1-canceled', 'E8'] }, async () => {
  const response = await openTurn(target(), { content: HANGS, body: { background: true, idempotency_key: 'stop-1' } });
  expect(response.status).toBe(202);
  const [sessionId, runId] = ['x-session-id', 'x-run-id'].map((name) => response.headers.get(name)!) as [
    string,
    string,
  ];
  await waitFor(() => statusOf(runId) === 'running');
  expect(await stop(sessionId)).toMatchObject({ stop_state: 'stopped', cancelled_runs: 1 });
  expect((await call('GET', `/runs/${runId}`)).body).toMatchObject({
    background_results: { status: 'canceled', retry_after_ms: null },
  });
});

test('disabling a user stops their runs: their readers are notified, and nobody else', async () => {
  const nils = (await daemon.admin('POST', '/api/v1/users', { username: 'nils' })) as { user_id: string };
  const made = await daemon.admin('POST', '/api/v1/keys', { user: 'nils', scope: 'conversation', name: 'laptop' });
  const theirs = { url: daemon.url, apiKey: (made as { key: string }).key };
  const from = model.requests.length;
  const running = await openTurn(theirs, { stream: true, content: HANGS });
  const behind = await openTurn(theirs, {
    stream: true,
    content: '[[text=no]]',
    sessionId: running.headers.get('x-session-id'),
  });
  await model.waitForRequest(from + 1);
  const mine = await begin({ content: HANGS });
  await daemon.admin('PATCH', `/api/v1/users/${nils.user_id}`, { disabled: true });
  for (const response of [running, behind]) {
    expect((await readTurn(response)).error).toMatchObject({ message: 'The run was stopped.' });
    const runId = response.headers.get('x-run-id')!;
    expect([statusOf(runId), terminalEvents(runId)]).toEqual(['canceled', ['run.stopped']]);
  }
  expect(statusOf(mine.runId)).toBe('running');
  await stop(mine.sessionId);
});

test('what a crash left of a disabled user is stopped at the next start', async () => {
  await daemon.admin('POST', '/api/v1/users', { username: 'olga' });
  const made = await daemon.admin('POST', '/api/v1/keys', { user: 'olga', scope: 'conversation', name: 'laptop' });
  const from = model.requests.length;
  const response = await openTurn(
    { url: daemon.url, apiKey: (made as { key: string }).key },
    { stream: true, content: HANGS },
  );
  void response.body?.cancel();
  await model.waitForRequest(from + 1);
  await daemon.kill();
  // As if the daemon had died between the two.
  changeRows(join(daemon.dataDir, 'errand.db'), "UPDATE users SET disabled = 1 WHERE username = 'olga'");
  await daemon.restart();
  const runId = response.headers.get('x-run-id')!;
  expect([statusOf(runId), terminalEvents(runId)]).toEqual(['canceled', ['run.stopped']]);
  expect(model.requests).toHaveLength(from + 1);
});

test('a stop holds through a kill in the same moment, and the session can be continued', {
  tags: ['§4.6-stop'],
}, async () => {
  const { response, sessionId, runId } = await begin({ content: `[[shell=sleep 47]]` });
  void response.body?.cancel();
  const stopping = askToStop(sessionId).catch(() => undefined);
  await waitFor(() => statusOf(runId) === 'canceled', { everyMs: 1 });
  await daemon.kill();
  await stopping;
  await daemon.restart();
  expect(await stop(sessionId)).toMatchObject({ stop_state: 'already_stopped', status: 'stopped' });
  expect(terminalEvents(runId)).toEqual(['run.stopped']);
  const next = await takeTurn(target(), { content: '[[text=Back.]]', sessionId });
  expect([next.status, next.text]).toEqual([200, 'Back.']);
});

test('stops that race with the end of their runs: one outcome each, and the reader hears the same', async () => {
  const rounds = Array.from({ length: 40 }, (_, round) => round);
  for (const round of rounds) {
    const response = await openTurn(target(), { stream: true, content: '[[text=Done.]]' });
    const [sessionId, runId] = ['x-session-id', 'x-run-id'].map((name) => response.headers.get(name)!) as [
      string,
      string,
    ];
    // Spread over the few milliseconds that such a run takes.
    await new Promise((resolve) => setTimeout(resolve, round % 10));
    const [{ stop_state: state }, answer] = await Promise.all([stop(sessionId), readTurn(response)]);
    const status = statusOf(runId);
    expect([status, answer.error === null, terminalEvents(runId), state]).toEqual(
      status === 'completed'
        ? ['completed', true, ['run.done'], 'not_running']
        : ['canceled', false, ['run.stopped'], 'stopped'],
    );
  }
});
