// Threads of one task each: whatever becomes of a thread, its task has an end, and the next one is done.
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeOneShotHost, type OneShotHost, type OneShotParts } from '../../src/threads/one-shot.ts';
import { threadFile } from '../../src/threads/thread-file.ts';
import { REFUSAL, refuseThreads } from '../support/threads.ts';
import type { Deed } from './one-shot-main.ts';

type Host = OneShotHost<Deed, string>;

const DEADLINE_MS = 60_000;

function open(parts: Partial<OneShotParts> = {}): Host {
  const file = threadFile('./one-shot-main.ts', import.meta.url);
  const host: Host = makeOneShotHost({ clock: systemClock, file, memoryMb: 64, maxAtOnce: 2, ...parts });
  onTestFinished(() => host.stop());
  return host;
}

const run = (host: Host, task: Deed, signal?: AbortSignal) =>
  host.run(async () => ({ task }), { deadlineMs: DEADLINE_MS, ...(signal && { signal }) });

const DONE = { kind: 'done', value: 'answer of the daemon' };

test('a task is done on a thread', async () => {
  expect(await run(open(), 'answer')).toEqual(DONE);
});

test('a thread has the environment that it was given', async () => {
  expect(await run(open({ env: { NAME: 'another' } }), 'answer')).toEqual({ kind: 'done', value: 'answer of another' });
});

test('bytes that are transferred leave the daemon', async () => {
  const bytes = new Uint8Array(8);
  const end = await open().run(async () => ({ task: 'answer', transfer: [bytes.buffer] }), { deadlineMs: DEADLINE_MS });
  expect(end).toEqual(DONE);
  expect(bytes.byteLength).toBe(0);
});

test.each(['hang', 'spin'] as const)('a task that never ends is timed out: %s', async (deed) => {
  const host = open();
  expect(await host.run(async () => ({ task: deed }), { deadlineMs: 500 })).toEqual({ kind: 'timeout' });
  expect(await run(host, 'answer')).toEqual(DONE);
});

test('a task that takes more CPU time than it may is timed out', async () => {
  expect(await run(open({ maxCpuMs: 200 }), 'spin')).toEqual({ kind: 'timeout' });
});

test('a task that fills its heap is out of memory, and the daemon is not', async () => {
  const host = open();
  const error = expect.objectContaining({ code: 'ERR_WORKER_OUT_OF_MEMORY' }) as Error;
  expect(await run(host, 'eat')).toEqual({ kind: 'out_of_memory', error });
  expect(await run(host, 'answer')).toEqual(DONE);
});

test('bytes outside the heap have a limit of their own', async () => {
  expect(await run(open({ maxExternalBytes: 32 * 1_048_576 }), 'eat-bytes')).toEqual({ kind: 'out_of_memory' });
});

test('a task that throws has crashed, with its error', async () => {
  const error = expect.objectContaining({ name: 'TypeError', message: 'the task is impossible' }) as Error;
  expect(await run(open(), 'throw')).toEqual({ kind: 'crashed', error });
});

test('a task whose thread exits without an answer has crashed', async () => {
  expect(await run(open(), 'exit')).toEqual({ kind: 'crashed' });
});

test('a file that is not there is a crash', async () => {
  const file = threadFile('./nothing.ts', import.meta.url);
  expect(await run(open({ file }), 'answer')).toMatchObject({ kind: 'crashed' });
});

test('a task whose thread the system refuses is not started, and the next one is done', async () => {
  const host = open({ maxAtOnce: 1 });
  const admit = refuseThreads();
  expect(await run(host, 'answer')).toEqual({ kind: 'not_started', error: new Error(REFUSAL) });
  admit();
  expect(await run(host, 'answer')).toEqual(DONE);
});

test('a task ends with its signal, before it starts and in progress', async () => {
  const host = open();
  const unprepared = async () => Promise.reject(new Error('prepared for nothing'));
  const before = await host.run(unprepared, { deadlineMs: DEADLINE_MS, signal: AbortSignal.abort() });
  expect(before).toEqual({ kind: 'cancelled' });
  const leaving = new AbortController();
  const cut = run(host, 'hang', leaving.signal);
  await new Promise(setImmediate);
  leaving.abort();
  expect(await cut).toEqual({ kind: 'cancelled' });
});

test('tasks over the number at once wait, and over the number of all are refused', async () => {
  const host = open({ maxAtOnce: 1, maxTasks: 2 });
  const leaving = new AbortController();
  const first = run(host, 'hang', leaving.signal);
  let prepared = false;
  const second = host.run(
    async () => {
      prepared = true;
      return { task: 'answer' };
    },
    { deadlineMs: DEADLINE_MS },
  );
  expect(await run(host, 'answer')).toEqual({ kind: 'busy' });
  expect(prepared).toBe(false);
  leaving.abort();
  expect(await first).toEqual({ kind: 'cancelled' });
  expect(await second).toEqual(DONE);
  expect(await run(host, 'answer')).toEqual(DONE);
});

test('a task that cannot be prepared rejects, and gives its place to the next', async () => {
  const host = open({ maxAtOnce: 1 });
  const gone = host.run(async () => Promise.reject(new Error('gone')), { deadlineMs: DEADLINE_MS });
  await expect(gone).rejects.toThrow('gone');
  expect(await run(host, 'answer')).toEqual(DONE);
});

test('a stop ends tasks in progress and waiting ones, and none starts after it', async () => {
  const STOPPED = { kind: 'stopped' };
  const host = open();
  let ended = 0;
  const ends = ['spin', 'hang', 'answer'].map((deed) => run(host, deed as Deed).finally(() => (ended += 1)));
  await new Promise(setImmediate);
  await host.stop();
  // What follows on their ends, without waiting for any.
  await new Promise(setImmediate);
  expect(ended).toBe(3);
  expect(await Promise.all(ends)).toEqual([STOPPED, STOPPED, STOPPED]);
  expect(await run(host, 'answer')).toEqual(STOPPED);
  await host.stop();
});
