import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelMessage } from 'ai';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import type { Reply } from './model-reply.ts';
import type { ModelServer } from './model-server.ts';
import { startModelServer } from './model-server.ts';
import { collectSse } from '../http/sse.ts';
import { waitFor } from '../time/wait-for.ts';

const open: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function started(script?: Reply): Promise<ModelServer> {
  const server = await startModelServer();
  open.push(server);
  if (script !== undefined) server.script(script);
  return server;
}

const openaiOf = (server: ModelServer) =>
  new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0, timeout: 10_000 });
const anthropicOf = (server: ModelServer) =>
  new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0, timeout: 10_000 });
const chatOf = (text: string) => ({ model: 'm', messages: [{ role: 'user' as const, content: text }] });
const messagesOf = (text: string) => ({ ...chatOf(text), max_tokens: 100 });

/** The two protocols through the AI SDK, as the agent speaks them. */
const PROVIDERS = [
  [
    'openai',
    (server: ModelServer) =>
      createOpenAICompatible({ name: 's', baseURL: `${server.url}/v1`, includeUsage: true })('m'),
  ],
  ['anthropic', (server: ModelServer) => createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'none' })('m')],
] as const;

const PATHS = [
  ['openai', '/v1/chat/completions'],
  ['anthropic', '/v1/messages'],
] as const;

function post(server: ModelServer, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function allOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const FULL: Reply = {
  text: ['Let ', 'me "look"', ' – 你好\n'],
  tools: [
    { id: 'one', name: 'read_file', input: { path: 'a.txt' } },
    { name: 'nothing', input: {} },
  ],
  usage: { input: 50, output: 7, cacheRead: 10, cacheWrite: 5 },
};
const FULL_TEXT = 'Let me "look" – 你好\n';

test('the openai client reads text, calls and usage of a stream', async () => {
  const server = await started(FULL);
  const chunks = await allOf(
    await openaiOf(server).chat.completions.create({
      ...chatOf('hi'),
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(FULL_TEXT);
  const pieces = deltas.flatMap((delta) => delta.tool_calls ?? []).filter((call) => call.index === 0);
  expect(pieces[0]).toMatchObject({ id: 'one', type: 'function', function: { name: 'read_file' } });
  expect(JSON.parse(pieces.map((piece) => piece.function?.arguments ?? '').join(''))).toEqual({ path: 'a.txt' });
  expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason)).at(-1)).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57, prompt_tokens_details: { cached_tokens: 10 } },
  });
});

test('the openai client reads the same reply as one document', async () => {
  const server = await started(FULL);
  const reply = await openaiOf(server).chat.completions.create(chatOf('hi'));
  expect(reply.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: FULL_TEXT } });
  expect(reply.choices[0]?.message.tool_calls).toMatchObject([
    { id: 'one', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } },
    { id: expect.stringMatching(/^call_/), function: { name: 'nothing', arguments: '{}' } },
  ]);
  expect(reply.usage?.prompt_tokens).toBe(50);
});

test('without include_usage a chat stream reports no usage', async () => {
  const server = await started(FULL);
  const chunks = await allOf(await openaiOf(server).chat.completions.create({ ...chatOf('hi'), stream: true }));
  expect(chunks.filter((chunk) => chunk.usage != null || chunk.choices.length === 0)).toEqual([]);
});

const MESSAGE = {
  role: 'assistant',
  stop_reason: 'tool_use',
  content: [
    { type: 'text', text: FULL_TEXT },
    { type: 'tool_use', id: 'one', name: 'read_file', input: { path: 'a.txt' } },
    { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'nothing', input: {} },
  ],
  usage: { input_tokens: 35, output_tokens: 7, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 },
};

test('the anthropic client reads a stream and a document as the same message', async () => {
  const server = await started(FULL);
  const client = anthropicOf(server);
  expect(await client.messages.stream(messagesOf('hi')).finalMessage()).toMatchObject(MESSAGE);
  expect(await client.messages.create(messagesOf('hi'))).toMatchObject(MESSAGE);
  expect(
    server.requests.map((request) => [request.protocol, request.headers['anthropic-version'] !== undefined]),
  ).toEqual([
    ['anthropic', true],
    ['anthropic', true],
  ]);
});

test('both clients read the list of models', async () => {
  const server = await started();
  const names = ['scripted', 'scripted-large'];
  expect((await openaiOf(server).models.list()).data.map((model) => model.id)).toEqual(names);
  expect((await anthropicOf(server).models.list()).data.map((model) => model.id)).toEqual(names);
});

test.each(PROVIDERS)('the AI SDK runs tools by directives to the final text over %s', async (_, modelOf) => {
  const server = await started();
  const written: unknown[] = [];
  const result = streamText({
    model: modelOf(server),
    prompt: 'Work. [[tools=2]] [[shell=sleep 1; echo [x]]] [[text=All done.]] [[deltas=3 input=11]]',
    stopWhen: isStepCount(10),
    maxRetries: 0,
    tools: Object.fromEntries(
      ['write_file', 'shell'].map((name) => [
        name,
        tool({
          description: name,
          inputSchema: jsonSchema({ type: 'object' }),
          execute: (input) => {
            written.push(input);
            return 'ok';
          },
        }),
      ]),
    ),
  });
  const deltas: string[] = [];
  for await (const part of result.stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') deltas.push(part.text);
  }
  expect(written).toEqual([
    { path: 'step-1.txt', content: 'Written at step 1.\n' },
    { path: 'step-2.txt', content: 'Written at step 2.\n' },
    { command: 'sleep 1; echo [x]' },
  ]);
  expect(deltas).toEqual(['All', ' do', 'ne.']);
  expect(await result.finishReason).toBe('stop');
  expect((await result.totalUsage).inputTokens).toBe(44);
  expect(server.requests).toHaveLength(4);
});

test.each(PROVIDERS)(
  'a later turn is led by its own directives and counts its own steps over %s',
  async (_, modelOf) => {
    const server = await started();
    const messages: ModelMessage[] = [
      { role: 'user', content: '[[tools=1]]' },
      { role: 'assistant', content: 'an earlier answer' },
      { role: 'user', content: '[[text=second]]' },
    ];
    const result = streamText({ model: modelOf(server), messages, maxRetries: 0 });
    expect(await result.text).toBe('second');
  },
);

test('queued replies answer one request each, then the script answers', async () => {
  const server = await started({ text: 'default' });
  server.enqueue({ text: 'first' }, ({ userText }) => ({ text: `you said ${userText}` }));
  const client = openaiOf(server);
  const answers: (string | null | undefined)[] = [];
  for (const text of ['a', 'b', 'c']) {
    answers.push((await client.chat.completions.create(chatOf(text))).choices[0]?.message.content);
  }
  expect(answers).toEqual(['first', 'you said b', 'default']);
});

test.each(PATHS)('an error has the status, the headers and the shape of %s', async (protocol, path) => {
  const server = await started({ status: 429, headers: { 'retry-after': '7' } });
  const response = await post(server, path, chatOf('x'));
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  const body = (await response.json()) as { type?: string; error: { type: string } };
  expect(body.error.type).toBe('rate_limit_error');
  expect(body.type).toBe(protocol === 'anthropic' ? 'error' : undefined);
  server.script({ status: 503, body: 'plain words' });
  expect(await (await post(server, path, chatOf('x'))).text()).toBe('plain words');
  expect((await post(server, path, chatOf('[[fail=500]]'))).status).toBe(503);
});

test.each(PATHS)('directives ask for failures over %s', async (_, path) => {
  const server = await started();
  const failed = await post(server, path, chatOf('[[fail=500 retry=3]]'));
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([500, '3']);
  await failed.body?.cancel();
  const cut = await post(server, path, { ...chatOf('[[deltas=9 every=1 cut=2]]'), stream: true });
  await expect(cut.text()).rejects.toThrow('terminated');
});

const THREE: Reply = { text: ['one', 'two', 'three'] };
const deltasIn = (text: string) => [...text.matchAll(/"(one|two|three)"/g)].map((match) => match[1]);

test.each([
  ['at once', {}],
  ['paced', { deltaMs: 2 }],
])('a reply cut %s breaks within the next delta and names the server as the one who closed', async (_, pace) => {
  for (const [, path] of PATHS) {
    const server = await started({ ...THREE, ...pace, cut: 2 });
    const response = await post(server, path, { ...chatOf('x'), stream: true });
    let text = '';
    const read = async () => {
      for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString();
    };
    await expect(read()).rejects.toThrow('terminated');
    expect(deltasIn(text)).toEqual(['one', 'two']);
    expect(text.endsWith('\n\n')).toBe(false);
    await waitFor(() => server.requests[0]?.endedAt !== undefined);
    expect(server.requests[0]?.closedBy).toBe('server');
  }
});

test.each(PATHS)(
  'a line that is no JSON stands after the given deltas, and the rest follows, over %s',
  async (_, path) => {
    for (const pace of [{}, { deltaMs: 1 }]) {
      const server = await started({ ...THREE, ...pace, brokenJson: 2 });
      const response = await post(server, path, { ...chatOf('x'), stream: true });
      const events = await collectSse(response.body!);
      const kinds = events.flatMap((event) => deltasIn(event.data ?? '').concat(isJson(event.data) ? [] : ['broken']));
      expect(kinds).toEqual(['one', 'two', 'broken', 'three']);
    }
    const server = await started({ ...THREE, brokenJson: 0 });
    expect(isJson(await (await post(server, path, chatOf('x'))).text())).toBe(false);
  },
);

function isJson(data: string | null): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data ?? '');
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['before-headers', undefined, []],
  ['after-headers', 200, []],
  ['mid-stream', 200, ['one', 'two']],
] as const)('a hang %s stays open until the client leaves', async (hang, status, deltas) => {
  for (const [, path] of PATHS) {
    const server = await started({ ...THREE, hang, afterDeltas: 2 });
    const leaving = new AbortController();
    const answered = post(server, path, { ...chatOf('x'), stream: true }, leaving.signal);
    const request = await server.waitForRequest(1);
    expect(server.inFlight()).toBe(1);
    let text = '';
    if (status !== undefined) {
      const response = await answered;
      expect(response.status).toBe(status);
      const reader = response.body!.getReader();
      while (deltasIn(text).length < deltas.length) text += Buffer.from((await reader.read()).value ?? []).toString();
    }
    expect(request.endedAt).toBeUndefined();
    leaving.abort();
    await answered.catch(() => undefined);
    await waitFor(() => request.endedAt !== undefined);
    expect(deltasIn(text)).toEqual(deltas);
    expect([request.closedBy, server.inFlight()]).toEqual(['client', 0]);
  }
});

test('an endless reply continues until the client leaves, and pauses for a client that does not read', async () => {
  for (const pace of [{}, { deltaMs: 1 }]) {
    const server = await started({ text: 'again', endless: true, ...pace });
    const leaving = new AbortController();
    const response = await post(server, '/v1/messages', { ...messagesOf('x'), stream: true }, leaving.signal);
    let seen = 0;
    const read = async () => {
      for await (const bytes of response.body ?? []) {
        seen += Buffer.from(bytes).toString().split('again').length - 1;
        if (seen > 200) leaving.abort();
      }
    };
    await expect(read()).rejects.toThrow('abort');
    await waitFor(() => server.requests[0]?.closedBy === 'client');
    const events = anthropicOf(server).messages.stream(messagesOf('x'));
    const kinds: string[] = [];
    for await (const event of events) if (kinds.push(event.type) === 10) break;
    expect(kinds.slice(0, 2)).toEqual(['message_start', 'content_block_start']);
    expect(new Set(kinds.slice(2))).toEqual(new Set(['content_block_delta']));
  }
  const server = await started({ text: 'x'.repeat(1000), endless: true });
  const before = process.memoryUsage().rss;
  const deaf = httpRequest(`${server.url}/v1/chat/completions`, { method: 'POST' });
  deaf.on('error', () => {});
  deaf.end(JSON.stringify({ ...chatOf('x'), stream: true }));
  const [response] = (await once(deaf, 'response')) as [NodeJS.ReadableStream];
  response.pause();
  // The event loop turns a few hundred times meanwhile: enough for an unbounded writer to take gigabytes.
  for (let i = 0; i < 300; i += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  deaf.destroy();
});

test('a drip sends characters cut between bytes, and the client still reads them whole', async () => {
  const server = await started({ text: ['你好', '!'], drip: 0.01 });
  const message = await anthropicOf(server).messages.stream(messagesOf('x')).finalMessage();
  expect(message.content).toMatchObject([{ type: 'text', text: '你好!' }]);
});

test.each(PATHS)('a reply without a finish ends in order but says no end over %s', async (_, path) => {
  const server = await started({ ...THREE, noFinish: true });
  const events = await collectSse((await post(server, path, { ...chatOf('x'), stream: true })).body!);
  const text = events.map((event) => event.data).join('\n');
  expect(deltasIn(text)).toEqual(['one', 'two', 'three']);
  expect(text).not.toMatch(/\[DONE\]|message_stop|"finish_reason":"|"stop_reason":"/);
});

test('a refused request is a reset connection', async () => {
  const server = await started({ refuse: true });
  const error = await post(server, '/v1/messages', chatOf('x')).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ cause: { code: 'ECONNRESET' } });
  expect(server.requests[0]?.closedBy).toBe('server');
});

test('a web page answers with 200', async () => {
  const server = await started({ html: true });
  const response = await post(server, '/v1/chat/completions', { ...chatOf('x'), stream: true });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
  expect(await response.text()).toContain('<html>');
});

test.each(PATHS)("broken arguments and a finish of one's own pass as they stand over %s", async (protocol, path) => {
  const server = await started({ tools: [{ name: 'shell', rawArguments: '{"a":' }], finish: 'length' });
  const text = await (await post(server, path, { ...chatOf('x'), stream: true })).text();
  const pieces = [...text.matchAll(/"(?:arguments|partial_json)":("(?:[^"\\]|\\.)*")/g)];
  expect(pieces.map((piece) => String(JSON.parse(piece[1] ?? ''))).join('')).toBe('{"a":');
  expect(text).toContain(protocol === 'openai' ? '"finish_reason":"length"' : '"stop_reason":"max_tokens"');
});

test('paced deltas keep their schedule and stamped ones contain when they were sent', async () => {
  const server = await started();
  const microseconds = () => Number(process.hrtime.bigint() / 1000n);
  const asked = microseconds();
  const response = await post(server, '/v1/chat/completions', {
    ...chatOf('[[deltas=10 every=5 stamp=1]]'),
    stream: true,
  });
  const stamps: number[] = [];
  for (const event of await collectSse(response.body!)) {
    const stamp = /@(\d+);word/.exec(event.data ?? '')?.[1];
    if (stamp !== undefined) stamps.push(Number(stamp));
  }
  expect(stamps).toHaveLength(10);
  expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
  // None is early: the n-th comes 5 ms after the one before it was due, with the millisecond that timers round off.
  stamps.forEach((stamp, index) => expect(stamp).toBeGreaterThanOrEqual(asked + index * 5_000 - 1_000));
  expect(stamps[9]).toBeLessThanOrEqual(microseconds());
});

test('requests at once are counted', async () => {
  const server = await started({ hang: 'before-headers' });
  const leaving = new AbortController();
  const calls = [1, 2, 3].map(() => post(server, '/v1/messages', chatOf('x'), leaving.signal).catch(() => 'left'));
  await server.waitForRequest(3);
  expect([server.inFlight(), server.maxInFlight()]).toEqual([3, 3]);
  leaving.abort();
  expect(await Promise.all(calls)).toEqual(['left', 'left', 'left']);
  await waitFor(() => server.inFlight() === 0);
  expect(server.maxInFlight()).toBe(3);
});

test('a request that never comes fails the wait', async () => {
  const server = await started();
  await expect(server.waitForRequest(1, 20)).rejects.toThrow('Request 1 did not arrive within 20 ms; 0 did.');
});

test('the closed server refuses connections and lets no client hang', async () => {
  const server = await started({ hang: 'after-headers' });
  const response = await post(server, '/v1/messages', { ...chatOf('x'), stream: true });
  await server.close();
  await expect(response.text()).rejects.toThrow('terminated');
  expect(server.requests[0]?.closedBy).toBe('server');
  await expect(post(server, '/v1/messages', chatOf('x'))).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('as its own process it follows directives and ends with its standard input', async () => {
  const main = new URL('./model-server-main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, '--port', '0', '--until-eof'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  const reply = await client.chat.completions.create(chatOf('[[text=from afar]]'));
  expect(reply.choices[0]?.message.content).toBe('from afar');
  const exit = once(child, 'exit');
  child.stdin.end();
  expect(await exit).toEqual([0, null]);
});
