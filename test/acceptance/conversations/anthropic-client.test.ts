// The official Anthropic client, unchanged, against the real daemon, on model endpoints of both kinds.
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { readSse, type SseEvent } from '../../support/http/sse.ts';
import { openTurn, readTurn } from '../../support/daemon/turn.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let model: ModelServer;
let daemon: DaemonProcess;
/** A client for each kind of model endpoint, through a key that is fixed to a model there. */
const clients = new Map<string, Anthropic>();

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    errandYaml: 'streams: { ping_seconds: 1 }\n',
    modelsYaml: [
      'endpoints:',
      `  openai: { kind: openai, base_url: "${model.url}/v1" }`,
      `  anthropic: { kind: anthropic, base_url: "${model.url}/v1" }`,
      'models:',
      '  on-openai: { endpoint: openai, model: scripted, context_window: 128000, images: true }',
      '  on-anthropic: { endpoint: anthropic, model: scripted, context_window: 128000, images: true }',
      'scenarios: { general: { model: on-openai } }',
    ].join('\n'),
  });
  for (const kind of ['openai', 'anthropic']) {
    const body = { user: 'admin', scope: 'conversation', model: `on-${kind}` };
    const { key } = (await daemon.admin('POST', '/api/v1/keys', body)) as { key: string };
    clients.set(kind, clientWith(key));
  }
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

function clientWith(apiKey: string): Anthropic {
  return new Anthropic({ apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
}

test('the count of a turn is the estimate that its stream begins with, in a new session and in one that goes on', {
  tags: ['M5-count'],
}, async () => {
  const client = clients.get('openai')!;
  const body = askFor(`${'long words '.repeat(2_000)}[[input=4321]]`);
  const before = await client.messages.countTokens({ model: body.model, messages: body.messages });
  expect(before.input_tokens).toBeGreaterThan(5_000);
  const { data: stream, response } = await client.messages.create({ ...body, stream: true }).withResponse();
  const begun: number[] = [];
  for await (const event of stream) if (event.type === 'message_start') begun.push(event.message.usage.input_tokens);
  expect(begun).toEqual([before.input_tokens]);
  const headers = { 'errand-session-id': response.headers.get('x-session-id')! };
  const next = { model: 'm', messages: [{ role: 'user' as const, content: 'Go on.' }] };
  expect((await client.messages.countTokens(next, { headers })).input_tokens).toBeGreaterThan(4_321);
  const other = { headers: { 'errand-session-id': '0198c0de-0000-7000-8000-000000000001' } };
  await expect(client.messages.countTokens(next, other)).rejects.toMatchObject({ status: 404 });
});

type Content = Anthropic.MessageParam['content'];
const askFor = (content: Content): Anthropic.MessageCreateParamsNonStreaming => ({
  model: 'claude-x',
  max_tokens: 100,
  messages: [{ role: 'user', content }],
});

function lastCall() {
  const call = model.requests.at(-1);
  if (call === undefined) throw new Error('The model was never called.');
  return call;
}

describe.each(['openai', 'anthropic'])('with a model on an endpoint of kind %s', (kind) => {
  const client = (): Anthropic => clients.get(kind)!;

  test('a message has the answer, the usage, the echoed model and the ids of its session and run', {
    tags: ['§2.4-fields', '§2.4-headers', '§4.3-rule-7'],
  }, async () => {
    const { data, response } = await client()
      .messages.create(askFor('[[text=Twelve.]] [[input=321 output=7]]'))
      .withResponse();
    const runId = response.headers.get('x-run-id') ?? '';
    expect(data).toEqual({
      id: `msg_${runId.replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [{ type: 'text', text: 'Twelve.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 321, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    });
    expect(response.headers.get('x-session-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(lastCall().protocol).toBe(kind);
  });

  test("the client's accumulator puts the stream together", { tags: ['§4.3-stream', 'C10-order'] }, async () => {
    const { promise: until, resolve: go } = Promise.withResolvers<void>();
    const text = ['one ', 'two ', 'three'];
    model.enqueue({ text, hang: 'mid-stream', afterDeltas: 1, until, usage: { output: 3 } });
    const stream = client().messages.stream(askFor('Count.'));
    const heard: string[] = [];
    stream.on('text', (text) => {
      heard.push(text);
      go();
    });
    const message = await stream.finalMessage();
    expect(heard.join('')).toBe('one two three');
    expect(heard.length).toBeGreaterThan(1);
    expect(message.content).toMatchObject([{ type: 'text', text: 'one two three' }]);
    expect(message).toMatchObject({ role: 'assistant', model: 'claude-x', stop_reason: 'end_turn' });
    expect(message.usage.output_tokens).toBe(3);
  });

  test('a run with tools streams every text block; without a stream the last one is the answer', {
    tags: ['C10-order'],
  }, async () => {
    const script = [
      { text: 'I will write it.', tools: [{ name: 'write_file', input: { path: 'a.txt', content: 'A' } }] },
      { text: 'Now I look.', tools: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      { text: 'It is an A.' },
    ];
    model.enqueue(...script);
    const streamed = await client().messages.stream(askFor('do it')).finalMessage();
    expect(streamed.content).toMatchObject(script.map(({ text }) => ({ type: 'text', text })));
    // Usage of the run is the sum of its three steps.
    expect(streamed.usage.output_tokens).toBe(60);

    model.enqueue(...script);
    const { data, response } = await client().messages.create(askFor('do it')).withResponse();
    expect(data.content).toEqual([{ type: 'text', text: 'It is an A.' }]);
    const runId = response.headers.get('x-run-id') ?? '';
    expect(
      rowsOf(daemon, 'SELECT name, ok FROM tool_calls t JOIN runs r ON r.seq = t.run_seq WHERE r.id = ?', runId),
    ).toEqual([
      { name: 'write_file', ok: 1 },
      { name: 'read_file', ok: 1 },
    ]);
    expect(JSON.stringify(lastCall().body.messages)).toContain('I will write it.');
  });

  test('an image reaches the model as an image, a document by its place in the workspace', async () => {
    await client().messages.create(
      askFor([
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from('%PDF-1.4').toString('base64') },
        },
      ]),
    );
    const sent = JSON.stringify(lastCall().body.messages?.at(-1)?.content);
    const image =
      kind === 'openai'
        ? { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }
        : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
    expect(sent).toContain(JSON.stringify(image));
    expect(sent).toMatch(/application\/pdf, 8 bytes, in the workspace at \/uploads\//);
  });

  test('a second turn in the session shows the model what was said and done before', {
    tags: ['§1-history'],
  }, async () => {
    const first = await client()
      .messages.create(askFor('first-question [[tools=1]] [[text=first answer]]'))
      .withResponse();
    const sessionId = first.response.headers.get('x-session-id') ?? '';
    const params = { ...askFor('second-question'), metadata: { session_id: sessionId } as Anthropic.Metadata };
    const second = await client().messages.create(params).withResponse();
    expect(second.response.headers.get('x-session-id')).toBe(sessionId);
    const sent = JSON.stringify(lastCall().body.messages);
    // The words of the first question hold the answer as well: its last place counts.
    const positions = ['first-question', 'step-1.txt', 'first answer', 'second-question'].map((what) =>
      sent.lastIndexOf(what),
    );
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(-1);
  });
});

const anyClient = (): Anthropic => clients.get('openai')!;

/** The prompt size in the first event of a stream. */
async function promptAtStart(params: Anthropic.MessageCreateParamsNonStreaming): Promise<number> {
  const stream = anyClient().messages.stream(params);
  const started: number[] = [];
  stream.on('streamEvent', (event) => {
    if (event.type === 'message_start') started.push(event.message.usage.input_tokens);
  });
  await stream.finalMessage();
  return started[0] ?? 0;
}

test('a stream begins with the best known size of its prompt', async () => {
  const { response } = await anyClient()
    .messages.create(askFor('[[text=Known.]] [[input=4321 output=7]]'))
    .withResponse();
  expect(await promptAtStart(askFor('[[text=New.]] [[input=4330 output=7]]'))).toBeGreaterThan(4_000);
  const metadata = { session_id: response.headers.get('x-session-id') } as Anthropic.Metadata;
  expect(await promptAtStart({ ...askFor('more'), metadata })).toBeGreaterThan(4_328);
});

test("the AI SDK's provider continues a session by a header", async () => {
  const apiKey = anyClient().apiKey ?? '';
  const ask = (prompt: string, headers: Record<string, string> = {}) =>
    generateText({
      model: createAnthropic({ apiKey, baseURL: `${daemon.url}/openapi/v1`, headers })('any'),
      prompt,
      maxRetries: 0,
    });
  const first = await ask('a-word-of-before [[text=Heard.]]');
  const sessionId = first.response.headers?.['x-session-id'] ?? '';
  const second = await ask('and now? [[text=Still here.]]', { 'X-Session-Id': sessionId });
  expect([second.text, second.response.headers?.['x-session-id']]).toEqual(['Still here.', sessionId]);
  expect(JSON.stringify(lastCall().body.messages)).toContain('a-word-of-before');
});

test("refusals come as the client's own error types", async () => {
  const wrongKey = clientWith('errand_00000000_nothing').messages.create(askFor('x'));
  await expect(wrongKey).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  await expect(wrongKey).rejects.toMatchObject({ error: { type: 'error', error: { type: 'authentication_error' } } });

  const noMessages = anyClient().messages.create({ ...askFor('x'), messages: [] });
  await expect(noMessages).rejects.toBeInstanceOf(Anthropic.UnprocessableEntityError);

  const metadata = { session_id: '0190f6a0-0000-7000-8000-000000000000' } as Anthropic.Metadata;
  const noSession = anyClient().messages.create({ ...askFor('x'), metadata });
  await expect(noSession).rejects.toBeInstanceOf(Anthropic.NotFoundError);

  const failed = anyClient().messages.create(askFor('[[fail=400]]'));
  await expect(failed).rejects.toBeInstanceOf(Anthropic.InternalServerError);
  await expect(failed).rejects.toMatchObject({ status: 500, error: { error: { type: 'api_error' } } });

  const broken = anyClient().messages.stream(askFor('[[fail=400]]')).finalMessage();
  await expect(broken).rejects.toThrow(/HTTP status 400/);
});

test('the client lists the one model of its key', async () => {
  const page = await anyClient().models.list();
  expect(page.data.map(({ id }) => id)).toEqual(['on-openai']);
});

const withoutPings = (events: readonly SseEvent[]) => events.filter(({ event }) => event !== 'ping');

test('while the model is silent the stream is kept alive by pings, and they change nothing', async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: 'At last.', hang: 'mid-stream', afterDeltas: 0, until });
  const response = await openTurn(target(), { content: 'x', stream: true });
  const events: SseEvent[] = [];
  for await (const event of readSse(response.body!)) {
    events.push(event);
    if (events.filter(({ event: name }) => name === 'ping').length === 2) go();
  }
  expect(JSON.stringify(events)).toContain('At last.');
  expect(withoutPings(events).map(({ event }) => event)).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  const message = await anyClient().messages.stream(askFor('[[first=1300]] [[text=At last.]]')).finalMessage();
  expect(message.content).toMatchObject([{ text: 'At last.' }]);
});

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });

/** Rejoins a run's stream after an event; `null` from the first. */
function rejoin(runId: string, lastEventId: string | null, apiKey = daemon.apiKey): Promise<Response> {
  return fetch(`${daemon.url}/openapi/v1/runs/${runId}/stream`, {
    headers: { 'x-api-key': apiKey, ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }) },
  });
}

test('a stream that broke is rejoined after any event: nothing is lost and nothing comes twice', {
  tags: ['C12'],
}, async () => {
  const leave = new AbortController();
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  const text = Array.from('abcdefghijklmnopqrst');
  model.enqueue(
    { tools: [{ name: 'write_file', input: { path: 'a.txt', content: 'A' } }] },
    { text, deltaMs: 60, hang: 'mid-stream', afterDeltas: 10, until },
  );
  const response = await openTurn(target(), { content: 'x', stream: true, signal: leave.signal });
  const runId = response.headers.get('x-run-id') ?? '';
  const first: SseEvent[] = [];
  for await (const event of readSse(response.body!)) {
    first.push(event);
    // Of the ten deltas before the hang, it may be the only one.
    if (event.event === 'content_block_delta') break;
  }
  leave.abort();

  // In the middle of the live run, and the whole again once it has ended.
  const rejoined = await rejoin(runId, first.at(-1)?.id ?? null);
  go();
  const rest = await readTurn(rejoined);
  const whole = await readTurn(await rejoin(runId, null));
  expect(withoutPings([...first, ...rest.events])).toEqual(withoutPings(whole.events));
  expect(whole.text).toBe('abcdefghijklmnopqrst');
  expect(rest.headers.get('x-run-id')).toBe(runId);
  const events = withoutPings(whole.events);
  const ids = events.map(({ id }) => Number(id));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  for (const [at, { id }] of events.entries()) {
    const after = await readTurn(await rejoin(runId, id));
    expect(withoutPings(after.events)).toEqual(events.slice(at + 1));
  }
});

test('a run can be followed by its own key only', { tags: ['C12'] }, async () => {
  const response = await openTurn(target(), { content: 'x' });
  await response.text();
  const runId = response.headers.get('x-run-id') ?? '';
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: 'admin', scope: 'global' })) as { key: string };
  expect((await rejoin(runId, null, key)).status).toBe(403);
  expect((await rejoin('0190f6a0-0000-7000-8000-000000000000', null)).status).toBe(404);
  expect((await rejoin('not-an-id', null)).status).toBe(404);
  expect((await rejoin(runId, 'soon')).status).toBe(422);
});
