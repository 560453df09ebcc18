import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type Reply, replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let models: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  models = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: models.url });
});

afterAll(async () => {
  await daemon.close();
  await models.close();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & { background_results: Record<string, unknown> };
}

async function call(method: string, path: string, body?: object, key = daemon.apiKey): Promise<Answer> {
  const response = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

const submission = (text: string, more: object = {}) => ({
  model: 'errand',
  background: true,
  messages: [{ role: 'user', content: text }],
  ...more,
});

const submit = (text: string, more: object = {}) => call('POST', '/openapi/v1/messages', submission(text, more));

async function finished(url: unknown): Promise<Answer> {
  return waitFor(
    async () => {
      const answer = await call('GET', String(url));
      if (answer.status === 429) return false;
      const { status } = answer.body.background_results;
      return ['queued', 'running', 'finalizing'].includes(String(status)) ? false : answer;
    },
    { everyMs: 300, what: 'the background run has ended' },
  );
}

test('a background run is accepted with 202, polled to its result, and found again by its key', {
  tags: [
    '§2.5-fields',
    '§3.1-states-to-poll',
    '§3.1-accepted',
    '§3.1-repeated-submission',
    '§4.3-rule-6',
    '§4.5-waiting',
    '§4.5-completed',
  ],
}, async () => {
  const payload = Buffer.from('order 17').toString('base64');
  const more = { idempotency_key: 'order-17', background_payload: payload };
  const accepted = await submit('[[text=The tide is high.]]', more);
  expect(accepted.status).toBe(202);
  expect(accepted.headers.get('retry-after')).toBe('2');
  expect(accepted.body).toMatchObject({ type: 'message', content: [], stop_reason: null, model: 'errand' });
  expect(accepted.body['usage']).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  const { background_results: results } = accepted.body;
  expect(results).toMatchObject({ retry_after_ms: 2000, background_payload: payload, error: null });
  expect(accepted.headers.get('x-run-id')).toBe(results['run_id']);
  expect(accepted.headers.get('x-session-id')).toBe(results['session_id']);
  expect(results['result_url']).toBe(`/openapi/v1/runs/${String(results['run_id'])}`);

  const done = await finished(results['result_url']);
  expect(done.status).toBe(200);
  expect(done.headers.get('retry-after')).toBeNull();
  expect(done.body).toMatchObject({
    id: accepted.body['id'],
    content: [{ type: 'text', text: 'The tide is high.' }],
    stop_reason: 'end_turn',
    background_results: { status: 'completed', retry_after_ms: null, background_payload: payload, error: null },
  });

  const replay = await submit('something else entirely', { idempotency_key: 'order-17' });
  expect(replay.status).toBe(202);
  expect(replay.headers.get('idempotency-replayed')).toBe('true');
  expect(replay.body).toEqual(done.body);
});

test('the key may come as a header; the field of the body wins', async () => {
  const post = async (header: string, body: object) =>
    fetch(`${daemon.url}/openapi/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json', 'idempotency-key': header },
      body: JSON.stringify(body),
    });
  const first = await post('by-header', submission('hello'));
  const again = await post('by-header', submission('hello'));
  const other = await post('by-header', submission('hello', { idempotency_key: 'by-body' }));
  expect([first.status, again.status, other.status]).toEqual([202, 202, 202]);
  expect(again.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'));
  expect(other.headers.get('x-run-id')).not.toBe(first.headers.get('x-run-id'));
});

test('a failed background run returns its error', { tags: ['§2.5-error', '§3.1-failed', 'D6'] }, async () => {
  const accepted = await submit('[[fail=400]]', { idempotency_key: 'will-fail' });
  const done = await finished(accepted.body.background_results['result_url']);
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject({
    content: [],
    background_results: { status: 'failed', error: { type: 'api_error', retryable: false } },
  });
});

test('over the limits: 409 for a busy session, then 429 for the key, each with no run made', {
  tags: ['§4.3-rule-5', '§8-unfinished-per-key', 'D2'],
}, async () => {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: 'admin', scope: 'global' })) as { key: string };
  const send = (name: string, more: object = {}) =>
    call(
      'POST',
      '/openapi/v1/messages',
      submission('[[endless=1 every=1000]]', { idempotency_key: name, ...more }),
      key,
    );
  const first = await send('slow-0');
  const busy = await send('slow-busy', { metadata: { session_id: first.body.background_results['session_id'] } });
  expect(busy.status).toBe(409);
  for (let count = 1; count < 20; count += 1) expect((await send(`slow-${count}`)).status).toBe(202);
  const refused = await send('slow-20');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  expect(refused.body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  const last = await call('GET', `/openapi/v1/runs/${(await send('slow-19')).headers.get('x-run-id')}`, undefined, key);
  expect(last.body.background_results).toMatchObject({ status: 'queued' });
  expect(last.body.background_results['queue_position']).toBeGreaterThan(1);
  expect((await send('slow-20')).status).toBe(429);
});

test('look-ups: 404 for anything but a background run, 403 for another key, 429 over ten a second', {
  tags: ['§4.5-which-runs', '§7-look-up-404', '§7-look-up-403', '§7-look-up-429', 'D9'],
}, async () => {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: 'admin', scope: 'global' })) as { key: string };
  const ordinary = await call('POST', '/openapi/v1/messages', { ...submission('hello'), background: false }, key);
  expect((await call('GET', `/openapi/v1/runs/${ordinary.headers.get('x-run-id')}`, undefined, key)).status).toBe(404);
  expect((await call('GET', '/openapi/v1/runs/not-a-uuid', undefined, key)).status).toBe(404);
  const mine = await submit('hello', { idempotency_key: 'mine' });
  const url = String(mine.body.background_results['result_url']);
  expect((await call('GET', url, undefined, key)).status).toBe(403);
  const begin = performance.now();
  const answers = await Promise.all(Array.from({ length: 120 }, () => call('GET', url, undefined, key)));
  const seconds = (performance.now() - begin) / 1_000;
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThanOrEqual(Math.max(1, 120 - 10 * (1 + seconds)));
  expect(limited[0]!.headers.get('retry-after')).toBe('1');
  expect(limited[0]!.body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
});

test('a background run survives kill -9 and its key finds its one run', async () => {
  const accepted = await submit('[[deltas=40 every=50]]', { idempotency_key: 'through-a-crash' });
  await daemon.kill();
  await daemon.restart();
  const replay = await submit('[[deltas=40 every=50]]', { idempotency_key: 'through-a-crash' });
  expect(replay.body.background_results['run_id']).toBe(accepted.body.background_results['run_id']);
  const done = await finished(replay.body.background_results['result_url']);
  expect(done.body.background_results).toMatchObject({ status: 'completed' });
});

test('the official Anthropic client submits and collects a background run', { tags: ['§3.1-accepted'] }, async () => {
  const client = new Anthropic({ baseURL: `${daemon.url}/openapi`, apiKey: daemon.apiKey });
  const body = { ...submission('[[text=By the client.]]', { idempotency_key: 'sdk' }), max_tokens: 100 };
  const message = (await client.messages.create(body as never)) as unknown as Answer['body'];
  expect(message.background_results['status']).toBe('queued');
  const done = await finished(message.background_results['result_url']);
  expect(done.body['content']).toEqual([{ type: 'text', text: 'By the client.' }]);
});

test('a reply that breaks off after text is asked for again, and the result has the text once', {
  tags: ['D8-broken-replies'],
}, async () => {
  const shown = Promise.withResolvers<void>();
  const replies: Reply[] = [{ text: ['Half ', 'of it.'], cut: 1, cutAfter: shown.promise }, { text: 'All of it.' }];
  // Runs of the tests before may ask meanwhile.
  models.script((question) => (question.userText === 'break off' ? replies.shift()! : replyFromDirectives(question)));
  const { body } = await submit('break off', { idempotency_key: 'broken-off' });
  const { result_url: url, run_id: id } = body.background_results;
  const deltas = `SELECT e.payload FROM events e JOIN runs r ON r.seq = e.run_seq
    WHERE r.id = ? AND e.type = 'content_block_delta'`;
  await waitFor(() => rowsOf(daemon, deltas, String(id)).length > 0);
  shown.resolve();
  const done = await finished(url);
  expect(done.body).toMatchObject({ content: [{ type: 'text', text: 'All of it.' }] });
  expect(done.body.background_results).toMatchObject({ status: 'completed' });
  const discarded = 'SELECT 1 AS one FROM discarded_texts d JOIN runs r ON r.seq = d.run_seq WHERE r.id = ?';
  expect(rowsOf(daemon, discarded, String(id))).toEqual([{ one: 1 }]);
});

test('without workers: fifty places, then 503; who waits too long fails with queue_timeout_error', {
  tags: ['§2.5-error', 'D2', 'D3'],
}, async () => {
  const settings = (more: string) =>
    `background: { max_unfinished_per_key: 100, max_unfinished_per_user: 100${more} }\n`;
  const idle = await startDaemonProcess({ args: ['--no-workers'], errandYaml: settings('') });
  try {
    const send = async (name: string) =>
      fetch(`${idle.url}/openapi/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': idle.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(submission('hello', { idempotency_key: name })),
      });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => send(`job-${index}`)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(50);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(10);
    expect(refused[0]!.headers.get('retry-after')).toBe('5');
    expect(await refused[0]!.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    // Only now: who waits too long leaves a place.
    writeFileSync(join(idle.configDir, 'errand.yaml'), settings(', queue_wait_seconds: 1'));
    await idle.restart();
    const [accepted] = answers.filter(({ status }) => status === 202);
    const runId = accepted!.headers.get('x-run-id');
    const poll = async () => {
      const response = await fetch(`${idle.url}/openapi/v1/runs/${runId}`, { headers: { 'x-api-key': idle.apiKey } });
      const { background_results: results } = (await response.json()) as Answer['body'];
      return results['status'] === 'queued' ? false : results;
    };
    const results = await waitFor(poll, { everyMs: 300 });
    expect(results).toMatchObject({ status: 'failed', error: { type: 'queue_timeout_error', retryable: true } });
  } finally {
    await idle.close();
  }
});
