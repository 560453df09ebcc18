// How signals leave a thread: what is streamed in one message for all runs, what is urgent at once.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeOutbox, WINDOW_MS } from '../../../src/agent/port/outbox.ts';
import type { Message, Signal } from '../../../src/agent/port/protocol.ts';

// Time passes only where a test says so: a window of milliseconds is over at any moment of a busy machine.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const passWindow = () => void vi.advanceTimersByTime(WINDOW_MS);

const text = (words: string, index = 0): Signal => ({ t: 'text', index, text: words });
const BLOCK: Signal = { t: 'block-start', index: 0 };
const LOG: Signal = { t: 'log', level: 'info', message: 'x', facts: {} };
const WANTED: Signal = { t: 'permit-wanted', model: 'm' };

function makeThread(isTaken: () => boolean = () => true, windowMs?: number) {
  const sent: Message[] = [];
  return { sent, ...makeOutbox((message) => sent.push(message), isTaken, windowMs) };
}

test('the first text after a quiet time leaves in the same turn, with its block and the text of other runs', async () => {
  const { sent, add } = makeThread();
  add(1, BLOCK);
  add(1, text('Hi'));
  add(2, text('a'));
  add(2, text('b'));
  await turn();
  expect(sent).toEqual([
    [
      { run: 1, signals: [BLOCK, text('Hi')] },
      { run: 2, signals: [text('ab')] },
    ],
  ]);
});

test('text that follows closely waits and is merged, and leaves though nothing follows it', {
  tags: ['G8'],
}, async () => {
  const { sent, add } = makeThread();
  add(1, text('a'));
  await turn();
  for (const word of ['b', 'c']) add(1, text(word));
  add(1, text('d', 1));
  await turn();
  expect(sent).toHaveLength(1);
  passWindow();
  expect(sent.slice(1)).toEqual([[{ run: 1, signals: [text('bc'), text('d', 1)] }]]);
});

test('with a longer window the first text leaves at once all the same, and the next waits for what is urgent', async () => {
  const { sent, add } = makeThread(() => true, 3_600_000);
  add(1, text('a'));
  await turn();
  expect(sent).toHaveLength(1);
  add(1, text('b'));
  add(2, text('other'));
  for (let at = 0; at < 20; at += 1) await turn();
  expect(sent).toHaveLength(1);
  add(1, WANTED);
  await turn();
  expect(sent[1]).toEqual([{ run: 1, signals: [text('b'), WANTED] }]);
});

test('what is urgent takes along what waits of its run, and leaves what others stream', async () => {
  const { sent, add } = makeThread();
  add(1, text('a'));
  await turn();
  add(1, text('b'));
  add(2, text('other'));
  add(1, WANTED);
  add(1, LOG);
  await turn();
  expect(sent.slice(1)).toEqual([[{ run: 1, signals: [text('b'), WANTED, LOG] }]]);
  add(1, text('c'));
  passWindow();
  expect(sent.slice(2)).toEqual([
    [
      { run: 2, signals: [text('other')] },
      { run: 1, signals: [text('c')] },
    ],
  ]);
});

test('while the main thread has not taken the last message, text grows instead of leaving', async () => {
  let isTaken = true;
  const { sent, add } = makeThread(() => isTaken);
  add(1, text('a'));
  await turn();
  isTaken = false;
  add(1, text('b'));
  passWindow();
  expect(sent).toHaveLength(1);
  add(1, text('c'));
  isTaken = true;
  passWindow();
  expect(sent.slice(1)).toEqual([[{ run: 1, signals: [text('bc')] }]]);
});

test('text that nobody takes leaves all the same, in the end', async () => {
  const { sent, add } = makeThread(() => false);
  add(1, text('a'));
  await turn();
  add(1, text('b'));
  vi.advanceTimersByTime(3_600_000);
  expect(sent).toHaveLength(2);
});

test('a batch never grows beyond 64 signals', () => {
  const { sent, add, flush } = makeThread();
  for (let index = 0; index < 200; index += 1) add(1, text('x', index));
  flush(1);
  expect(sent.map((message) => message.map(({ signals }) => signals.length))).toEqual([[64], [64], [64], [8]]);
});
