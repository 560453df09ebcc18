// The official OpenAI client, unchanged, against the real daemon.
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { ModelQuestion } from '../../support/model/model-reply.ts';
import { seeingModel } from '../../support/model/models-yaml.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: seeingModel(model.url),
  });
  client = clientWith(daemon.apiKey);
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
}

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

type Message = OpenAI.ChatCompletionMessageParam;
const user = (content: unknown): Message => ({ role: 'user', content: content as string });

/** Asks without a stream; answers the completion and the headers. */
async function create(content: unknown, more: object = {}) {
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-x', messages: [user(content)], ...more })
    .withResponse();
  return { completion: data, headers: response.headers };
}

/** The messages the model server was sent in the calls of the given user text. */
function callsAbout(marker: string): ModelQuestion['body'][] {
  return model.requests.filter(({ body }) => JSON.stringify(body.messages?.at(-1)).includes(marker)).map((r) => r.body);
}

test('a completion has the answer, the usage, the echoed model and the ids of its session and run', {
  tags: ['§1-model', '§2.2-fields', '§2.4-headers'],
}, async () => {
  const before = Math.floor(Date.now() / 1000);
  const { completion, headers } = await create('[[text=Twelve.]] [[input=321 output=7]]');
  const runId = headers.get('x-run-id') ?? '';
  expect(completion).toEqual({
    id: `chatcmpl-${runId.replaceAll('-', '')}`,
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'gpt-x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Twelve.' }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 321, completion_tokens: 7, total_tokens: 328 },
  });
  expect(completion.created).toBeGreaterThanOrEqual(before);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(
    rowsOf(daemon, 'SELECT s.id FROM sessions s JOIN runs r ON r.session_seq = s.seq WHERE r.id = ?', runId),
  ).toEqual([{ id: headers.get('x-session-id') }]);
});

test('a stream sends the role, then text as it arrives, then the finish reason', {
  tags: ['§2.3-deltas'],
}, async () => {
  const heard = Promise.withResolvers<void>();
  model.enqueue({ text: ['one ', 'two ', 'three'], hang: 'mid-stream', afterDeltas: 1, until: heard.promise });
  const stream = await client.chat.completions.create({ model: 'gpt-x', stream: true, messages: [user('count')] });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    // The model says no more before the client has its first word.
    if (chunk.choices[0]?.delta.content === 'one ') heard.resolve();
  }
  expect(chunks[0]?.choices).toEqual([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]);
  expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  const texts = chunks.slice(1, -1).map((chunk) => chunk.choices[0]?.delta.content ?? '');
  expect(texts.join('')).toBe('one two three');
  expect(texts.length).toBeGreaterThan(1);
  expect(new Set(chunks.map(({ id, object, model: name }) => `${id} ${object} ${name}`)).size).toBe(1);
  expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true);
});

test('include_usage adds a last chunk with the usage and no choice', { tags: ['C9'] }, async () => {
  const stream = await client.chat.completions.create({
    model: 'gpt-x',
    stream: true,
    stream_options: { include_usage: true },
    messages: [user('[[text=Counted.]] [[input=50 output=5]]')],
  });
  const last = (await listOf(stream)).at(-1);
  expect(last?.choices).toEqual([]);
  expect(last?.usage).toEqual({ prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 });
});

test("the client's own accumulator puts a streamed answer together", async () => {
  const runner = client.chat.completions.stream({
    model: 'gpt-x',
    messages: [user('[[text=all of it]] [[deltas=4]]')],
  });
  expect(await runner.finalContent()).toBe('all of it');
});

test('the list of models holds the one model of the key', { tags: ['C13'] }, async () => {
  const { data } = await client.models.list();
  expect(data).toHaveLength(1);
  expect(data[0]).toMatchObject({ id: 'scripted', object: 'model', created: expect.any(Number), owned_by: 'errand' });
});

test('an image in a data URL reaches the model as an image', { tags: ['§4.2-blocks'] }, async () => {
  await create([
    { type: 'text', text: 'look-at-this' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ]);
  const [call] = callsAbout('look-at-this');
  expect(call?.messages?.at(-1)?.content).toEqual([
    { type: 'text', text: 'look-at-this' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ]);
});

test('a file is placed in the workspace, where the agent reads it', { tags: ['§4.2-blocks'] }, async () => {
  model.enqueue({ tools: [{ name: 'read_file', input: { path: '/uploads/facts.csv' } }] }, { text: 'Read.' });
  const { completion, headers } = await create([
    { type: 'text', text: 'what-does-it-say' },
    {
      type: 'file',
      file_name: 'facts.csv',
      source: { type: 'base64', media_type: 'text/csv', data: Buffer.from('tide,4.2\n').toString('base64') },
    },
  ]);
  expect(completion.choices[0]?.message.content).toBe('Read.');
  const request = model.requests.findLast(({ body }) => JSON.stringify(body).includes('what-does-it-say'))?.body;
  expect(JSON.stringify(request?.messages?.find(({ role }) => role === 'user'))).toContain('/uploads/facts.csv');
  expect(JSON.stringify(request?.messages?.at(-1))).toContain('tide,4.2');
  const history = await fetch(`${daemon.url}/openapi/v1/sessions/${headers.get('x-session-id')}/messages`, {
    headers: { 'x-api-key': daemon.apiKey },
  });
  expect(await history.json()).toMatchObject({
    messages: [{ role: 'user', attachments: [{ name: 'facts.csv', mime_type: 'text/csv', size: 9 }] }, {}],
  });
});

test('a second turn brings its own words only, and the model sees the whole conversation', {
  tags: ['§1-history'],
}, async () => {
  const first = await create('first-question [[tools=1]] [[text=first answer]]');
  const sessionId = first.headers.get('x-session-id');
  const before = model.requests.length;
  const second = await create('second-question [[text=second answer]]', { metadata: { session_id: sessionId } });
  expect(second.headers.get('x-session-id')).toBe(sessionId);
  expect(second.headers.get('x-run-id')).not.toBe(first.headers.get('x-run-id'));
  const [system, ...messages] = model.requests[before]?.body.messages ?? [];
  expect(system?.role).toBe('system');
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  expect(JSON.stringify(messages[0])).toContain('first-question');
  expect(JSON.stringify(messages[2])).toContain('step-1.txt');
  expect(JSON.stringify(messages[3])).toContain('first answer');
  expect(JSON.stringify(messages[4])).toContain('second-question');
});

test('only the last user message is read; other roles and earlier messages are left alone', {
  tags: ['§1-last-user-message'],
}, async () => {
  const before = model.requests.length;
  await client.chat.completions.create({
    model: 'gpt-x',
    messages: [
      { role: 'system', content: 'unheard-system' },
      user('unheard-user'),
      { role: 'assistant', content: 'unheard-assistant' },
      user('heard [[text=Yes.]]'),
    ],
  });
  const sent = JSON.stringify(model.requests[before]?.body);
  expect(sent).toContain('heard');
  expect(sent).not.toContain('unheard');
});

test('a run with tools streams the text before and after them, and leaves its files', async () => {
  model.enqueue(
    { text: 'I will write it.', tools: [{ name: 'write_file', input: { path: 'out/a.txt', content: 'A' } }] },
    { text: 'Done.' },
  );
  const { data: stream, response } = await client.chat.completions
    .create({ model: 'gpt-x', stream: true, messages: [user('write')] })
    .withResponse();
  const chunks = await listOf(stream);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  expect(text).toBe('I will write it.\n\nDone.');
  const runId = response.headers.get('x-run-id') ?? '';
  expect(
    rowsOf(daemon, 'SELECT name, ok FROM tool_calls t JOIN runs r ON r.seq = t.run_seq WHERE r.id = ?', runId),
  ).toEqual([{ name: 'write_file', ok: 1 }]);
});

test('without a stream the answer is the last text only', async () => {
  model.enqueue({ text: 'Let me look.', tools: [{ name: 'list_files', input: {} }] }, { text: 'It is empty.' });
  const { completion } = await create('look');
  expect(completion.choices[0]?.message.content).toBe('It is empty.');
});

test("refusals come as the client's own error types, with the field at fault", async () => {
  const wrongKey = clientWith('errand_00000000_nothing').chat.completions.create({ model: 'm', messages: [user('x')] });
  await expect(wrongKey).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  await expect(wrongKey).rejects.toMatchObject({ status: 401, type: 'authentication_error' });

  const noMessages = client.chat.completions.create({ model: 'm', messages: [] });
  await expect(noMessages).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError);
  await expect(noMessages).rejects.toMatchObject({ param: 'messages', type: 'invalid_request_error', code: null });

  const metadata = { session_id: '0190f6a0-0000-7000-8000-000000000000' };
  const noSession = client.chat.completions.create({ model: 'm', messages: [user('x')], metadata });
  await expect(noSession).rejects.toBeInstanceOf(OpenAI.NotFoundError);

  const nativeFile = client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
  });
  await expect(nativeFile).rejects.toMatchObject({ status: 422, param: 'messages[0].content[0].file.file_id' });
});

test('a model that fails is an error of the client, as an answer and in a stream', async () => {
  const messages = [user('[[fail=400]]')];
  await expect(client.chat.completions.create({ model: 'm', messages })).rejects.toBeInstanceOf(
    OpenAI.InternalServerError,
  );
  const stream = await client.chat.completions.create({ model: 'm', stream: true, messages });
  await expect(listOf(stream)).rejects.toThrow(/HTTP status 400/);
});
