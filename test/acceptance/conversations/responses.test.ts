// The official OpenAI client asks for responses, unchanged, against the real daemon (M3).
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { seeingModel } from '../../support/model/models-yaml.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: seeingModel(model.url),
  });
  client = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const create = (input: Params['input'], more: Partial<Params> = {}) =>
  client.responses.create({ model: 'gpt-x', input: input!, ...more });

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test('a response has every field of the official type', { tags: ['M3-turn', '§1-protocols'] }, async () => {
  const { data, response } = await create('[[text=Twelve.]] [[input=321 output=7]]', {
    instructions: 'Be brief.',
    metadata: { ticket: '7' },
  }).withResponse();
  const id = response.headers.get('x-run-id')?.replaceAll('-', '');
  expect(data).toEqual({
    id: `resp_${id}`,
    access_programs: null,
    object: 'response',
    created_at: expect.any(Number),
    completed_at: expect.any(Number),
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: 'gpt-x',
    output: [
      {
        id: `msg_${id}`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Twelve.', annotations: [], logprobs: [] }],
      },
    ],
    output_text: 'Twelve.',
    parallel_tool_calls: true,
    conversation: { id: response.headers.get('x-session-id') },
    previous_response_id: null,
    metadata: { ticket: '7' },
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    usage: {
      input_tokens: 321,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 328,
    },
    user: null,
  });
  expect(await client.responses.retrieve(data.id)).toEqual(data);
});

test('a response that is not to be stored says so, and can be looked up while its session is there', {
  tags: ['M3-delete'],
}, async () => {
  const response = await create('[[text=Once.]]', { store: false });
  expect(response).toMatchObject({ store: false, output_text: 'Once.' });
  expect(await client.responses.retrieve(response.id)).toEqual(response);
});

test("the client's own accumulator puts a streamed response together", {
  tags: ['M3-stream', '§1-streams'],
}, async () => {
  const runner = client.responses.stream({ model: 'gpt-x', input: '[[text=all of it]] [[deltas=4]] [[tools=1]]' });
  const events = await listOf(runner);
  const final = await runner.finalResponse();
  expect(final.output_text).toBe('all of it');
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  const { output_parsed: _, ...whole } = final;
  expect(whole).toMatchObject(await client.responses.retrieve(final.id));
});

test('a zod type is the schema of the result, waited for and streamed', { tags: ['M3-format'] }, async () => {
  const format = zodTextFormat(z.object({ place: z.string(), height: z.number() }), 'tide');
  model.enqueue({ tools: [{ name: 'submit_result', input: { result: { place: 'Cuxhaven', height: 3 } } }] });
  const parsed = await client.responses.parse({ model: 'gpt-x', input: 'How high?', text: { format } });
  expect(parsed.output_parsed).toEqual({ place: 'Cuxhaven', height: 3 });
  expect(parsed.text?.format).toMatchObject({ type: 'json_schema', name: 'tide', strict: true });
  model.enqueue({ tools: [{ name: 'submit_result', input: { result: { place: 'Husum', height: 4 } } }] });
  const streamed = client.responses.stream({ model: 'gpt-x', input: 'How high?', text: { format } });
  expect((await streamed.finalResponse()).output_parsed).toEqual({ place: 'Husum', height: 4 });
});

test("refusals come as the client's own error types, with the field at fault", { tags: ['M3-turn'] }, async () => {
  await expect(create([])).rejects.toMatchObject({ status: 422, param: 'input', code: null });
  await expect(client.responses.retrieve('resp_unknown')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(create('[[fail=400]]')).rejects.toBeInstanceOf(OpenAI.InternalServerError);
  const stream = await client.responses.create({ model: 'm', input: '[[fail=400]]', stream: true });
  expect((await listOf(stream)).at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code: 'server_error', message: expect.stringMatching(/HTTP status 400/) as string },
    },
  });
});

test('a response continues another, a conversation continues a session, and an older response forks it', {
  tags: ['M3-previous', '§1-history'],
}, async () => {
  const first = await create('first-words [[text=one]]');
  const second = await create('second-words [[text=two]]', { previous_response_id: first.id });
  expect(second.previous_response_id).toBe(first.id);
  expect(second.conversation).toEqual(first.conversation);
  const sent = JSON.stringify(model.requests.at(-1)?.body.messages);
  for (const words of ['first-words', 'one', 'second-words']) expect(sent).toContain(words);
  const late = await create('late [[text=late]]', { previous_response_id: first.id });
  expect(late.conversation).not.toEqual(first.conversation);
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain('second-words');
  const conversation = { id: first.conversation!.id };
  const third = await create('third [[text=three]]', { conversation });
  expect(third.conversation).toEqual(conversation);
  const fourth = await create('fourth [[text=four]]', { metadata: { session_id: conversation.id } });
  expect(fourth.conversation).toEqual(conversation);
  await expect(client.responses.delete(fourth.id)).rejects.toMatchObject({ status: 409 });
  await fetch(`${daemon.url}/openapi/v1/sessions/${conversation.id}`, {
    method: 'DELETE',
    headers: { 'x-api-key': daemon.apiKey },
  });
  const gone = create('gone', { previous_response_id: fourth.id });
  await expect(gone).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(client.responses.retrieve(fourth.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test('a repeated request finds its response', { tags: ['M3-turn'] }, async () => {
  const once = { headers: { 'Idempotency-Key': 'once' } };
  const first = await client.responses.create({ model: 'm', input: '[[text=one]]' }, once);
  expect(await client.responses.create({ model: 'm', input: '[[text=two]]' }, once)).toEqual(first);
  const chat = client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] }, once);
  await expect(chat).rejects.toBeInstanceOf(OpenAI.ConflictError);
  const stream = await client.responses.create({ model: 'm', input: 'x', stream: true }, once);
  expect((await listOf(stream)).at(-1)).toMatchObject({ type: 'response.completed', response: { id: first.id } });
});

test('a response in the background is looked up, followed and resumed, also after a restart', {
  tags: ['M3-background', 'M3-resume'],
}, async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: ['a', 'b', 'c', 'd'], hang: 'mid-stream', afterDeltas: 2, until });
  const queued = await create('Slowly.', { background: true });
  expect(['queued', 'in_progress']).toContain(queued.status);
  expect(queued).toMatchObject({ background: true, output: [], usage: null });
  const live = await client.responses.retrieve(queued.id, { stream: true });
  const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of live) {
    seen.push(event);
    // The client leaves in the midst of the text.
    if (event.type === 'response.output_text.delta') break;
  }
  go();
  const last = seen.at(-1)!.sequence_number;
  const resumed = await client.responses.retrieve(queued.id, { stream: true, starting_after: last });
  const whole = [...seen, ...(await listOf(resumed))];
  expect(whole.map(({ sequence_number: number }) => number)).toEqual(whole.map((_, at) => at));
  expect(whole.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { output: [{ content: [{ text: 'abcd' }] }] },
  });
  await daemon.restart();
  const again = await client.responses.retrieve(queued.id, { stream: true });
  expect(await listOf(again)).toEqual(whole);
  for (const number of [0, last, whole.length - 2]) {
    const rest = await client.responses.retrieve(queued.id, { stream: true, starting_after: number });
    expect(await listOf(rest)).toEqual(whole.slice(number + 1));
  }
  const beyond = await client.responses.retrieve(queued.id, { stream: true, starting_after: 9_999 });
  await expect(listOf(beyond)).rejects.toThrow('has no event after that: its last has the number');
});

test('a response in the background streams from its beginning', { tags: ['M3-background'] }, async () => {
  const stream = await client.responses.create({ model: 'm', input: '[[text=Hi.]]', background: true, stream: true });
  const types = (await listOf(stream)).map(({ type }) => type);
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress']);
  expect(types.at(-1)).toBe('response.completed');
});

test('a response is cancelled, and then deleted', { tags: ['M3-background', 'M3-delete'] }, async () => {
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: 'Never.', hang: 'before-headers', until });
  const { id } = await create('Wait.', { background: true });
  expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled', error: null });
  go();
  expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
  const stream = await client.responses.retrieve(id, { stream: true });
  expect((await listOf(stream)).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
  await client.responses.delete(id);
  await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test('the input of a response is what its user said', { tags: ['M3-input'] }, async () => {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const long = `"type":"text" ${'tides '.repeat(60_000)}`;
  const { id } = await create([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: long },
        { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pixel}` },
        { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,QQ==' },
      ],
    },
  ]);
  const items = await listOf(client.responses.inputItems.list(id));
  expect(items).toMatchObject([
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: long },
        { type: 'input_image', image_url: expect.stringMatching(/^attachments\//) as string },
        {
          type: 'input_file',
          filename: 'a.txt',
          file_data: expect.stringMatching(/^attachments\/.*a\.txt$/) as string,
        },
      ],
    },
  ]);
  const [item] = items as [OpenAI.Responses.ResponseInputMessageItem];
  // As it is, it is the input of another one.
  const again = await create([{ role: 'user', content: item.content.slice(1) }]);
  const [same] = await listOf(client.responses.inputItems.list(again.id));
  expect(same).toMatchObject({ content: [{ type: 'input_image' }, { type: 'input_file', filename: 'a.txt' }] });
});

test("another key's responses are refused, and nothing of them is told", {
  tags: ['M3-turn', '§1-bound-key'],
}, async () => {
  const { id, conversation } = await create('[[text=Mine.]]');
  const made = await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    name: 'other',
  });
  const { key } = made as { key: string };
  const other = new OpenAI({ apiKey: key, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  for (const ask of [
    () => other.responses.retrieve(id),
    () => other.responses.retrieve(id, { stream: true }),
    () => other.responses.cancel(id),
    () => other.responses.delete(id),
    () => other.responses.inputItems.list(id),
    () => other.responses.create({ model: 'm', input: 'x', previous_response_id: id }),
    () => other.responses.create({ model: 'm', input: 'x', conversation: conversation!.id }),
  ])
    await expect(ask()).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
});

test('operators see a run of this protocol like any other', { tags: ['M3-turn'] }, async () => {
  const { data, response } = await create('[[tools=1]] [[text=Seen.]]').withResponse();
  const [runId, sessionId] = [response.headers.get('x-run-id'), data.conversation!.id];
  expect(await daemon.admin('GET', `/api/v1/runs/${runId}`)).toMatchObject({
    protocol: 'responses',
    status: 'completed',
  });
  expect(await daemon.admin('GET', `/api/v1/runs/${runId}/timeline`)).toMatchObject({ truncated: false });
  expect(await daemon.admin('GET', `/api/v1/office-mode/sessions/${sessionId}/detail`)).toMatchObject({
    runs: [{ run_id: runId, status: 'completed' }],
  });
});

test('a used-up budget is refused with 429', { tags: ['M3-turn'] }, async () => {
  const made = (await daemon.admin('POST', '/api/v1/keys', { user: daemon.adminName, scope: 'conversation' })) as {
    key: string;
    id: string;
  };
  const budget = { subject: 'key', ref: made.id, unit: 'tokens', limit: 0, period: 'day' };
  await daemon.admin('PUT', '/api/v1/budgets', budget);
  const poor = new OpenAI({ apiKey: made.key, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  await expect(poor.responses.create({ model: 'm', input: 'Hi' })).rejects.toBeInstanceOf(OpenAI.RateLimitError);
});
