// Streams while their run is in progress: rejoined, pinged, left, drained and held back.
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { answering, finish, openFixture, send, TURN } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { CHAT, KEY, MESSAGES, START, json, live, parse, streamed } from '../../support/http/run-streams.ts';

test('events reach the client as they are committed', async () => {
  const fixture = await openFixture({ play: () => {} });
  const { next } = await live(fixture, MESSAGES, START);
  expect((await next())!.event).toBe('message_start');
  const run = fixture.book.runs[0]!;
  for (const event of answering('Live.').slice(0, 3)) fixture.book.commit(run, [event]);
  expect((await next())!.event).toBe('content_block_start');
  expect(json((await next())!)).toMatchObject({ delta: { text: 'Live.' } });
});

test('a stream rejoined from any event holds exactly what came after it', { tags: ['C12'] }, async () => {
  const fixture = await openFixture();
  for (const path of [MESSAGES, CHAT]) {
    const { run } = await streamed(fixture, path);
    const rejoin = `/openapi/v1/runs/${run.id}/stream`;
    const whole = parse((await send(fixture, { path: rejoin, as: KEY })).text);
    expect(whole.length).toBeGreaterThan(3);
    for (const [index, { id }] of whole.slice(0, -1).entries()) {
      const byHeader = await send(fixture, { path: rejoin, as: KEY, headers: { 'last-event-id': id! } });
      expect(parse(byHeader.text)).toEqual(whole.slice(index + 1));
      expect((await send(fixture, { path: `${rejoin}?after=${id}`, as: KEY })).text).toBe(byHeader.text);
    }
  }
});

test('the larger of Last-Event-ID and after counts', { tags: ['C12'] }, async () => {
  const fixture = await openFixture();
  const { run } = await streamed(fixture, MESSAGES);
  const got = await send(fixture, {
    path: `/openapi/v1/runs/${run.id}/stream?after=3`,
    as: KEY,
    headers: { 'last-event-id': '7' },
  });
  expect(parse(got.text).map(({ event }) => event)).toEqual(['message_stop']);
});

test('a rejoin after the last event ends at once, on chat with [DONE]', { tags: ['§4.2-stream'] }, async () => {
  const fixture = await openFixture();
  const messages = await streamed(fixture, MESSAGES);
  const after = (run: { id: string }) => ({
    path: `/openapi/v1/runs/${run.id}/stream?after=${fixture.book.events.length}`,
    as: KEY,
  });
  expect((await send(fixture, after(messages.run))).text).toBe('');
  const chat = await streamed(fixture, CHAT);
  expect(parse((await send(fixture, after(chat.run))).text)).toEqual([
    { id: String(fixture.book.events.length), event: null, data: '[DONE]', comment: null },
  ]);
});

test('another key may not follow a run', async () => {
  const fixture = await openFixture();
  const { run } = await streamed(fixture, MESSAGES);
  const got = await send(fixture, { path: `/openapi/v1/runs/${run.id}/stream`, as: 'second-key' });
  expect([got.status, got.json]).toMatchObject([403, { error: { type: 'permission_error' } }]);
});

test('many readers of one event share one rendering of it', async () => {
  const fixture = await openFixture({ play: () => {} });
  const readers = await Promise.all([1, 2, 3].map(() => live(fixture, MESSAGES, START)));
  const run = fixture.book.runs[0]!;
  const rejoined = await live(fixture, `/openapi/v1/runs/${run.id}/stream`);
  expect((await rejoined.next())!.event).toBe('message_start');
  let reads = 0;
  const payload = Object.defineProperty({ index: 0 } as { index: number; text: string }, 'text', {
    enumerable: true,
    get: () => {
      reads += 1;
      return 'shared';
    },
  });
  const second = await live(fixture, `/openapi/v1/runs/${run.id}/stream`);
  await second.next();
  fixture.book.commit(run, [{ type: 'content_block_delta', payload }]);
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

test('a ping comes after ten silent seconds, not before, and carries the last id', {
  tags: ['§4.3-stream', 'C10-pings'],
}, async () => {
  const { clock, pass } = handClock();
  const fixture = await openFixture({ play: () => {}, parts: { clock } });
  const messages = await live(fixture, MESSAGES, START);
  await messages.next();
  const run = fixture.book.runs[0]!;
  pass(9_000);
  fixture.book.commit(run, [{ type: 'content_block_start', payload: { index: 0 } }]);
  expect((await messages.next())!.event).toBe('content_block_start');
  pass(9_000); // 18 s after the start, 9 s after the last event
  fixture.book.commit(run, [{ type: 'content_block_stop', payload: { index: 0 } }]);
  expect((await messages.next())!.event).toBe('content_block_stop');
  pass(10_000);
  expect(await messages.next()).toEqual({ id: '3', event: 'ping', data: '{"type":"ping"}', comment: null });
});

test('the ping of a chat stream is a comment', { tags: ['C10-pings'] }, async () => {
  const { clock, pass } = handClock();
  const fixture = await openFixture({ play: () => {}, parts: { clock } });
  const chat = await live(fixture, CHAT, START);
  await chat.next();
  pass(10_000);
  expect(await chat.next()).toEqual({ id: null, event: null, data: null, comment: 'ping' });
});

test('a client that leaves closes its stream and leaves the run alone', async () => {
  const { clock, waiting } = handClock();
  const fixture = await openFixture({ play: () => {}, parts: { clock } });
  const stream = await live(fixture, MESSAGES, START);
  await stream.next();
  // Its pings, and the watch on its key.
  expect(waiting()).toBe(2);
  stream.leave();
  await waitFor(() => waiting() === 0);
  finish(fixture.book, fixture.book.runs[0]!, 'Unheard.');
  expect(fixture.book.runs[0]!.status).toBe('completed');
});

test('draining ends every open stream with "server restarting", and the rest can be rejoined', async () => {
  const fixture = await openFixture({ play: () => {} });
  const messages = await live(fixture, MESSAGES, START);
  const chat = await live(fixture, CHAT, START);
  await messages.next();
  await chat.next();
  fixture.drain.abort();
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
  const fixture = await openFixture({ play: () => {} });
  const { path, count } = { path: MESSAGES, count: 4_000 };
  const body = JSON.stringify({ ...TURN, stream: true });
  let backlog = () => 0;
  fixture.tcp.prependListener('request', (_req, res: ServerResponse) => {
    backlog = () => res.writableLength;
  });
  const socket = connect(fixture.port, '127.0.0.1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.pause();
  const run = await waitFor(() => fixture.book.runs[0]);
  const text = 'x'.repeat(4_000);
  for (let i = 0; i < count; i += 1)
    fixture.book.commit(run, [{ type: 'content_block_delta', payload: { index: i, text } }]);
  fixture.book.commit(run, [{ type: 'run.done', payload: { status: 'completed' } }]);
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
  const fixture = await openFixture({ play: () => {}, parts: { clock } });
  const body = JSON.stringify({ ...TURN, stream: true });
  const socket = connect(fixture.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST ${MESSAGES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const run = await waitFor(() => fixture.book.runs[0]);
  const open = () => new Promise<number>((resolve) => fixture.tcp.getConnections((_error, count) => resolve(count)));
  fixture.book.commit(run, [{ type: 'content_block_delta', payload: { index: 0, text: 'x'.repeat(16_000_000) } }]);
  await waitFor(() => fixture.lines.some(({ msg }) => msg === 'request'));
  pass(50_000);
  expect(await open()).toBe(1);
  pass(10_000);
  await waitFor(async () => (await open()) === 0);
  socket.destroy();
});
