// What a stream of the Responses protocol holds, and how it is resumed (M3).
import { expect, test } from 'vitest';
import { responseIdOf } from '../../../src/domain/ids.ts';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import { answering, type Fixture, finish, INPUT, openFixture, send, USAGE } from '../../support/http/http-fixture.ts';
import { json, KEY, live, parse, RESPONSES, streamed } from '../../support/http/run-streams.ts';

const ANSWER = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
];

test('a Responses stream is the official one, each event with its number', { tags: ['M3-stream'] }, async () => {
  const fixture = await openFixture();
  const { got, events, run } = await streamed(fixture, RESPONSES, { metadata: { ticket: '7' } });
  expect(got.headers).toMatchObject({ 'x-session-id': run.sessionId, 'x-run-id': run.id });
  expect(events.map(({ event }) => event)).toEqual(ANSWER);
  expect(events.every(({ id }) => id === null)).toBe(true);
  const data = events.map(json);
  expect(data.map(({ type }) => type)).toEqual(ANSWER);
  expect(data.map(({ sequence_number: number }) => number)).toEqual(ANSWER.map((_, at) => at));
  const id = `msg_${run.id.replaceAll('-', '')}`;
  const place = { item_id: id, output_index: 0, content_index: 0 };
  expect(data[0]!['response']).toMatchObject({
    status: 'in_progress',
    output: [],
    usage: null,
    metadata: { ticket: '7' },
  });
  expect(data[2]).toMatchObject({ output_index: 0, item: { id, status: 'in_progress', content: [] } });
  expect(data[4]).toMatchObject({ ...place, delta: 'Hello.', logprobs: [] });
  expect(data[5]).toMatchObject({ ...place, text: 'Hello.' });
  expect(data[7]).toMatchObject({ item: { id, status: 'completed', content: [{ text: 'Hello.' }] } });
  const whole = await send(fixture, { path: `${RESPONSES}/${responseIdOf(run.id)}`, as: KEY });
  expect(data[8]!['response']).toEqual(whole.json);
});

const WITH_TOOLS: NewEvent[] = [
  { type: 'run.started', payload: { attempt: 1, model: 'qwen' } },
  { type: 'content_block_start', payload: { index: 0 } },
  { type: 'content_block_delta', payload: { index: 0, text: 'I look.' } },
  { type: 'content_block_stop', payload: { index: 0 } },
  { type: 'run.step', payload: { step: 1, inputTokens: 1, outputTokens: 1, textPreview: 'I look.', calls: [] } },
  { type: 'run.started', payload: { attempt: 2, model: 'qwen' } },
  { type: 'content_block_start', payload: { index: 1 } },
  { type: 'content_block_delta', payload: { index: 1, text: 'Fou' } },
  { type: 'content_block_delta', payload: { index: 1, text: 'nd.' } },
  { type: 'content_block_stop', payload: { index: 1 } },
  { type: 'run.step', payload: { step: 2, inputTokens: 1, outputTokens: 1, textPreview: 'Found.', calls: [] } },
  { type: 'run.finalizing', payload: { stopReason: 'max_tokens', usage: USAGE } },
  { type: 'message', payload: { messageId: 2, role: 'assistant', textPreview: 'Found.', usage: USAGE } },
  { type: 'run.done', payload: { status: 'completed' } },
];

test('what the agent says between calls is an item of its own, and the response has the last', {
  tags: ['M3-stream'],
}, async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const { events } = await streamed(fixture, RESPONSES);
  const data = events.map(json);
  const done = data.filter(({ type }) => type === 'response.output_item.done');
  expect(done.map(({ output_index: at, item }) => [at, item])).toMatchObject([
    [0, { content: [{ text: 'I look.' }] }],
    [1, { content: [{ text: 'Found.' }] }],
  ]);
  expect(data.filter(({ type }) => type === 'response.in_progress')).toHaveLength(1);
  expect(data.at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ ...(done[1]!['item'] as object), status: 'incomplete' }],
      usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 7, total_tokens: 107 },
    },
  });
});

test('a structured result is the text of the response', { tags: ['M3-format'] }, async () => {
  const events: NewEvent[] = [
    ...answering('Thinking.').slice(0, 5),
    { type: 'run.result', payload: { structuredOutput: { a: 1 } } },
    ...answering('').slice(-3),
  ];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, events) });
  const format = { type: 'json_schema', name: 'numbers', schema: { type: 'object' } };
  const { events: sent } = await streamed(fixture, RESPONSES, { text: { format } });
  expect(sent.map(({ event }) => event)).toEqual(ANSWER);
  const data = sent.map(json);
  expect(data[4]).toMatchObject({ delta: '{"a":1}' });
  expect(data[8]!['response']).toMatchObject({ text: { format }, output: [{ content: [{ text: '{"a":1}' }] }] });
});

test.each<[string, NewEvent[], object]>([
  [
    'a failed run',
    [
      ...answering('Hm.').slice(0, 4),
      {
        type: 'run.failed',
        payload: { status: 'failed', error: { type: 'api_error', message: 'It broke.', retryable: false } },
      },
    ],
    { status: 'failed', error: { code: 'server_error', message: 'It broke.' }, output: [] },
  ],
  [
    'a run over its budget, before it began',
    [
      {
        type: 'run.failed',
        payload: { status: 'failed', error: { type: 'budget_error', message: 'Used up.', retryable: false } },
      },
    ],
    { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Used up.' } },
  ],
  [
    'a stopped run',
    [{ type: 'run.stopped', payload: { reason: 'user_requested_stop' } }],
    { status: 'cancelled', error: null },
  ],
])('%s ends with response.failed', { tags: ['M3-stream'] }, async (_what, events, response) => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, events) });
  const { events: sent } = await streamed(fixture, RESPONSES);
  expect(json(sent.at(-1)!)).toMatchObject({ type: 'response.failed', response });
});

const follow = async (fixture: Fixture, run: Run, query: string) =>
  parse((await send(fixture, { path: `${RESPONSES}/${responseIdOf(run.id)}?stream=true${query}`, as: KEY })).text);

test('a stream is resumed behind any number, with the same events', { tags: ['M3-resume'] }, async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const { events, run } = await streamed(fixture, RESPONSES);
  expect(await follow(fixture, run, '')).toEqual(events);
  for (let last = 0; last < events.length; last += 1)
    expect(await follow(fixture, run, `&starting_after=${last}`)).toEqual(events.slice(last + 1));
  const rejoined = await send(fixture, { path: `/openapi/v1/runs/${run.id}/stream?after=5`, as: KEY });
  const rest = parse(rejoined.text);
  expect(rest.map(json)).toEqual(events.slice(8).map(json));
  // Of what one event of the journal becomes, the last has its id.
  expect(rest.map(({ id }) => id).slice(0, 3)).toEqual([null, '8', '9']);
});

test('a number behind the end is told as an error', { tags: ['M3-resume'] }, async () => {
  const fixture = await openFixture();
  const { run } = await streamed(fixture, RESPONSES);
  const events = await follow(fixture, run, '&starting_after=900');
  expect(events.map(json)).toEqual([
    {
      type: 'error',
      code: 'not_found_error',
      message: 'The stream has no event after that: its last has the number 8.',
      param: null,
      sequence_number: 900,
    },
  ]);
  for (const query of ['&starting_after=-1', '&starting_after=x'])
    expect(
      (await send(fixture, { path: `${RESPONSES}/${responseIdOf(run.id)}?stream=true${query}`, as: KEY })).status,
    ).toBe(422);
});

test('a stream that the daemon ends says after which number to go on', { tags: ['M3-resume'] }, async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_TOOLS.slice(0, 3)) });
  const { next } = await live(fixture, RESPONSES, { method: 'POST', body: JSON.stringify({ ...INPUT, stream: true }) });
  for (const type of ANSWER.slice(0, 5)) expect((await next())?.event).toBe(type);
  fixture.drain.abort();
  const error = { type: 'error', code: 'server_error', message: 'server restarting', param: null, sequence_number: 4 };
  expect(json((await next())!)).toEqual(error);
  expect(await next()).toBeUndefined();
});

test('a run that waits says so until it starts', { tags: ['M3-background'] }, async () => {
  const fixture = await openFixture({
    play: (run, book) => book.move(run, { scheduleMode: 'background' }),
  });
  const created = await send(fixture, {
    method: 'POST',
    path: RESPONSES,
    as: KEY,
    body: { model: 'm', input: 'Hi', background: true },
  });
  expect(created).toMatchObject({ status: 200, json: { status: 'queued', output: [], usage: null } });
  const run = fixture.book.runs.at(-1)!;
  finish(fixture.book, run, 'Hello.');
  const events = await follow(fixture, fixture.book.runs.at(-1)!, '');
  expect(events.map(({ event }) => event)).toEqual([ANSWER[0], 'response.queued', ...ANSWER.slice(1)]);
  expect(json(events[1]!)).toMatchObject({ response: { status: 'queued', background: true } });
});

test('a run whose journal was removed is told from the rows that stay', { tags: ['M3-resume'] }, async () => {
  const events = answering('Hello.').filter(({ type }) => type !== 'run.started' && type !== 'run.step');
  const fixture = await openFixture({ play: (run, book) => book.commit(run, events) });
  const { events: told } = await streamed(fixture, RESPONSES);
  expect(told.map(({ event }) => event)).toEqual(ANSWER);
  expect(json(told.at(-1)!)).toMatchObject({ response: { output: [{ content: [{ text: 'Hello.' }] }] } });
});
