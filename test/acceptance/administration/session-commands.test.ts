// The commands about sessions, runs and the queue, against the real daemon.
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type StopReply, stopped } from '../../support/daemon/stopped.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1, runs_per_thread: 1 }\n',
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(replyFromDirectives));

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
const HANGS = '[[deltas=4]] [[hang=mid-stream after=2]]';

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

/** Runs a command that is to fail, and answers its exit code and what it said. */
async function failing(...args: readonly string[]): Promise<{ code: number; stderr: string }> {
  return runErrand([...args, '--data-dir', daemon.dataDir]).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
}

const stop = (noun: 'runs' | 'sessions', id: string) => stopped(() => errand<StopReply>(noun, 'stop', id));

interface Items {
  readonly items: readonly Record<string, unknown>[];
  readonly total: number;
}

async function begin(content: string, sessionId: string | null = null) {
  const response = await openTurn(target(), { stream: true, content, sessionId });
  const [session, run] = ['x-session-id', 'x-run-id'].map((name) => response.headers.get(name)!) as [string, string];
  return { response, sessionId: session, runId: run };
}

test('sessions and runs are listed, shown and read, and the reading is logged', async () => {
  const turn = await takeTurn(target(), { content: '[[text=The moon pulls.]] Tell me of tides.' });
  const [sessionId, runId] = [turn.sessionId!, turn.runId!];
  const listed = await errand<Items>('sessions', 'list', '--user', daemon.adminName, '--limit', '1');
  expect(listed.items).toMatchObject([{ session_id: sessionId, status: 'completed', username: daemon.adminName }]);
  expect(await errand('sessions', 'show', sessionId)).toMatchObject({ session_id: sessionId, kind: 'api', stop: null });
  const runs = await errand<Items>('runs', 'list', '--session', sessionId, '--status', 'completed');
  expect(runs).toMatchObject({ items: [{ run_id: runId, model: 'scripted' }], total: 1 });
  expect(await errand('runs', 'show', runId)).toMatchObject({ run_id: runId, status: 'completed', error: null });
  const history = await errand<{ messages: { role: string }[] }>('sessions', 'messages', sessionId);
  expect(history.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  const read = await errand<Items>('audit', 'list', '--session', sessionId, '--action', 'session.read');
  expect(read).toMatchObject({ items: [{ actor: { via: 'socket' }, target_id: sessionId }], total: 1 });
  expect(await errand('audit', 'verify')).toMatchObject({ ok: true, broken_id: null });
  await waitFor(() => daemon.stderr().includes('"action":"session.read"'));
});

test('the queue says what waits and why, until it is stopped', async () => {
  const from = model.requests.length;
  const first = await begin(HANGS);
  await model.waitForRequest(from + 1);
  const [behind, other, later] = [
    await begin('[[text=b]]', first.sessionId),
    await begin('[[text=c]]'),
    await begin('[[text=d]]'),
  ];
  const queue = await errand<Items & { slots: number; busy: number }>('queue');
  expect(queue).toMatchObject({
    total: 3,
    slots: 1,
    busy: 1,
    items: [
      { run_id: behind.runId, reason: 'session_busy', behind_run_id: first.runId },
      { run_id: other.runId, reason: 'slots_full', behind_run_id: null },
      { run_id: later.runId, reason: 'key_order', behind_run_id: other.runId },
    ],
  });
  // One run is stopped: what waited for it in its session continues.
  expect(await stop('runs', first.runId)).toMatchObject({ stop_state: 'stopped', cancelled_runs: 1 });
  expect((await readTurn(first.response)).error).toMatchObject({ message: 'The run was stopped.' });
  const answers = await Promise.all([behind, other, later].map(({ response }) => readTurn(response)));
  expect(answers.map(({ text }) => text)).toEqual(['b', 'c', 'd']);
  // The last run takes its slot for a moment longer than its reply.
  const isFree = async () => (await errand<{ busy: number }>('queue')).busy === 0;
  await waitFor(isFree);
  expect(await errand<Items>('queue')).toMatchObject({ items: [], total: 0, busy: 0 });
});

test('a run is followed live to its end, across a crash of the daemon', async () => {
  const from = model.requests.length;
  const { response, runId } = await begin('[[tools=1]] [[deltas=4]] [[hang=mid-stream after=2]]');
  await model.waitForRequest(from + 2);
  let seen = '';
  const child = execFile(
    new URL('../../../bin/errand', import.meta.url).pathname,
    ['runs', 'tail', runId, '--data-dir', daemon.dataDir, '-o', 'json'],
    { maxBuffer: 1024 * 1024 },
  );
  child.stdout!.on('data', (text: string) => (seen += text));
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  await waitFor(() => seen.includes('content_block_delta'), { what: 'live text' });
  void response.body?.cancel().catch(() => undefined);
  await daemon.kill();
  model.script({ text: 'After the crash.' });
  await daemon.restart();
  expect(await exit).toBe(0);
  const events = seen
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; type: string; stream_seq: number });
  expect(events.map(({ stream_seq: seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['tool_result', 'run.resumed']));
  expect(events.at(-1)!.type).toBe('run.done');
});

test('sessions are stopped and deleted; ids that name nothing end with 5, bad ones with 2', async () => {
  const from = model.requests.length;
  const { response, sessionId, runId } = await begin(HANGS);
  await model.waitForRequest(from + 1);
  expect(await stop('sessions', sessionId)).toMatchObject({
    stop_state: 'stopped',
    termination_reason: 'operator_requested_stop',
    executor_cancelled: true,
  });
  await readTurn(response);
  expect(await errand('sessions', 'show', sessionId)).toMatchObject({ status: 'stopped' });
  expect((await failing('sessions', 'delete', sessionId)).code).toBe(2);
  expect(await errand('sessions', 'delete', sessionId, '--yes')).toEqual({
    id: sessionId,
    cleanup: { scheduled: true },
  });
  for (const args of [
    ['sessions', 'show', sessionId],
    ['sessions', 'stop', sessionId],
    ['runs', 'tail', runId],
  ]) {
    expect([args, (await failing(...args)).code]).toEqual([args, 5]);
  }
  expect((await failing('runs', 'show', 'x')).code).toBe(2);
});
