// A thread that is kept: it serves many requests, and its death costs those it had, and no others.
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { type Request, type ResidentParts, ResidentThread } from '../../src/workers/resident.ts';
import type { TaskEnd } from '../../src/workers/task-end.ts';
import { workerFile } from '../../src/workers/worker-file.ts';
import { REFUSAL, refuseThreads } from '../support/workers.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';
import type { Answer, Deed } from './resident-main.ts';

type TheOrder = Request<Deed, Answer, Deed>;

const IDLE_MS = 1_000;
const OUT_OF_MEMORY = expect.objectContaining({ code: 'ERR_WORKER_OUT_OF_MEMORY' }) as Error;
const IMPOSSIBLE = expect.objectContaining({ name: 'TypeError', message: 'the request is impossible' }) as Error;

function open(parts: Partial<ResidentParts> = {}) {
  const file = workerFile('./resident-main.ts', import.meta.url);
  const errors: Error[] = [];
  /** The threads that answered, each once. */
  const threads = new Set<number>();
  const thread = new ResidentThread<Deed, Answer>({
    clock: systemClock,
    file,
    heapMb: 64,
    idleMs: IDLE_MS,
    maxAtOnce: 2,
    failed: (error) => errors.push(error),
    ...parts,
  });
  onTestFinished(() => thread.stop());

  /** Sends messages; the request ends with the answer to `answer` or `cancel`. `begun` resolves with the first answer. */
  function request(messages: Iterable<Deed>, more: Partial<TheOrder> = {}) {
    const first = Promise.withResolvers<void>();
    const onMessage: TheOrder['onMessage'] = ({ said, threadId }, post) => {
      threads.add(threadId);
      first.resolve();
      if (said === 'ask') post('answer');
      return said === 'answer' || said === 'cancel' ? { value: said } : undefined;
    };
    const end = thread.request<Deed>({ messages, onMessage, deadlineMs: 60_000, late: () => undefined, ...more });
    return { end, begun: first.promise };
  }

  const answer = async (): Promise<TaskEnd<Deed>> => request(['answer']).end;
  return { thread, request, answer, errors, threads };
}

const DONE = { kind: 'done', value: 'answer' };

test('one thread serves many requests', async () => {
  const { answer, threads } = open();
  expect(await Promise.all([answer(), answer(), answer()])).toEqual([DONE, DONE, DONE]);
  expect(await answer()).toEqual(DONE);
  expect(threads.size).toBe(1);
});

test('a request can have many messages, and be asked back', async () => {
  const { request } = open();
  expect(await request(['wait', 'wait', 'ask']).end).toEqual(DONE);
});

test('requests over the number at once wait until one has ended', async () => {
  const { request, answer } = open({ maxAtOnce: 1 });
  const leaving = new AbortController();
  const first = request(['wait'], { cancel: { signal: leaving.signal, message: 'cancel' } });
  await first.begun;
  const second = answer();
  leaving.abort();
  expect(await first.end).toEqual({ kind: 'done', value: 'cancel' });
  expect(await second).toEqual(DONE);
});

test('long requests leave a place to the others, which pass those that wait', async () => {
  const { request, answer } = open({ maxAtOnce: 2, maxLong: 1 });
  const leaving = new AbortController();
  const cancel = { signal: leaving.signal, message: 'cancel' } as const;
  const first = request(['wait'], { isLong: true, cancel });
  await first.begun;
  let isSecondOver = false;
  const second = request(['answer'], { isLong: true }).end.finally(() => (isSecondOver = true));
  expect(await Promise.all([answer(), answer()])).toEqual([DONE, DONE]);
  expect(isSecondOver).toBe(false);
  leaving.abort();
  expect(await first.end).toEqual({ kind: 'done', value: 'cancel' });
  expect(await second).toEqual(DONE);
});

test('requests over the number of all are refused', async () => {
  const { answer } = open({ maxAtOnce: 1, maxRequests: 3 });
  expect(await Promise.all(Array.from({ length: 4 }, answer))).toEqual([DONE, DONE, DONE, { kind: 'busy' }]);
  expect(await answer()).toEqual(DONE);
});

test.each([
  ['throws', 'throw', { kind: 'crashed', error: IMPOSSIBLE }],
  ['exits', 'exit', { kind: 'crashed' }],
  ['fills its heap', 'eat', { kind: 'out_of_memory', error: OUT_OF_MEMORY }],
] as const)('a thread that %s under a request fails it, and another serves the next', async (_, deed, failure) => {
  const { request, answer, errors, threads } = open({ maxAtOnce: 1 });
  const [lost, next] = [request([deed]).end, answer()];
  expect(await lost).toEqual(failure);
  expect(await next).toEqual(DONE);
  expect(errors).toEqual('error' in failure ? [failure.error] : []);
  expect(threads.size).toBe(2);
});

test("a request that never ends is timed out, and the thread's other requests are lost", async () => {
  const { request, answer } = open();
  const beside = request(['wait']);
  await beside.begun;
  let late = 0;
  const hung = request(['spin'], { deadlineMs: 100, late: () => (late += 1) });
  const next = answer();
  expect(await hung.end).toEqual({ kind: 'timeout' });
  expect(late).toBe(1);
  expect(await beside.end).toEqual({ kind: 'crashed' });
  expect(await next).toEqual(DONE);
});

test('a request that was cancelled before does not start, and a waiting one leaves', async () => {
  const { request } = open({ maxAtOnce: 1 });
  const first = request(['wait']);
  await first.begun;
  const before = request(['wait'], { cancel: { signal: AbortSignal.abort(), message: 'cancel' } });
  expect(await before.end).toEqual({ kind: 'cancelled' });
  const leaving = new AbortController();
  const waiting = request(['wait'], { cancel: { signal: leaving.signal, message: 'cancel' } });
  leaving.abort();
  expect(await waiting.end).toEqual({ kind: 'cancelled' });
});

test('a request that is cancelled while it is sent is cancelled again when the thread has all of it', async () => {
  const { request } = open();
  const leaving = new AbortController();
  const said: Deed[] = [];
  function* messages(): Iterable<Deed> {
    yield 'wait';
    leaving.abort();
    yield 'wait';
  }
  const onMessage: TheOrder['onMessage'] = (answer) => {
    said.push(answer.said);
    return said.filter((one) => one === 'cancel').length === 2 ? { value: 'cancel' } : undefined;
  };
  const cancelled = request(messages(), { onMessage, cancel: { signal: leaving.signal, message: 'cancel' } });
  expect(await cancelled.end).toEqual({ kind: 'done', value: 'cancel' });
  expect(said).toEqual(['wait', 'cancel', 'wait', 'cancel']);
});

test('a thread without requests ends after a while, and another serves the next', async () => {
  const clock = fakeClock();
  const { answer, threads } = open({ clock });
  for (let i = 0; i < 3; i += 1) {
    expect(await answer()).toEqual(DONE);
    clock.advance(IDLE_MS - 1);
  }
  expect(threads.size).toBe(1);
  clock.advance(1);
  expect(await answer()).toEqual(DONE);
  expect(threads.size).toBe(2);
});

test('a request that has ended is sent nothing more, and its deadline costs nothing', async () => {
  const clock = fakeClock();
  const { request, answer, threads } = open({ clock, idleMs: Infinity });
  let isLeft = false;
  function* messages(): Iterable<Deed> {
    try {
      yield 'answer';
      for (;;) yield 'wait';
    } finally {
      isLeft = true;
    }
  }
  expect(await request(messages()).end).toEqual(DONE);
  expect(await request(['ask']).end).toEqual(DONE);
  await waitFor(() => isLeft);
  clock.advance(60_000);
  expect(await answer()).toEqual(DONE);
  expect(threads.size).toBe(1);
});

test('a thread that cannot start fails all waiting requests, and is retried for the next', async () => {
  const FAILED = { kind: 'not_started' };
  const { answer, errors } = open({ file: workerFile('./nothing.ts', import.meta.url) });
  expect(await Promise.all([answer(), answer(), answer()])).toEqual([FAILED, FAILED, FAILED]);
  expect(await answer()).toEqual(FAILED);
  expect(errors).toHaveLength(2);
});

test('requests whose thread the system refuses are not started, and the next one is executed', async () => {
  const { answer, errors } = open();
  const admit = refuseThreads();
  expect(await answer()).toEqual({ kind: 'not_started' });
  expect(errors).toEqual([new Error(REFUSAL)]);
  admit();
  expect(await answer()).toEqual(DONE);
});

test('a request that waits while its thread dies is not started when the system refuses another', async () => {
  const { request, answer, errors } = open({ maxAtOnce: 1 });
  const lost = request(['wait', 'exit']);
  await lost.begun;
  // The end of a thread can follow its last message at once.
  refuseThreads();
  const next = answer();
  expect(await lost.end).toEqual({ kind: 'crashed' });
  expect(await next).toEqual({ kind: 'not_started' });
  expect(errors).toEqual([new Error(REFUSAL)]);
});

test('a stop ends requests in progress and waiting ones, and none starts after it', async () => {
  const STOPPED = { kind: 'stopped' };
  const { thread, request, answer } = open({ maxAtOnce: 1 });
  const atWork = request(['spin']);
  await atWork.begun;
  const ends = Promise.all([atWork.end, answer()]);
  await thread.stop();
  expect(await ends).toEqual([STOPPED, STOPPED]);
  expect(await answer()).toEqual(STOPPED);
  await thread.stop();
});
