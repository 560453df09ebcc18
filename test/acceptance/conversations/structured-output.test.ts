// Structured output through the real daemon: the official Anthropic client, both forms of answer, crashes and hostile schemas.
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contentsOf, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn, type TurnRequest } from '../../support/daemon/turn.ts';
import { z } from 'zod';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let client: Anthropic;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { wide: { kind: openai, base_url: "${model.url}/v1" }, none: { kind: offline } }`,
      'models:',
      '  scripted: { endpoint: wide, model: scripted, context_window: 128000, max_output_tokens: 4096 }',
      '  keeping: { endpoint: wide, model: scripted, context_window: 128000, structured: json_schema }',
      '  offline: { endpoint: none, model: offline, context_window: 32000, max_output_tokens: 4096 }',
      'scenarios: { general: { model: scripted } }',
      'default_scenario: general',
      '',
    ].join('\n'),
  });
  client = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script({ status: 500 }));

const TIDE = {
  type: 'object',
  required: ['height'],
  properties: { height: { type: 'number', minimum: 0 } },
  additionalProperties: false,
};

const format = (schema: unknown) => ({ output_format: { type: 'json_schema', schema } });
const submit = (result: unknown): Reply => ({ tools: [{ name: 'submit_result', input: { result } }] });
const work: Reply = { text: 'Measuring.', tools: [{ name: 'write_file', input: { path: 'a.txt', content: 'A' } }] };
const never: readonly Reply[] = [submit('no'), submit('no'), submit('no'), submit('no')];
const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
const ask = (schema: unknown, request: Partial<TurnRequest> = {}) =>
  takeTurn(target(), { content: 'How high?', ...request, body: { ...format(schema), ...request.body } });

/** The request as the official client sends it: fields that it does not know go along. */
const asked = (schema: unknown) =>
  ({
    model: 'errand',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'How high?' }],
    ...format(schema),
  }) as Anthropic.MessageCreateParamsNonStreaming;

describe('the official client', () => {
  test('reads a result next to an empty content', { tags: ['§4.4-rule-4'] }, async () => {
    model.enqueue(work, submit({ height: -1 }), submit({ height: 2 }));
    const message = await client.messages.create(asked(TIDE));
    expect(message).toMatchObject({ content: [], stop_reason: 'end_turn', structured_output: { height: 2 } });
  });

  test('reads a stream to its end, with the result just before message_stop', { tags: ['§4.4-rule-5'] }, async () => {
    model.enqueue(work, submit({ height: 2 }));
    const stream = client.messages.stream(asked(TIDE));
    const seen: { type: string; structured_output?: unknown }[] = [];
    stream.on('streamEvent', (event) => seen.push(event));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ content: [{ text: 'Measuring.' }], stop_reason: 'end_turn' });
    expect(seen.slice(-2)).toEqual([
      { type: 'result', subtype: 'success', structured_output: { height: 2 } },
      { type: 'message_stop' },
    ]);
  });

  test('gets an error for a run without a valid result, in both forms', async () => {
    model.enqueue(...never);
    await expect(client.messages.create(asked(TIDE))).rejects.toMatchObject({ status: 500 });
    model.enqueue(...never);
    await expect(client.messages.stream(asked(TIDE)).finalMessage()).rejects.toThrow(/no result that fits/);
  });
});

describe('the structured outputs of the official client', () => {
  const Tide = z.object({ height: z.number().min(0), place: z.object({ name: z.string() }).nullable() });
  const tide = { height: 2, place: { name: 'Husum' } };
  const wanted = () => ({
    model: 'errand',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'How high?' }],
    output_config: { format: zodOutputFormat(Tide) },
  });

  test('parses the result, corrected until it fits', async () => {
    model.enqueue(work, submit({ height: 'high' }), submit(tide));
    const message = await client.messages.parse(wanted());
    expect(message.parsed_output).toEqual(tide);
    expect(message.content).toMatchObject([{ type: 'text', text: JSON.stringify(tide) }]);
    expect(message).not.toHaveProperty('structured_output');
  });

  test('parses it in a stream, whose text is the result and nothing else', async () => {
    model.enqueue(work, submit(tide));
    const stream = client.messages.stream(wanted());
    let text = '';
    stream.on('text', (piece) => void (text += piece));
    expect((await stream.finalMessage()).parsed_output).toEqual(tide);
    expect(text).toBe(JSON.stringify(tide));
  });

  test('reads it from a background run that has completed', async () => {
    const body = { ...wanted(), background: true, idempotency_key: 'parsed-later' };
    model.enqueue(submit(tide));
    const first = await client.messages.create(body);
    expect(first.content).toEqual([]);
    await waitFor(async () => (await client.messages.create(body)).stop_reason === 'end_turn');
    const { content } = await client.messages.create(body);
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(tide) }]);
  });

  test('gets an error for a run without a valid result', async () => {
    model.enqueue(...never);
    await expect(client.messages.parse(wanted())).rejects.toMatchObject({ status: 500 });
  });
});

test('a stream has its ordinary events, message_delta, the result, message_stop, and nothing else', {
  tags: ['§4.4-rule-5', 'C15'],
}, async () => {
  model.enqueue(work, submit({ height: 2 }));
  const { events } = await ask(TIDE, { stream: true });
  const names = events.map(({ event }) => event).filter((name) => name !== 'ping');
  expect(names).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'result',
    'message_stop',
  ]);
  const result = events.find(({ event }) => event === 'result');
  expect(JSON.parse(result?.data ?? '')).toEqual({
    type: 'result',
    subtype: 'success',
    structured_output: { height: 2 },
  });
});

test.each([
  ['null', null],
  ['boolean', false],
  ['integer', 0],
  ['number', -1.5],
  ['string', ''],
  ['array', []],
  ['object', {}],
])('a result of type %s keeps its raw type in both forms', { tags: ['§4.4-rule-4'] }, async (type, value) => {
  model.enqueue(submit(value), submit(value));
  const streamed = await ask({ type }, { stream: true });
  const data = streamed.events.find(({ event }) => event === 'result')?.data ?? '{}';
  expect(JSON.parse(data)).toHaveProperty('structured_output', value);
  const message = await client.messages.create(asked({ type }));
  expect(message).toHaveProperty('structured_output', value);
});

test('the field is there exactly when a schema was, and a schema counts for its own turn only', {
  tags: ['§2.4-structured-output', '§4.4-rule-1'],
}, async () => {
  model.enqueue(submit(null), { text: 'Just words.' });
  const first = await client.messages.create(asked({ type: 'null' })).withResponse();
  const later = await client.messages.create({
    model: 'errand',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'And now?' }],
    metadata: { session_id: first.response.headers.get('x-session-id') } as object,
  });
  expect(first.data).toHaveProperty('structured_output', null);
  expect(later).not.toHaveProperty('structured_output');
  expect(later.content).toEqual([{ type: 'text', text: 'Just words.' }]);
  expect(JSON.stringify(model.requests.at(-1)?.body['tools'])).not.toContain('submit_result');
});

test('a run without a fitting result is incomplete: 500 without a stream, an error event with one', {
  tags: ['§3.1-incomplete', '§7-result-unfit'],
}, async () => {
  model.enqueue(...never, ...never);
  const plain = await ask(TIDE);
  expect([plain.status, plain.error?.type]).toEqual([500, 'api_error']);
  const streamed = await ask(TIDE, { stream: true });
  expect(streamed.events.at(-1)?.event).toBe('error');
  expect(streamed.events.map(({ event }) => event)).not.toContain('result');
  const rows = rowsOf<object>(
    daemon,
    'SELECT status, structured_output, error FROM runs WHERE id IN (?, ?)',
    plain.runId!,
    streamed.runId!,
  );
  for (const row of rows)
    expect(row).toMatchObject({
      status: 'incomplete',
      structured_output: null,
      error: expect.stringContaining('structured_output_error'),
    });
  expect(rows).toHaveLength(2);
});

test('the chat endpoint takes no notice of the field', { tags: ['§4.4-rule-1'] }, async () => {
  model.enqueue({ text: 'Words.' });
  const { status, text } = await ask({ type: 'strin' }, { protocol: 'chat' });
  expect([status, text]).toEqual([200, 'Words.']);
});

test('a run that was killed between corrections continues, keeps its count, and ends with its result', async () => {
  const before = model.requests.length;
  model.enqueue(submit('one'), submit('two'), { hang: 'after-headers' });
  const body = { ...format(TIDE), idempotency_key: 'killed-in-between' };
  const lost = ask(TIDE, { body }).catch(() => undefined);
  await model.waitForRequest(before + 3);
  await daemon.kill();
  await lost;
  model.enqueue(submit('three'), submit({ height: 3 }));
  await daemon.restart();
  const { status, runId } = await ask(TIDE, { body });
  expect(status).toBe(200);
  expect(model.requests).toHaveLength(before + 5);
  expect(rowsOf(daemon, 'SELECT status, structured_output, resumes FROM runs WHERE id = ?', runId!)).toEqual([
    { status: 'completed', structured_output: '{"height":3}', resumes: 1 },
  ]);
});

test('a background run has null while it is in progress, and its result when it has completed', {
  tags: ['§2.4-structured-output', '§4.4-rule-6', '§4.5-completed'],
}, async () => {
  const before = model.requests.length;
  model.enqueue({ ...submit({ height: 4 }), firstMs: 300 });
  const reply = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked(TIDE), background: true, idempotency_key: 'in-the-background' }),
  });
  const first = (await reply.json()) as { background_results: { result_url: string } };
  expect([reply.status, first]).toMatchObject([202, { structured_output: null, content: [] }]);
  await model.waitForRequest(before + 1);
  const poll = async () => {
    const answer = await fetch(daemon.url + first.background_results.result_url, {
      headers: { 'x-api-key': daemon.apiKey },
    });
    return (await answer.json()) as { background_results: { status: string } };
  };
  const done = await waitFor(
    async () => {
      const state = await poll();
      return state.background_results.status === 'completed' ? state : undefined;
    },
    { everyMs: 200 },
  );
  expect(done).toMatchObject({ structured_output: { height: 4 }, content: [] });
});

test('a result that the server keeps to the schema is no text of the answer', async () => {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    model: 'keeping',
  })) as { key: string };
  const before = model.requests.length;
  model.enqueue(work, submit({ height: -1 }), { text: '{"height":2}' });
  const body = { ...format(TIDE), stream: true };
  const { status, text, events } = await takeTurn({ url: daemon.url, apiKey: key }, { content: 'How high?', body });
  expect([status, text]).toEqual([200, 'Measuring.']);
  const result = events.find(({ event }) => event === 'result');
  expect(JSON.parse(result?.data ?? '{}')).toHaveProperty('structured_output', { height: 2 });
  const formats = model.requests.slice(before).map(({ body: sent }) => sent['response_format']);
  expect(formats).toEqual([undefined, undefined, expect.objectContaining({ type: 'json_schema' })]);
});

test('the offline engine submits a value that fits', async () => {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    model: 'offline',
  })) as { key: string };
  const schema = {
    ...TIDE,
    required: ['height', 'place', 'times'],
    properties: {
      height: { type: 'number', exclusiveMinimum: 2 },
      place: { type: 'string', pattern: '^[A-Z]{3}$' },
      times: { type: 'array', items: { $ref: '#/definitions/time' }, minItems: 2 },
    },
    definitions: { time: { type: 'integer', minimum: 0, maximum: 23 } },
  };
  const offline = new Anthropic({ apiKey: key, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
  const message = await offline.messages.create(asked(schema));
  const { structured_output: value } = message as unknown as { structured_output: unknown };
  expect(new Ajv({ strict: false }).validate(schema, value)).toBe(true);
});

describe('schemas that mean harm', () => {
  const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const named = (count: number, make: (i: number) => unknown) =>
    Object.fromEntries(many(count, (i) => [`p${i}`, make(i)]));
  const twice = (i: number) => ({ allOf: [{ $ref: `#/definitions/p${i + 1}` }, { $ref: `#/definitions/p${i + 1}` }] });
  const HOSTILE: readonly (readonly [string, unknown])[] = [
    ['10,000 enum values', { enum: many(10_000, (i) => i) }],
    ['10,000 schemas', { items: many(10_000, () => ({})) }],
    [
      'depth',
      many(25, () => 0).reduce<object>((properties) => ({ properties: { a: properties } }), {
        not: { not: { not: { not: { not: { not: { not: { not: {} } } } } } } },
      }),
    ],
    ['doubling references', { ...twice(-1), definitions: { ...named(30, twice), p30: {} } }],
    ['a reference to itself', { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } }],
    ['a remote reference', { $ref: 'http://127.0.0.1:1/schema.json' }],
    ['__proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')],
    ['a look-around', { pattern: '(?=(a+)+$)' }],
    ['a back-reference', { pattern: '(a+)\\1+$' }],
    ['a huge repetition', { pattern: '((a{1,999}){1,999}){1,999}' }],
    ['deep groups', { pattern: '('.repeat(9_000) + ')'.repeat(9_000) }],
    ['a megabyte', { description: 'x'.repeat(1_000_000) }],
    ['no schema', { type: 'strin' }],
  ];

  test.each(HOSTILE)('%s: 422, nothing is kept, and the daemon answers others meanwhile', async (_name, schema) => {
    await ask({ type: 'strin' });
    const before = await contentsOf(daemon);
    let answered = false;
    const answer = ask(schema, { stream: true }).finally(() => (answered = true));
    while (!answered) {
      expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    }
    expect((await answer).status).toBe(422);
    expect(await contentsOf(daemon)).toEqual(before);
  });

  test('a pattern that backtracks forever in other engines validates a result', {
    tags: ['C14-patterns'],
  }, async () => {
    const before = model.requests.length;
    model.enqueue(submit(`${'a'.repeat(40)}!`), submit('a'.repeat(40)));
    const { status } = await ask({ type: 'string', pattern: '^(a+)+$' });
    expect(status).toBe(200);
    await waitFor(() => model.requests.length === before + 2);
  });
});
