// Questions to the user through the real daemon: runs that wait without a slot, across kills and restarts.
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ANSWER } from '../../../src/store/rows.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, readTurn, takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { changeRows, literal } from '../../support/store/open-store.ts';

let model: ModelServer;
let daemon: DaemonProcess;

/** What is not to time out is streamed. */
const SETTINGS = [
  'wait_timeout_seconds: 4',
  'workers: { threads: 1, runs_per_thread: 2 }',
  'streams: { ping_seconds: 1, drain_seconds: 1 }',
  '',
].join('\n');

/** Asks at once, writes down the answer, then says it; other words are answered as they are. */
function script({ userText, step, body }: { userText: string; step: number; body: object }): Reply {
  if (!userText.startsWith('ask')) return { text: `Plain: ${userText}` };
  if (step === 0) {
    return {
      text: 'Let me ask. ',
      tools: [
        { id: 'before', name: 'write_file', input: { path: '/before.txt', content: 'x' } },
        { id: 'ask1', name: 'ask_user', input: { question: 'Which colour?', options: ['red', 'blue'] } },
        { id: 'after', name: 'write_file', input: { path: '/after.txt', content: 'x' } },
      ],
    };
  }
  const messages = JSON.stringify((body as { messages: unknown }).messages);
  const heard = /did not answer/.test(messages)
    ? 'nothing'
    : (/green|red/.exec(messages.split('ask1').at(-1)!)?.[0] ?? '?');
  return { text: `Heard ${heard}.` };
}

const MESSAGE_EVENTS = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
];

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url, errandYaml: SETTINGS });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(script));

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });

interface Question {
  readonly request_id: string;
  readonly run_id: string;
  readonly session_id: string;
  readonly status: string;
}

const pending = async () =>
  ((await daemon.admin('GET', '/api/v1/user-inputs?status=pending&limit=500')) as { items: Question[] }).items;
const answer = (id: string, answers: unknown) => daemon.admin('POST', `/api/v1/user-inputs/${id}/answer`, { answers });
const runRow = (runId: string) =>
  rowsOf<Record<string, unknown>>(
    daemon,
    `SELECT status, attempt, resumes, ${ANSWER} FROM runs r WHERE id = ?`,
    runId,
  )[0]!;

/** Begins a streamed turn whose agent asks, and answers once the question is there. */
async function beginAsking(request: Partial<Parameters<typeof openTurn>[1]> = {}) {
  const response = await openTurn(target(), { stream: true, content: 'ask', ...request });
  const runId = response.headers.get('x-run-id')!;
  const question = await waitFor(async () => (await pending()).find(({ run_id: id }) => id === runId));
  return { response, runId, sessionId: response.headers.get('x-session-id')!, question };
}

test('a stream stays open while its run waits, with the names of the protocol only, and ends with the answer', async () => {
  const { response, runId, question } = await beginAsking();
  expect(runRow(runId)).toMatchObject({ status: 'waiting' });
  await answer(question.request_id, 'green');
  const { events, text, error } = await readTurn(response);
  expect([error, text]).toEqual([null, 'Let me ask. Heard green.']);
  const names = new Set(events.map(({ event }) => event));
  names.delete('ping');
  expect([...names]).toEqual(MESSAGE_EVENTS);
  expect(runRow(runId)).toMatchObject({ status: 'completed', attempt: 2, resumes: 0 });
  const results = rowsOf<{ id: string; output: string }>(
    daemon,
    `SELECT tool_use_id AS id, output FROM tool_calls WHERE run_seq = (SELECT seq FROM runs WHERE id = ?)
     ORDER BY position`,
    runId,
  );
  expect(results.map(({ id }) => id)).toEqual(['before', 'ask1', 'after']);
  expect(results[1]!.output).toBe('green');
});

test('a client that asks for tool events gets the question and its answer', async () => {
  const { response, question } = await beginAsking({ headers: { 'x-stream-tool-events': 'true' } });
  await answer(question.request_id, 'red');
  const { events } = await readTurn(response);
  const shown = events.flatMap(({ event, data }) =>
    event?.startsWith('user_input.') ? [JSON.parse(data!) as Record<string, unknown>] : [],
  );
  expect(shown).toMatchObject([
    { type: 'user_input.requested', request_id: question.request_id, tool_use_id: 'ask1', tool_name: 'ask_user' },
    { type: 'user_input.answered', request_id: question.request_id },
  ]);
});

test('fifty runs that wait hold no slot; what comes next in a session stays behind, other sessions continue', {
  tags: ['§3.4-pending', 'I2'],
}, async () => {
  const asking = await Promise.all(
    Array.from({ length: 50 }, () => openTurn(target(), { stream: true, content: 'ask' })),
  );
  const questions = await waitFor(async () => {
    const found = await pending();
    return found.length === 50 ? found : undefined;
  });
  const status = (await daemon.admin('GET', '/api/v1/status')) as { runs: object; workers: { busy: number } };
  expect([status.runs, status.workers.busy]).toEqual([{ queued: 0, running: 0, waiting: 50, finalizing: 0 }, 0]);
  expect(await takeTurn(target(), { stream: true, content: 'quick' })).toMatchObject({
    status: 200,
    text: 'Plain: quick',
  });

  const [first] = questions;
  const behind = await openTurn(target(), { stream: true, content: 'next', sessionId: first!.session_id });
  const queue = (await daemon.admin('GET', '/api/v1/queue')) as { waiting_for_user: number; items: object[] };
  expect(queue).toMatchObject({
    waiting_for_user: 50,
    items: [{ reason: 'user_input', behind_run_id: first!.run_id }],
  });
  const { stdout } = await runErrand(['runs', 'list', '--session', first!.session_id, '--data-dir', daemon.dataDir]);
  expect(stdout.split('\n').map((line) => line.split('\t')[1])).toEqual(['queued', 'waiting', undefined]);

  await Promise.all(questions.map(({ request_id: id }) => answer(id, 'green')));
  for (const response of asking) expect((await readTurn(response)).text).toBe('Let me ask. Heard green.');
  expect((await readTurn(behind)).text).toBe('Plain: next');
  const ended = (runId: string, type: string) =>
    rowsOf<{ id: number }>(
      daemon,
      'SELECT id FROM events WHERE run_seq = (SELECT seq FROM runs WHERE id = ?) AND type = ?',
      runId,
      type,
    )[0]!.id;
  expect(ended(first!.run_id, 'run.done')).toBeLessThan(ended(behind.headers.get('x-run-id')!, 'run.started'));
});

test('a daemon that is killed while a run waits still has the question, and the answer brings the run to its end', {
  tags: ['§3.4-pending'],
}, async () => {
  const { response, runId, sessionId, question } = await beginAsking();
  await daemon.kill();
  await response.body?.cancel().catch(() => undefined);
  await daemon.restart();
  expect(runRow(runId)).toMatchObject({ status: 'waiting', attempt: 1, resumes: 0 });
  expect((await pending()).map(({ request_id: id }) => id)).toEqual([question.request_id]);
  const asked = await fetch(`${daemon.url}/openapi/v1/user-inputs/${question.request_id}/answer`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ answers: ['green'] }),
  });
  expect([asked.status, await asked.json()]).toEqual([200, expect.objectContaining({ session_id: sessionId })]);
  await waitFor(() => runRow(runId)['status'] === 'completed');
  expect(runRow(runId)).toMatchObject({ answer: 'Heard green.', attempt: 2, resumes: 0 });
});

test('a question that expires while no daemon runs is reported as unanswered after the next start', {
  tags: ['I2'],
}, async () => {
  const { response, runId, question } = await beginAsking();
  await daemon.stop();
  expect((await readTurn(response)).error).toMatchObject({ message: expect.stringContaining('restarting') });
  const late = `UPDATE user_inputs SET expires_at = created_at + 1 WHERE id = ${literal(question.request_id)}`;
  changeRows(join(daemon.dataDir, 'errand.db'), late);
  await daemon.restart();
  await waitFor(() => runRow(runId)['status'] === 'completed');
  expect(runRow(runId)).toMatchObject({ answer: 'Heard nothing.', attempt: 2, resumes: 0 });
});

test('a stop ends the question with its run, and says so; an answer then comes too late', {
  tags: ['§2.11-expired-questions'],
}, async () => {
  const { response, sessionId, question } = await beginAsking();
  const stopped = await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId}/stop`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey },
  });
  expect(await stopped.json()).toMatchObject({
    stop_state: 'stopped',
    cancelled_runs: 1,
    expired_user_input_requests: 1,
    executor_cancelled: false,
  });
  expect((await readTurn(response)).error).toMatchObject({ message: 'The run was stopped.' });
  const late = runErrand(['inputs', 'answer', question.request_id, 'red', '--data-dir', daemon.dataDir]);
  await expect(late).rejects.toMatchObject({ code: 6, stderr: expect.stringContaining('expired') });
});

test('a request that does not stream times out, a poll says running, and the command line brings both to an end', async () => {
  const waited = takeTurn(target(), { content: 'ask' });
  const body = { background: true, idempotency_key: 'asks' };
  const accepted = await openTurn(target(), { content: 'ask in the background', body });
  expect(accepted.status).toBe(202);
  const { background_results: submitted } = (await accepted.json()) as { background_results: { run_id: string } };
  const questions = await waitFor(async () => {
    const found = await pending();
    return found.length === 2 ? found : undefined;
  });
  const poll = async () => {
    const response = await fetch(`${daemon.url}/openapi/v1/runs/${submitted.run_id}`, {
      headers: { 'x-api-key': daemon.apiKey },
    });
    return ((await response.json()) as { background_results: { status: string } }).background_results.status;
  };
  expect(await poll()).toBe('running');
  expect(await waited).toMatchObject({ status: 504, error: { type: 'timeout_error' } });
  for (const { request_id: id } of questions) {
    const { stdout } = await runErrand(['inputs', 'answer', id, 'green', '--data-dir', daemon.dataDir]);
    expect(stdout).toContain('answered');
  }
  await waitFor(async () => questions.every(({ run_id: id }) => runRow(id)['status'] === 'completed'));
});

test('an insight is reported while the run works, and moved on from the command line', { tags: ['I3'] }, async () => {
  model.script(({ step }) =>
    step === 0
      ? { tools: [{ name: 'report_insight', input: { title: 'Salt', summary: 'It rusts.', priority: 'high' } }] }
      : { text: 'Reported.' },
  );
  expect(await takeTurn(target(), { stream: true, content: 'report' })).toMatchObject({ text: 'Reported.' });
  const { items } = (await daemon.admin('GET', '/api/v1/insights')) as { items: { insight_id: string }[] };
  expect(items).toMatchObject([{ title: 'Salt', priority: 'high', status: 'new', username: daemon.adminName }]);
  const set = (status: string) =>
    runErrand(['insights', 'set', items[0]!.insight_id, status, '--data-dir', daemon.dataDir, '-o', 'json']);
  expect(JSON.parse((await set('acknowledged')).stdout)).toMatchObject({ status: 'acknowledged' });
  expect(JSON.parse((await set('resolved')).stdout)).toMatchObject({ status: 'resolved' });
  await expect(set('dismissed')).rejects.toMatchObject({ code: 6, stderr: expect.stringContaining('closed') });
});
