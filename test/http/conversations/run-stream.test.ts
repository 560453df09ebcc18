import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { NewEvent } from '../../../src/domain/journal-event.ts';
import type { JsonValue } from '../../../src/domain/json.ts';
import { chatStreamData } from '../../../src/wire/chat/completion.ts';
import { messagesStreamEvent } from '../../../src/wire/messages/stream-event.ts';
import type { Shape } from '../../../src/wire/shape.ts';
import { answering, finish, type House, openHouse, send, TURN, USAGE } from '../../support/http/http-house.ts';
import { makeSseParser, readSse, type SseEvent } from '../../support/http/sse.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const KEY = 'conversation-key';
const MESSAGES = '/openapi/v1/messages';
const CHAT = '/openapi/v1/chat/completions';

const parse = (text: string): SseEvent[] => makeSseParser().push(text);

/** Runs a whole streamed turn; the request's body and headers may be added to. */
async function streamed(house: House, path: string, body: object = {}, headers: Record<string, string> = {}) {
  const got = await send(house, { method: 'POST', path, as: KEY, body: { ...TURN, stream: true, ...body }, headers });
  const events = parse(got.text);
  requireShape(events, path === CHAT ? chatStreamData : messagesStreamEvent);
  return { got, events, run: house.book.runs.at(-1)! };
}

/** A reader drops what its shape doesn't have, and refuses what lacks a field. */
function requireShape(events: readonly SseEvent[], shape: Shape<unknown>): void {
  for (const { data } of events) {
    if (data === null || data === '[DONE]') continue;
    const value = JSON.parse(data) as JsonValue;
    expect(shape.read(value, '')).toEqual(value);
  }
}

const json = ({ data }: SseEvent): Record<string, unknown> => JSON.parse(data!) as Record<string, unknown>;

test('a Messages stream is the official one, each event with its journal id', async () => {
  const house = await openHouse();
  const { got, events, run } = await streamed(house, MESSAGES);
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
  const house = await openHouse();
  house.book.open({ keySeq: 1 });
  const [queued] = house.book.events;
  if (queued?.type === 'run.queued') queued.payload.promptTokens = 2_345;
  const [run] = house.book.runs;
  finish(house.book, run!, 'Hello.');
  for (let look = 0; look < 2; look += 1) {
    const got = await send(house, { path: `/openapi/v1/runs/${run!.id}/stream`, as: KEY });
    const usage = { input_tokens: 2_345, output_tokens: 0 };
    expect(json(parse(got.text)[0]!)).toMatchObject({ type: 'message_start', message: { usage } });
  }
});

test('a chat stream is data only and ends with [DONE]', async () => {
  const house = await openHouse();
  const { events, run } = await streamed(house, CHAT);
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

test('a chat stream reports usage in its last chunk, and ids, only when asked', async () => {
  const house = await openHouse();
  const { events } = await streamed(
    house,
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
  const house = await openHouse({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const silent = await streamed(house, MESSAGES);
  expect(silent.events.map(({ event }) => event)).not.toContain('tool_use');
  const { events } = await streamed(house, MESSAGES, {}, { 'x-stream-tool-events': 'true' });
  const toolEvents = events.filter(({ event }) => event?.startsWith('tool_'));
  expect(toolEvents.map(json)).toEqual([
    { type: 'tool_use', tool_use_id: 't1', name: 'read_file', input: { path: '/x' } },
    { type: 'tool_result', tool_use_id: 't1', name: 'read_file', ok: true, preview: 'x', duration_ms: 3 },
  ]);
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
  const house = await openHouse({ play: (run, book) => book.commit(run, WITH_A_QUESTION) });
  const asked = { 'x-stream-tool-events': 'true' };
  const names = async (path: string, headers: Record<string, string>) =>
    (await streamed(house, path, {}, headers)).events.map(({ event, data }) => event ?? data).join(' ');
  expect(await names(MESSAGES, {})).toBe('message_start message_stop');
  expect(await names(CHAT, asked)).not.toContain('user_input');
  const { events } = await streamed(house, MESSAGES, {}, asked);
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
  const house = await openHouse({ play: (run, book) => book.commit(run, WITH_TOOLS) });
  const { events } = await streamed(house, CHAT);
  const text = events
    .slice(0, -1)
    .map((event) => (json(event)['choices'] as { delta: { content?: string } }[])[0]!.delta.content ?? '');
  expect(text.join('')).toBe('I look.\n\nFound.');
});

test('a structured result comes between message_delta and message_stop', async () => {
  const structured: NewEvent[] = [
    { type: 'run.finalizing', payload: { stopReason: 'end_turn', usage: USAGE } },
    { type: 'message', payload: { ...SAID, structuredOutput: null } },
    { type: 'run.done', payload: { status: 'completed' } },
  ];
  const house = await openHouse({ play: (run, book) => book.commit(run, structured) });
  const { events } = await streamed(house, MESSAGES);
  expect(events.slice(1).map(({ event }) => event)).toEqual(['message_delta', 'result', 'message_stop']);
  expect(json(events[2]!)).toEqual({ type: 'result', subtype: 'success', structured_output: null });
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
  const house = await openHouse({ play: (run, book) => book.commit(run, structured) });
  const body = { response_format: { type: 'json_object' }, stream_options: { include_usage: true } };
  const { events } = await streamed(house, CHAT, body);
  expect(events.slice(0, -1).map((event) => json(event)['choices'])).toEqual([
    [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    [{ index: 0, delta: { content: '{"height":2}' }, finish_reason: null }],
    [{ index: 0, delta: {}, finish_reason: 'stop' }],
    [],
  ]);
  expect(events.at(-1)?.data).toBe('[DONE]');
});

test('a failure ends each stream with its error and no normal end', async () => {
  const failing: NewEvent[] = [
    { type: 'run.finalizing', payload: { stopReason: null, usage: USAGE } },
    {
      type: 'run.failed',
      payload: { status: 'failed', error: { type: 'timeout_error', message: 'Too slow.', retryable: true } },
    },
  ];
  const house = await openHouse({ play: (run, book) => book.commit(run, failing) });
  const messages = await streamed(house, MESSAGES);
  expect(messages.events.map(({ event }) => event)).toEqual(['message_start', 'error']);
  expect(json(messages.events[1]!)).toEqual({ type: 'error', error: { type: 'timeout_error', message: 'Too slow.' } });
  const chat = await streamed(house, CHAT);
  expect(json(chat.events.at(-1)!)).toEqual({
    error: { message: 'Too slow.', type: 'timeout_error', param: null, code: null },
  });
});

test('a stopped run ends its stream with an error', async () => {
  const stopped: NewEvent[] = [{ type: 'run.stopped', payload: { reason: 'user_requested_stop' } }];
  const house = await openHouse({ play: (run, book) => book.commit(run, stopped) });
  const { events } = await streamed(house, MESSAGES);
  expect(json(events.at(-1)!)).toMatchObject({ error: { message: 'The run was stopped.' } });
});

/** Opens a stream that is read as it comes. */
async function live(house: House, path: string, init: { method?: string; body?: string } = {}) {
  const leave = new AbortController();
  const response = await fetch(`${house.url}${path}`, {
    ...init,
    signal: leave.signal,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  });
  const events = readSse(response.body!);
  const next = async (): Promise<SseEvent | undefined> => (await events.next()).value ?? undefined;
  return { response, next, leave: () => leave.abort() };
}

const START = { method: 'POST', body: JSON.stringify({ ...TURN, stream: true }) };

test('events reach the client as they are committed', async () => {
  const house = await openHouse({ play: () => {} });
  const { next } = await live(house, MESSAGES, START);
  expect((await next())!.event).toBe('message_start');
  const run = house.book.runs[0]!;
  for (const event of answering('Live.').slice(0, 3)) house.book.commit(run, [event]);
  expect((await next())!.event).toBe('content_block_start');
  expect(json((await next())!)).toMatchObject({ delta: { text: 'Live.' } });
});

test('a stream rejoined from any event holds exactly what came after it', async () => {
  const house = await openHouse();
  for (const path of [MESSAGES, CHAT]) {
    const { run } = await streamed(house, path);
    const rejoin = `/openapi/v1/runs/${run.id}/stream`;
    const whole = parse((await send(house, { path: rejoin, as: KEY })).text);
    expect(whole.length).toBeGreaterThan(3);
    for (const [index, { id }] of whole.slice(0, -1).entries()) {
      const byHeader = await send(house, { path: rejoin, as: KEY, headers: { 'last-event-id': id! } });
      expect(parse(byHeader.text)).toEqual(whole.slice(index + 1));
      expect((await send(house, { path: `${rejoin}?after=${id}`, as: KEY })).text).toBe(byHeader.text);
    }
  }
});

test('the larger of Last-Event-ID and after counts', async () => {
  const house = await openHouse();
  const { run } = await streamed(house, MESSAGES);
  const got = await send(house, {
    path: `/openapi/v1/runs/${run.id}/stream?after=3`,
    as: KEY,
    headers: { 'last-event-id': '7' },
  });
  expect(parse(got.text).map(({ event }) => event)).toEqual(['message_stop']);
});

test('a rejoin after the last event ends at once, on chat with [DONE]', async () => {
  const house = await openHouse();
  const messages = await streamed(house, MESSAGES);
  const after = (run: { id: string }) => ({
    path: `/openapi/v1/runs/${run.id}/stream?after=${house.book.events.length}`,
    as: KEY,
  });
  expect((await send(house, after(messages.run))).text).toBe('');
  const chat = await streamed(house, CHAT);
  expect(parse((await send(house, after(chat.run))).text)).toEqual([
    { id: String(house.book.events.length), event: null, data: '[DONE]', comment: null },
  ]);
});

test('another key may not follow a run', async () => {
  const house = await openHouse();
  const { run } = await streamed(house, MESSAGES);
  const got = await send(house, { path: `/openapi/v1/runs/${run.id}/stream`, as: 'second-key' });
  expect([got.status, got.json]).toMatchObject([403, { error: { type: 'permission_error' } }]);
});

test('many readers of one event share one rendering of it', async () => {
  const house = await openHouse({ play: () => {} });
  const readers = await Promise.all([1, 2, 3].map(() => live(house, MESSAGES, START)));
  const run = house.book.runs[0]!;
  const rejoined = await live(house, `/openapi/v1/runs/${run.id}/stream`);
  expect((await rejoined.next())!.event).toBe('message_start');
  let reads = 0;
  const payload = Object.defineProperty({ index: 0 } as { index: number; text: string }, 'text', {
    enumerable: true,
    get: () => {
      reads += 1;
      return 'shared';
    },
  });
  const second = await live(house, `/openapi/v1/runs/${run.id}/stream`);
  await second.next();
  house.book.commit(run, [{ type: 'content_block_delta', payload }]);
  expect(json((await rejoined.next())!)).toMatchObject({ delta: { text: 'shared' } });
  expect(json((await second.next())!)).toMatchObject({ delta: { text: 'shared' } });
  expect(reads).toBe(1);
  expect(readers).toHaveLength(3);
});

/** A clock whose time moves only by `pass`. */
function handClock() {
  let now = 0;
  const timers = new Map<object, { at: number; callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: (delayMs, callback) => {
      const timer = { cancel: () => void timers.delete(timer) };
      timers.set(timer, { at: now + delayMs, callback });
      return timer;
    },
  };
  const pass = (ms: number) => {
    now += ms;
    for (const [timer, { at, callback }] of timers) {
      if (at > now) continue;
      timers.delete(timer);
      callback();
    }
  };
  return { clock, pass, waiting: () => timers.size };
}

test('a ping comes after ten silent seconds, not before, and carries the last id', async () => {
  const { clock, pass } = handClock();
  const house = await openHouse({ play: () => {}, parts: { clock } });
  const messages = await live(house, MESSAGES, START);
  await messages.next();
  const run = house.book.runs[0]!;
  pass(9_000);
  house.book.commit(run, [{ type: 'content_block_start', payload: { index: 0 } }]);
  expect((await messages.next())!.event).toBe('content_block_start');
  pass(9_000); // 18 s after the start, 9 s after the last event
  house.book.commit(run, [{ type: 'content_block_stop', payload: { index: 0 } }]);
  expect((await messages.next())!.event).toBe('content_block_stop');
  pass(10_000);
  expect(await messages.next()).toEqual({ id: '3', event: 'ping', data: '{"type":"ping"}', comment: null });
});

test('the ping of a chat stream is a comment', async () => {
  const { clock, pass } = handClock();
  const house = await openHouse({ play: () => {}, parts: { clock } });
  const chat = await live(house, CHAT, START);
  await chat.next();
  pass(10_000);
  expect(await chat.next()).toEqual({ id: null, event: null, data: null, comment: 'ping' });
});

test('a client that leaves closes its stream and leaves the run alone', async () => {
  const { clock, waiting } = handClock();
  const house = await openHouse({ play: () => {}, parts: { clock } });
  const stream = await live(house, MESSAGES, START);
  await stream.next();
  // Its pings, and the watch on its key.
  expect(waiting()).toBe(2);
  stream.leave();
  await waitFor(() => waiting() === 0);
  finish(house.book, house.book.runs[0]!, 'Unheard.');
  expect(house.book.runs[0]!.status).toBe('completed');
});

test('draining ends every open stream with "server restarting", and the rest can be rejoined', async () => {
  const house = await openHouse({ play: () => {} });
  const messages = await live(house, MESSAGES, START);
  const chat = await live(house, CHAT, START);
  await messages.next();
  await chat.next();
  house.drain.abort();
  const error = (await messages.next())!;
  expect([error.id, error.event, json(error)]).toEqual([
    '1',
    'error',
    { type: 'error', error: { type: 'api_error', message: 'server restarting' } },
  ]);
  expect(await messages.next()).toBeUndefined();
  expect(json((await chat.next())!)).toMatchObject({ error: { type: 'api_error', message: 'server restarting' } });
  expect(await chat.next()).toBeUndefined();
});

test('a reader that does not read is held back, then gets every event once, in order', async () => {
  const house = await openHouse({ play: () => {} });
  const { path, count } = { path: MESSAGES, count: 4_000 };
  const body = JSON.stringify({ ...TURN, stream: true });
  let backlog = () => 0;
  house.tcp.prependListener('request', (_req, res: ServerResponse) => {
    backlog = () => res.writableLength;
  });
  const socket = connect(house.port, '127.0.0.1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.pause();
  const run = await waitFor(() => house.book.runs[0]);
  const text = 'x'.repeat(4_000);
  for (let i = 0; i < count; i += 1)
    house.book.commit(run, [{ type: 'content_block_delta', payload: { index: i, text } }]);
  house.book.commit(run, [{ type: 'run.done', payload: { status: 'completed' } }]);
  expect(backlog()).toBeGreaterThan(0);
  expect(backlog()).toBeLessThan(1024 * 1024);
  let heard = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    heard += chunk;
  });
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  const ids = [...heard.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: count + 2 }, (_, index) => index + 1));
});

test('a reader that takes nothing for a minute is dropped', async () => {
  const { clock, pass } = handClock();
  const house = await openHouse({ play: () => {}, parts: { clock } });
  const body = JSON.stringify({ ...TURN, stream: true });
  const socket = connect(house.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST ${MESSAGES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const run = await waitFor(() => house.book.runs[0]);
  const open = () => new Promise<number>((resolve) => house.tcp.getConnections((_error, count) => resolve(count)));
  house.book.commit(run, [{ type: 'content_block_delta', payload: { index: 0, text: 'x'.repeat(16_000_000) } }]);
  await waitFor(() => house.lines.some(({ msg }) => msg === 'request'));
  pass(50_000);
  expect(await open()).toBe(1);
  pass(10_000);
  await waitFor(async () => (await open()) === 0);
  socket.destroy();
});

test('the official Anthropic client streams a turn and reads a whole one', async () => {
  const house = await openHouse();
  const client = new Anthropic({ apiKey: KEY, baseURL: `${house.url}/openapi`, maxRetries: 0 });
  const params = { model: 'errand', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const whole = await client.messages.create(params);
  const last = await client.messages.stream(params).finalMessage();
  for (const message of [whole, last])
    expect(message).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 30, output_tokens: 7 },
    });
});

test('the official OpenAI client streams a turn, reads a whole one, and understands a refusal', async () => {
  const house = await openHouse();
  const client = new OpenAI({ apiKey: KEY, baseURL: `${house.url}/openapi/v1`, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const whole = await client.chat.completions.create({ model: 'errand', messages });
  expect(whole.choices[0]!.message.content).toBe('Hello.');
  const stream = client.chat.completions.stream({ model: 'errand', messages, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  expect(final).toMatchObject({
    choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { total_tokens: 107 },
  });
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['qwen']);
  await expect(client.chat.completions.create({ model: '', messages })).rejects.toMatchObject({
    status: 422,
    param: 'model',
  });
});

test('an official client does not repeat a turn whose run failed', async () => {
  const error = { type: 'api_error', message: 'It broke.', retryable: false } as const;
  const house = await openHouse({ play: (run, book) => book.move(run, { status: 'failed', error }) });
  const client = new Anthropic({ apiKey: KEY, baseURL: `${house.url}/openapi`, maxRetries: 2 });
  const turn = client.messages.create({ model: 'errand', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });
  await expect(turn).rejects.toMatchObject({ status: 500 });
  expect(house.turns).toHaveLength(1);
});
