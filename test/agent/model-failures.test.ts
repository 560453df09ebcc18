// How a run handles a model server that fails: which failures are retried, and what the caller gets.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ModelGrant } from '../../src/agent/port/grants.ts';
import type { EndpointKind, Outcome, RunLimits, Signal } from '../../src/agent/port/protocol.ts';
import { retryAfterOf } from '../../src/agent/loop/call/model-failure.ts';
import type { Reply } from '../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import { holdTime } from '../support/time/hold-time.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { GRANT, LIMITS, type MainManners, type MainSide, makeBrief, makeTools, startRun } from './play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Recovered.' }));

interface Told {
  readonly outcome: Outcome;
  readonly main: MainSide;
  /** Model calls made. */
  readonly calls: number;
}

async function runWith(
  kind: EndpointKind,
  limits: Partial<RunLimits> = {},
  {
    grant = {},
    meanwhile,
    ...manners
  }: { grant?: Partial<ModelGrant>; meanwhile?: (main: MainSide) => Promise<unknown> } & Pick<MainManners, 'sees'> = {},
): Promise<Told> {
  const before = server.requests.length;
  const model: ModelGrant = { ...GRANT, kind, baseUrl: server.url, ...grant };
  const main = startRun(await makeBrief({ model, limits: { ...LIMITS, ...limits } }), makeTools().tools, manners);
  await meanwhile?.(main);
  const outcome = await main.done;
  return { outcome, main, calls: server.requests.length - before };
}

function messageOf({ outcome }: Told): string {
  return outcome.status === 'failed' ? outcome.error.message : `not failed: ${outcome.status}`;
}

/** The servers' own messages in the log. */
function saidTo({ main }: Told): unknown[] {
  return main.of('log').flatMap(({ facts }) => facts['server_said'] ?? []);
}

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('two 500s and a reset connection are survived', { tags: ['D8-retries'] }, async () => {
    server.enqueue({ status: 500 }, { refuse: true }, { status: 503 });
    const ended = await runWith(kind);
    expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
    expect(ended.calls).toBe(4);
    const outcomes = ended.main.of('call-failed').map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['failed', 'unreachable', 'throttled']);
    expect(ended.main.of('model-wait')).toEqual([]);
    expect(ended.main.of('log')).toHaveLength(3);
  });

  test('a server that stays broken fails the run after five tries, and says how', async () => {
    server.script({ status: 500, body: 'upstream is down' });
    const ended = await runWith(kind, { patienceMs: 60_000 });
    expect(ended.calls).toBe(5);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
    expect(messageOf(ended)).toBe('The model "house-model" failed at its endpoint (HTTP status 500). (tried 5 times)');
    expect(saidTo(ended)).toEqual(Array.from({ length: 5 }, () => 'upstream is down'));
  });

  test('a server that is down is asked again for as long as the run has patience, and the log has it once', {
    tags: ['D8-retries'],
  }, async () => {
    const statuses = [503, 529, 502, 504, 521, 524].flatMap((status) => [status, status]);
    server.enqueue(...statuses.map((status) => ({ status })));
    const ended = await runWith(kind, { patienceMs: 60_000 });
    expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
    expect(ended.calls).toBe(13);
    expect(ended.main.of('call-failed').map(({ timing }) => timing.tries)).toEqual(
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
    expect(ended.main.of('step')[0]?.reply.timing.tries).toBe(13);
    expect(ended.main.of('log')).toMatchObject([{ level: 'warn', facts: { tried: 1, patienceMs: 60_000 } }]);
    expect(ended.main.of('model-wait')).toMatchObject([{ model: GRANT.name, agent: null, patienceMs: 60_000 }]);
    expect(ended.main.of('model-wait-over')).toMatchObject([{ model: GRANT.name, answered: true }]);
    const names = ended.main.signals.map(({ t }) => t);
    expect(names.indexOf('model-wait-over')).toBeLessThan(names.indexOf('block-start'));
  });

  test('a server that stays down fails the run when the patience ends, and says how', async () => {
    server.script({ status: 502 });
    const ended = await runWith(kind, { patienceMs: 40 });
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
    expect(messageOf(ended)).toMatch(
      /could not be reached by the gateway in front of it \(HTTP status 502\)\. \(tried \d+ times\)$/,
    );
    expect(ended.main.of('log').map(({ message }) => message)).toEqual([
      'The model call failed and is retried.',
      'The model call failed.',
    ]);
    expect(ended.main.of('model-wait')).toHaveLength(1);
    expect(ended.main.of('model-wait-over')).toMatchObject([{ answered: false }]);
  });

  const broken: readonly [string, Reply][] = [
    ['was cut in the middle', { text: ['a', 'b', 'c'], cut: 2 }],
    ['has a line that is no JSON', { text: ['a', 'b', 'c'], brokenJson: 2, deltaMs: 30 }],
    ['has no end', { text: ['a', 'b'], noFinish: true }],
  ];
  test.each(broken)(
    'a reply that %s after text is begun again as a new block, and its text is discarded',
    {
      tags: ['D8-broken-replies'],
    },
    async (_name, reply) => {
      const shown = Promise.withResolvers<void>();
      server.enqueue({ ...reply, cutAfter: shown.promise });
      const meanwhile = async (main: MainSide) => waitFor(() => main.blocks()[0]).then(() => shown.resolve());
      const ended = await runWith(kind, {}, { meanwhile });
      expect(ended.calls).toBe(2);
      expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
      const names = ended.main.signals
        .map(({ t }) => t)
        .filter((t) => ['text', 'block-stop', 'discard', 'step'].includes(t));
      expect(names.slice(names.indexOf('block-stop'))).toEqual(['block-stop', 'discard', 'text', 'block-stop', 'step']);
      expect(ended.main.of('block-start').map(({ index }) => index)).toEqual([0, 1]);
    },
  );

  test('Retry-After is waited out', { tags: ['D8-retries'] }, async () => {
    server.enqueue({ status: 429, headers: { 'retry-after': '1' } });
    const before = server.requests.length;
    const ended = await runWith(kind);
    expect(ended.outcome.status).toBe('completed');
    const [first = 0, second = 0] = server.requests.slice(before).map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  test("a Retry-After beyond the run's time fails at once", async () => {
    server.script({ status: 429, headers: { 'retry-after': '300' } });
    const ended = await runWith(kind, { runTimeoutMs: 200_000 });
    expect(ended.calls).toBe(1);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
    expect(messageOf(ended)).toContain('asks to wait 300 seconds');
  });

  test.each([400, 401, 403, 404])('status %i is not tried again', async (status) => {
    server.script({ status, body: `no: ${GRANT.apiKey}` });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(1);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: false } });
    expect(ended.main.of('call-failed')).toMatchObject([{ model: GRANT.name, outcome: 'rejected' }]);
    expect(messageOf(ended)).toContain(String(status));
    expect(messageOf(ended)).not.toContain('no:');
    expect(saidTo(ended)).toEqual(['no: [credential]']);
  });

  const beforeText: readonly [string, Reply, boolean][] = [
    ['a web page', { html: true }, false],
    ['a stream cut before its first delta', { text: ['a', 'b'], cut: 0 }, true],
    ['a line that is no JSON before the first delta', { text: ['a', 'b'], brokenJson: 0 }, false],
  ];
  test.each(beforeText)('%s is tried again, and fails the run when it stays', async (_name, reply, retryable) => {
    server.enqueue(reply);
    expect((await runWith(kind)).outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
    server.script(reply);
    const ended = await runWith(kind);
    expect(ended.calls).toBe(5);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable } });
    expect(messageOf(ended)).toContain('house-model');
  });

  test('replies that all break off after text fail the run after five tries', {
    tags: ['D8-broken-replies'],
  }, async () => {
    server.script({ text: ['a', 'b'], noFinish: true });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(5);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
    expect(ended.main.blocks()).toEqual(['ab', 'ab', 'ab', 'ab', 'ab']);
    expect(ended.main.of('discard')).toHaveLength(4);
    expect(ended.main.signals.map(({ t }) => t).slice(-4)).toEqual(['block-stop', 'call-failed', 'log', 'done']);
    expect(ended.main.of('step')).toEqual([]);
  });

  test('a reply that breaks off before its reader has text is begun again silently', async () => {
    server.enqueue({ text: ['a', 'b'], cut: 0 });
    const ended = await runWith(kind);
    expect(ended.main.of('discard')).toEqual([]);
    expect(ended.main.of('block-start')).toHaveLength(1);
    expect(ended.main.blocks()).toEqual(['Recovered.']);
  });

  test('a reply of nothing is asked for once more, and what it has used counts', {
    tags: ['D8-empty-replies'],
  }, async () => {
    server.enqueue({ text: [], usage: { input: 40, output: 2 } });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(2);
    expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
    const usage = { inputTokens: 40, outputTokens: 2 };
    expect(ended.main.of('call-failed')).toMatchObject([{ outcome: 'failed', used: { usage, estimated: false } }]);
    expect(ended.main.of('step')[0]?.reply.timing.tries).toBe(2);
    expect(ended.main.of('discard')).toEqual([]);
  });

  test('a model that has nothing to say twice is believed', { tags: ['D8-empty-replies'] }, async () => {
    server.script({ text: [] });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(2);
    expect(ended.outcome).toMatchObject({ status: 'completed', text: '' });
  });

  test('a reply that reached its limit before it said anything is not asked for again', async () => {
    server.script({ text: [], finish: 'length' });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(1);
    expect(ended.outcome).toMatchObject({ status: 'completed', stopReason: 'max_tokens' });
  });

  test.each(['before-headers', 'after-headers'] as const)(
    'silence %s ends by the first-token limit',
    { tags: ['D8-limits'] },
    async (hang) => {
      server.script({ hang });
      const before = server.requests.length;
      const pass = holdTime({ onTestFinished });
      const meanwhile = async () => server.waitForRequest(before + 1).then(() => pass(200));
      const ended = await runWith(kind, { firstTokenTimeoutMs: 200 }, { meanwhile });
      expect(ended.calls).toBe(1);
      expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'timeout_error', retryable: true } });
      expect(messageOf(ended)).toContain('0.2 seconds');
      expect(ended.main.of('call-failed')).toMatchObject([{ outcome: 'timeout' }]);
      await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
    },
  );

  test('silence in the middle ends by the idle limit', { tags: ['D8-limits'] }, async () => {
    server.script({ text: ['a', 'b', 'c'], hang: 'mid-stream', afterDeltas: 2 });
    const pass = holdTime({ onTestFinished });
    const meanwhile = async (main: MainSide) => main.next(({ t }) => t === 'text').then(() => pass(200));
    const ended = await runWith(kind, { idleTimeoutMs: 200 }, { meanwhile });
    expect(ended.calls).toBe(1);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'timeout_error', retryable: true } });
    expect(messageOf(ended)).toContain('fell silent');
  });

  test('slow but steady tokens outlast both limits', async () => {
    server.script({ text: Array.from({ length: 8 }, (_, i) => `${i} `), deltaMs: 100 });
    const pass = holdTime({ onTestFinished });
    const sees = ({ t }: Signal) => void (t === 'text' && pass(100));
    const ended = await runWith(kind, { firstTokenTimeoutMs: 400, idleTimeoutMs: 400 }, { sees });
    expect(ended.outcome).toMatchObject({ status: 'completed', text: '0 1 2 3 4 5 6 7 ' });
  });
});

/** One event of either protocol, in which the server reports a failure. */
const REPORTS: readonly [string, EndpointKind, string][] = [
  [
    'an overloaded server',
    'anthropic',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded: node 7"}}',
  ],
  ['an error of a gateway', 'openai', '{"error":{"message":"Provider: node 7 returned error","code":502}}'],
  ['an error in bare words', 'openai', '{"error":"node 7: llama runner process has terminated"}'],
  ['an error of vLLM', 'openai', '{"object":"error","message":"node 7 died","type":"InternalServerError","code":500}'],
];
test.each(REPORTS)('%s is tried again, and its words are for the log alone', async (_name, kind, data) => {
  const wire = `event: error\ndata: ${data}\n\n`;
  server.enqueue({ wire });
  expect((await runWith(kind)).outcome).toMatchObject({ status: 'completed', text: 'Recovered.' });
  server.script({ wire });
  const ended = await runWith(kind);
  expect(ended.calls).toBe(5);
  expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
  expect(messageOf(ended)).toMatch(
    /^The model "house-model" (is overloaded|failed at its endpoint|could not be reached by .*)\. \(tried 5 times\)$/,
  );
  expect(saidTo(ended)).toHaveLength(5);
  expect(String(saidTo(ended)[0])).toContain('node 7');
});

const CHUNK = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
test('a failure that is reported after text is no outage, and the reply is begun again', {
  tags: ['D8-broken-replies'],
}, async () => {
  server.script({ wire: `${CHUNK({ content: 'So far' })}data: {"error":{"type":"overloaded_error"}}\n\n` });
  const ended = await runWith('openai', { patienceMs: 60_000 });
  expect(ended.calls).toBe(5);
  expect(ended.main.blocks()).toEqual(Array.from({ length: 5 }, () => 'So far'));
  expect(messageOf(ended)).toBe('The model "house-model" is overloaded. (tried 5 times)');
});

test('thinking alone is asked for once more, and thinking in tags is thinking where the model says so', {
  tags: ['D8-empty-replies'],
}, async () => {
  server.enqueue({ text: ['<think>Hm', '.</thi', 'nk>\n'] }, { text: ['<think>', 'Now.</think>\n\nNoon.'] });
  const ended = await runWith('openai', {}, { grant: { thinkingTags: true } });
  expect(ended.calls).toBe(2);
  expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Noon.' });
  expect(ended.main.blocks()).toEqual(['Noon.']);
  server.enqueue({ text: ['<think>Hm.</think>Noon.'] });
  expect((await runWith('openai')).main.blocks()).toEqual(['<think>Hm.</think>Noon.']);
});

test('thinking in tags goes back to its model as it came', async () => {
  const { tools } = makeTools();
  server.enqueue({ text: ['<think>Add.</think>'], tools: [{ name: 'add', input: { a: 1, b: 2 } }] });
  const before = server.requests.length;
  const model: ModelGrant = { ...GRANT, baseUrl: server.url, thinkingTags: true };
  await startRun(await makeBrief({ model }), tools).done;
  const { messages = [] } = server.requests[before + 1]!.body;
  expect(messages[2]).toMatchObject({ role: 'assistant', content: '<think>Add.</think>\n\n' });
});

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('a connection cut while tool arguments stream is tried again, as long as there was no text', async () => {
    const { tools, ran } = makeTools();
    const call = { name: 'echo', input: { text: 'x'.repeat(50) } };
    server.enqueue({ tools: [call], cut: 1, deltaMs: 30 }, { tools: [call], cut: 1 }, { tools: [call] });
    const model: ModelGrant = { ...GRANT, kind, baseUrl: server.url };
    const main = startRun(await makeBrief({ model }), tools);
    expect(await main.done).toMatchObject({ status: 'completed', text: 'Recovered.' });
    expect(ran).toHaveLength(1);
    expect(main.of('log')).toHaveLength(2);
  });

  test('an unknown finish reason does not complete a reply', async () => {
    server.script({ text: [], finish: 'abort' });
    const ended = await runWith(kind);
    expect(ended.calls).toBe(5);
    expect(messageOf(ended)).toMatch(/broke off: its reply ended before it was finished\. \(tried 5 times\)$/);
    expect(saidTo(ended)[0]).toContain('abort');
  });

  test('a block that is opened early is not a token: the first-token limit applies until one arrives', async () => {
    server.script({ text: ['Slowly.'], firstMs: 900 });
    const ended = await runWith(kind, { firstTokenTimeoutMs: 30_000, idleTimeoutMs: 300 });
    expect(ended.outcome).toMatchObject({ status: 'completed', text: 'Slowly.' });
  });

  test('a reply without end is cut off at the limit: the run fails in words, with no second try', async () => {
    server.script({ text: ['x'.repeat(1_000)], endless: true });
    const before = server.requests.length;
    const ended = await runWith(kind, { maxReplyBytes: 1_048_576 });
    expect(ended.calls).toBe(1);
    expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: false } });
    expect(messageOf(ended)).toBe('The model "house-model" sent a longer reply than is accepted (more than 1 MB).');
    expect((ended.main.blocks()[0] ?? '').length).toBeLessThanOrEqual(1_048_576);
    await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
  });

  test('one event without end is not held', async () => {
    server.script({ wire: `data: ${'x'.repeat(60_000)}`, endless: true });
    const ended = await runWith(kind, { maxReplyBytes: 1_048_576 });
    expect(ended.calls).toBe(1);
    expect(messageOf(ended)).toContain('sent a longer reply than is accepted');
  });
});

test.each([
  ['reasoning', { reasoning_content: 'hm '.repeat(100) }],
  ['arguments', { tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(300) } }] }],
  ['calls', { tool_calls: Array.from({ length: 100 }, (_, index) => ({ index, id: `c${index}`, function: {} })) }],
])('%s without end are counted as the reply they are', async (_name, delta) => {
  server.script({ wire: CHUNK(delta), endless: true });
  const ended = await runWith('openai', { maxReplyBytes: 1_048_576 });
  expect(ended.calls).toBe(1);
  expect(messageOf(ended)).toContain('sent a longer reply than is accepted');
});

test.each(['eos', 'eos_token', 'end_turn', 'STOP', 'max_tokens', 'content_filter'])(
  'a reply that ends with "%s" is complete',
  async (finish) => {
    server.script({ text: 'All of it.', finish });
    expect((await runWith('openai')).outcome).toMatchObject({ status: 'completed', text: 'All of it.' });
  },
);

test('an answer that the content filter withheld fails the run in words', async () => {
  server.script({ text: [], finish: 'content_filter' });
  expect(messageOf(await runWith('openai'))).toContain("its provider's content filter stepped in");
});

test('a server that holds its connection open after the end of its reply is not waited for', async () => {
  const wire = `${CHUNK({ content: 'Done.' })}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  server.script({ wire, linger: true });
  const before = server.requests.length;
  expect((await runWith('openai')).outcome).toMatchObject({ status: 'completed', text: 'Done.' });
  await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
});

test('a reply without an end mark is complete, though its server holds the connection open', async () => {
  server.script({
    wire: `${CHUNK({ content: 'Done.' })}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`,
    linger: true,
  });
  const before = server.requests.length;
  expect((await runWith('openai')).outcome).toMatchObject({ status: 'completed', text: 'Done.' });
  await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
});

const REFUSALS: readonly [number, string, string][] = [
  [401, '{"error":{"message":"Incorrect API key provided"}}', 'did not accept the credential'],
  [403, 'Forbidden for project X', 'may not be called with its credential'],
  [404, '{"error":{"message":"model x not found"}}', 'is not known at its endpoint'],
  [400, '{"error":{"code":"context_length_exceeded"}}', 'more than its context window takes'],
  [400, "This model's maximum context length is 8192 tokens", 'more than its context window takes'],
  [400, '{"error":{"type":"exceed_context_size_error"}}', 'more than its context window takes'],
  [413, 'payload', 'a larger request than its endpoint takes'],
  [429, '{"error":{"code":"insufficient_quota"}}', 'has no credit left'],
  [302, '', 'redirects elsewhere'],
  [422, 'nope', 'did not accept the request'],
];
test.each(REFUSALS)('status %i with %s is reported to callers in our words', async (status, body, words) => {
  server.script({ status, body });
  const ended = await runWith('openai');
  expect(ended.calls).toBe(1);
  expect(messageOf(ended)).toMatch(/^The model "house-model" [^{}]*\(HTTP status \d{3}\)\.$/);
  expect(messageOf(ended)).toContain(words);
  expect(saidTo(ended)).toEqual(body === '' ? [] : [body]);
});

test('a stream that breaks the protocol is left, and its connection closed', async () => {
  server.script({ text: Array.from({ length: 400 }, () => 'x'), brokenJson: 2, deltaMs: 20 });
  const before = server.requests.length;
  expect((await runWith('openai')).outcome.status).toBe('failed');
  await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
});

test('a refused connection is retried and then reported in plain words, without the address', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const ended = await runWith('openai', {}, { grant: { baseUrl: `http://127.0.0.1:${port}` } });
  expect(ended.outcome).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: true } });
  expect(messageOf(ended)).toBe(
    'The model "house-model" could not be read: the connection was refused. (tried 5 times)',
  );
});

test('a refused connection is repeated as long as the run has patience, and a stop ends the wait at once', async () => {
  const model: ModelGrant = { ...GRANT, baseUrl: 'http://127.0.0.77:8484' };
  const main = startRun(await makeBrief({ model, limits: { ...LIMITS, patienceMs: 600_000 } }), []);
  await waitFor(() => main.of('call-failed').length > 8);
  expect(main.of('log')).toHaveLength(1);
  main.control({ t: 'abort', reason: 'stopped' });
  expect(await main.done).toEqual({ status: 'canceled' });
});

test('an invalid address of an endpoint fails the run with a message, not with a bug', async () => {
  const ended = await runWith('openai', {}, { grant: { baseUrl: 'http://127.0.0.1:1' } });
  expect(messageOf(ended)).toContain('house-model');
  expect(messageOf(ended)).not.toContain('bug');
});

test('an abort while waiting to try again ends the run at once', async () => {
  // Longer than any test lasts: a run that waited it out would hang here.
  server.script({ status: 429, headers: { 'retry-after': '500' } });
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url } }), []);
  await main.next(({ t }) => t === 'log');
  main.control({ t: 'abort', reason: 'stopped' });
  expect(await main.done).toEqual({ status: 'canceled' });
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const read = (value: string) => retryAfterOf(value, now);
  expect(read('7')).toBe(7_000);
  expect(read('Thu, 01 Jan 2026 00:00:30 GMT')).toBe(30_000);
  expect(read('Wed, 31 Dec 2025 00:00:00 GMT')).toBe(0);
  expect(read('soon')).toBeNull();
  expect(retryAfterOf(null, now)).toBeNull();
});
