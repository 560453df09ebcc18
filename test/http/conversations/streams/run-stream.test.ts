// What a stream holds, in either protocol.
import { expect, test } from 'vitest';
import type { NewEvent } from '../../../../src/domain/sessions/journal-event.ts';
import { finish, openFixture, send, USAGE } from '../../../support/http/http-fixture.ts';
import { CHAT, KEY, MESSAGES, json, parse, streamed } from '../../../support/http/run-streams.ts';

test('a Messages stream is the official one, each event with its journal id', {
  tags: ['§4.3-stream', '§6.1-conversations', 'C10-order'],
}, async () => {
  const fixture = await openFixture();
  const { got, events, run } = await streamed(fixture, MESSAGES);
  expect(got.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-session-id': run.sessionId,
    'x-run-id': run.id,
    'x-content-type-options': 'nosniff',
  });
  expect(events.map(({ id, event }) => [id, event])).toEqual([
    ['1', 'message_start'],
    ['3', 'content_block_start'],
    ['4', 'content_block_delta'],
    ['5', 'content_block_stop'],
    ['7', 'message_delta'],
    ['9', 'message_stop'],
  ]);
  for (const event of events) expect(json(event)['type']).toBe(event.event);
  expect(json(events[0]!)).toMatchObject({
    message: {
      id: `msg_${run.id.replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: 'errand',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  });
  expect(json(events[2]!)).toEqual({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'Hello.' },
  });
  expect(json(events[4]!)).toMatchObject({
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  });
});

test('message_start reports the prompt as estimated at acceptance, also long after', async () => {
  const fixture = await openFixture();
  fixture.book.open({ keySeq: 1 });
  const [queued] = fixture.book.events;
  if (queued?.type === 'run.queued') queued.payload.promptTokens = 2_345;
  const [run] = fixture.book.runs;
  finish(fixture.book, run!, 'Hello.');
  for (let look = 0; look < 2; look += 1) {
    const got = await send(fixture, { path: `/openapi/v1/runs/${run!.id}/stream`, as: KEY });
    const usage = { input_tokens: 2_345, output_tokens: 0 };
    expect(json(parse(got.text)[0]!)).toMatchObject({ type: 'message_start', message: { usage } });
  }
});

test('a chat stream is data only and ends with [DONE]', {
  tags: ['§2.3-deltas', '§4.2-stream', '§6.1-conversations'],
}, async () => {
  const fixture = await openFixture();
  const { events, run } = await streamed(fixture, CHAT);
  expect(events.every(({ id, event }) => id === null && event === null)).toBe(true);
  expect(events.at(-1)!.data).toBe('[DONE]');
  const chunks = events.slice(0, -1).map(json);
  expect(chunks.map(({ choices }) => choices)).toEqual([
    [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    [{ index: 0, delta: { content: 'Hello.' }, finish_reason: null }],
    [{ index: 0, delta: {}, finish_reason: 'stop' }],
  ]);
  for (const chunk of chunks)
    expect(chunk).toMatchObject({
      id: `chatcmpl-${run.id.replaceAll('-', '')}`,
      object: 'chat.completion.chunk',
      model: 'errand',
    });
});

test('a chat stream reports usage in its last chunk, and ids, only when asked', { tags: ['C9'] }, async () => {
  const fixture = await openFixture();
  const { events } = await streamed(
    fixture,
    CHAT,
    { stream_options: { include_usage: true } },
    { 'x-stream-event-ids': 'true' },
  );
  expect(events.map(({ id }) => id)).toEqual(['1', '4', '7', '8', '9']);
  expect(json(events[3]!)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
  });
});

const SAID = { messageId: 2, role: 'assistant', textPreview: 'Hi', usage: USAGE } as const;

const WITH_TOOLS: NewEvent[] = [
  { type: 'content_block_start', payload: { index: 0 } },
  { type: 'content_block_delta', payload: { index: 0, text: 'I look.' } },
  { type: 'content_block_stop', payload: { index: 0 } },
  { type: 'tool_use', payload: { step: 1, toolUseId: 't1', name: 'read_file', input: { path: '/x' } } },
  { type: 'tool_result', payload: { toolUseId: 't1', name: 'read_file', ok: true, output: 'x', durationMs: 3 } },
  { type: 'content_block_start', payload: { index: 1 } },
  { type: 'content_block_delta', payload: { index: 1, text: 'Found.' } },
  { type: 'content_block_stop', payload: { index: 1 } },
  { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
  { type: 'run.done', payload: { status: 'completed' } },
];

test('tools are on the Messages stream only when requested', async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const silent = await streamed(fixture, MESSAGES);
  expect(silent.events.map(({ event }) => event)).not.toContain('tool_use');
  const { events } = await streamed(fixture, MESSAGES, {}, { 'x-stream-tool-events': 'true' });
  const toolEvents = events.filter(({ event }) => event?.startsWith('tool_'));
  expect(toolEvents.map(json)).toEqual([
    { type: 'tool_use', tool_use_id: 't1', name: 'read_file', input: { path: '/x' } },
    { type: 'tool_result', tool_use_id: 't1', name: 'read_file', ok: true, preview: 'x', duration_ms: 3 },
  ]);
});

test('waits for a model are on the Messages stream when tools are requested, with the moment when they end', async () => {
  const wait = { model: 'qwen', agent: null };
  const fixture = await openFixture({
    play: (run, book) =>
      book.commit(run, [
        { type: 'model_wait.started', payload: { ...wait, message: 'It is down.', patienceMs: 120_000 } },
        { type: 'model_wait.ended', payload: { ...wait, answered: true, waitedMs: 900 } },
        ...WITH_TOOLS,
      ]),
  });
  const asked = { 'x-stream-tool-events': 'true' };
  const waits = async (path: string, headers: Record<string, string>) =>
    (await streamed(fixture, path, {}, headers)).events.filter(({ data }) => data?.includes('model_wait'));
  expect(await waits(MESSAGES, {})).toEqual([]);
  expect(await waits(CHAT, asked)).toEqual([]);
  const [started, ended] = (await waits(MESSAGES, asked)).map(json);
  const until = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
  expect(started).toEqual({
    type: 'model_wait.started',
    ...wait,
    message: 'It is down.',
    patience_ms: 120_000,
    until,
  });
  expect(ended).toEqual({ type: 'model_wait.ended', ...wait, answered: true, waited_ms: 900 });
});

const FIRST = '0198c0de-0000-7000-8000-000000000001';
const SECOND = '0198c0de-0000-7000-8000-000000000002';

const question = (requestId: string, toolUseId: string) => ({
  requestId,
  toolUseId,
  toolName: 'ask_user',
  expiresAt: Date.parse('2026-03-02T12:00:00Z'),
});

const WITH_A_QUESTION: NewEvent[] = [
  { type: 'user_input.requested', payload: question(FIRST, 't1') },
  { type: 'user_input.answered', payload: { ...question(FIRST, 't1'), answers: 'private' } },
  { type: 'user_input.expired', payload: question(SECOND, 't2') },
  { type: 'run.done', payload: { status: 'completed' } },
];

test('questions are on the Messages stream only when tools are requested, and never on the chat stream', async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_A_QUESTION) });
  const asked = { 'x-stream-tool-events': 'true' };
  const names = async (path: string, headers: Record<string, string>) =>
    (await streamed(fixture, path, {}, headers)).events.map(({ event, data }) => event ?? data).join(' ');
  expect(await names(MESSAGES, {})).toBe('message_start message_stop');
  expect(await names(CHAT, asked)).not.toContain('user_input');
  const { events } = await streamed(fixture, MESSAGES, {}, asked);
  expect(events.filter(({ event }) => event?.startsWith('user_input.')).map(json)).toEqual([
    {
      type: 'user_input.requested',
      request_id: FIRST,
      tool_use_id: 't1',
      tool_name: 'ask_user',
      expires_at: '2026-03-02T12:00:00.000Z',
    },
    { type: 'user_input.answered', request_id: FIRST, tool_use_id: 't1' },
    { type: 'user_input.expired', request_id: SECOND, tool_use_id: 't2' },
  ]);
});

test('text before and after a tool is kept apart on the chat stream', async () => {
  const fixture = await openFixture({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const { events } = await streamed(fixture, CHAT);
  const text = events
    .slice(0, -1)
    .map((event) => (json(event)['choices'] as { delta: { content?: string } }[])[0]!.delta.content ?? '');
  expect(text.join('')).toBe('I look.\n\nFound.');
});

test('a structured result comes between message_delta and message_stop', {
  tags: ['§6.1-conversations', 'C15'],
}, async () => {
  const structured: NewEvent[] = [
    { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
    { type: 'message', payload: { ...SAID, structuredOutput: null } },
    { type: 'run.done', payload: { status: 'completed' } },
  ];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, structured) });
  const { events } = await streamed(fixture, MESSAGES);
  expect(events.slice(1).map(({ event }) => event)).toEqual(['message_delta', 'result', 'message_stop']);
  expect(json(events[2]!)).toEqual({ type: 'result', subtype: 'success', structured_output: null });
});

test('a result that the client library asked for is the whole content of a Messages stream, and rejoining is exact', async () => {
  const structured: NewEvent[] = [
    { type: 'content_block_start', payload: { index: 0 } },
    { type: 'content_block_delta', payload: { index: 0, text: 'Measuring.' } },
    { type: 'content_block_stop', payload: { index: 0 } },
    { type: 'result_block_start', payload: {} },
    { type: 'run.result', payload: { structuredOutput: { height: 2 } } },
    { type: 'result_block_stop', payload: {} },
    { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
    { type: 'message', payload: SAID },
    { type: 'run.done', payload: { status: 'completed' } },
  ];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, structured) });
  const body = { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } };
  const { events } = await streamed(fixture, MESSAGES, body);
  expect(events.slice(1).map((event) => json(event))).toMatchObject([
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '{"height":2}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta' },
    { type: 'message_stop' },
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test('on chat the text of a structured result is the whole content, before the finish reason and the usage', async () => {
  const structured: NewEvent[] = [
    { type: 'content_block_start', payload: { index: 0 } },
    { type: 'content_block_delta', payload: { index: 0, text: 'Measuring.' } },
    { type: 'content_block_stop', payload: { index: 0 } },
    { type: 'content_block_start', payload: { index: 1 } },
    { type: 'run.result', payload: { structuredOutput: { height: 2 } } },
    { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
    { type: 'message', payload: SAID },
    { type: 'run.done', payload: { status: 'completed' } },
  ];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, structured) });
  const body = { response_format: { type: 'json_object' }, stream_options: { include_usage: true } };
  const { events } = await streamed(fixture, CHAT, body);
  expect(events.slice(0, -1).map((event) => json(event)['choices'])).toEqual([
    [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    [{ index: 0, delta: { content: '{"height":2}' }, finish_reason: null }],
    [{ index: 0, delta: {}, finish_reason: 'stop' }],
    [],
  ]);
  expect(events.at(-1)?.data).toBe('[DONE]');
});

test('a failure ends each stream with its error and no normal end', {
  tags: ['§4.3-stream', '§7-shapes', 'C11'],
}, async () => {
  const failing: NewEvent[] = [
    { type: 'run.finalizing', payload: { stopReason: null, usage: USAGE } },
    {
      type: 'run.failed',
      payload: { status: 'failed', error: { type: 'timeout_error', message: 'Too slow.', retryable: true } },
    },
  ];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, failing) });
  const messages = await streamed(fixture, MESSAGES);
  expect(messages.events.map(({ event }) => event)).toEqual(['message_start', 'error']);
  expect(json(messages.events[1]!)).toEqual({ type: 'error', error: { type: 'timeout_error', message: 'Too slow.' } });
  const chat = await streamed(fixture, CHAT);
  expect(json(chat.events.at(-1)!)).toEqual({
    error: { message: 'Too slow.', type: 'timeout_error', param: null, code: null },
  });
});

test('a stopped run ends its stream with an error', async () => {
  const stopped: NewEvent[] = [{ type: 'run.stopped', payload: { reason: 'user_requested_stop' } }];
  const fixture = await openFixture({ play: (run, book) => book.commit(run, stopped) });
  const { events } = await streamed(fixture, MESSAGES);
  expect(json(events.at(-1)!)).toMatchObject({ error: { message: 'The run was stopped.' } });
});
