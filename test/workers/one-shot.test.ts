// Tasks that have a thread or a process each: whatever becomes of it, the task has an end, and the next one is done.
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { inProcess } from '../../src/workers/in-process.ts';
import { makeOneShotHost, type OneShotParts, type Start } from '../../src/workers/one-shot.ts';
import { onThread } from '../../src/workers/on-thread.ts';
import { workerFile } from '../../src/workers/worker-file.ts';
import { refuseProcesses, refuseThreads } from '../support/workers.ts';
import type { Deed } from './deeds.ts';
import type { Answered } from './in-process-main.ts';

const DEADLINE_MS = 60_000;

const refusals: Readonly<Record<string, () => () => void>> = { thread: refuseThreads, process: refuseProcesses };
const starts: Readonly<Record<string, (file?: string) => Start<Deed>>> = {
  thread: (file = './on-thread-main.ts') =>
    onThread({ file: workerFile(file as `${string}.ts`, import.meta.url), heapMb: 64 }),
  process: (file = './in-process-main.ts') => {
    const url = workerFile(file as `${string}.ts`, import.meta.url);
    const start = inProcess<Deed>({ file: url, heapMb: 64, memoryMb: 512, maxCpuMs: 60_000 });
    return (task, end) => start({ task, bytes: new Uint8Array() }, end);
  },
};

describe.each(Object.entries(starts))('a task on its own %s', (name, makeStart) => {
  const refuse = refusals[name]!;

  function open(parts: Partial<OneShotParts<Deed>> = {}) {
    const host = makeOneShotHost<Deed, string | Answered>({
      clock: systemClock,
      start: makeStart(),
      maxAtOnce: 2,
      ...parts,
    });
    onTestFinished(() => host.stop());
    const run = async (
      task: Deed,
      { deadlineMs = DEADLINE_MS, signal }: { deadlineMs?: number; signal?: AbortSignal } = {},
    ) => {
      const end = await host.run(async () => task, { deadlineMs, ...(signal && { signal }) });
      if (end.kind !== 'done') return end;
      return { kind: 'done', value: typeof end.value === 'string' ? end.value : end.value.said };
    };
    return { ...host, run, prepare: host.run };
  }

  const DONE = { kind: 'done', value: 'answer' };

  test('is done', async () => {
    expect(await open().run('answer')).toEqual(DONE);
  });

  test.each(['hang', 'spin'] as const)('is timed out when it never ends: %s', async (deed) => {
    const { run } = open();
    expect(await run(deed, { deadlineMs: 1_000 })).toEqual({ kind: 'timeout' });
    expect(await run('answer')).toEqual(DONE);
  });

  test('is out of memory when it fills its heap, and the daemon is not', async () => {
    const { run } = open();
    expect(await run('eat')).toMatchObject({ kind: 'out_of_memory' });
    expect(await run('answer')).toEqual(DONE);
  });

  test('has crashed when it throws, with its error', async () => {
    const error = expect.objectContaining({ name: 'TypeError', message: 'the task is impossible' }) as Error;
    expect(await open().run('throw')).toEqual({ kind: 'crashed', error });
  });

  test('has crashed when something throws that it did not wait for', async () => {
    const error = expect.objectContaining({ message: expect.stringContaining('nobody waits for this') }) as Error;
    expect(await open().run('abandon')).toEqual({ kind: 'crashed', error });
  });

  test('has crashed when it exits without an answer', async () => {
    const error = new Error('it exited with 3, without an answer');
    expect(await open().run('exit')).toEqual({ kind: 'crashed', error });
  });

  test('has crashed when it waits for nothing', async () => {
    expect(await open().run('forget')).toMatchObject({ kind: 'crashed' });
  });

  test('has crashed when its file is not there', async () => {
    expect(await open({ start: makeStart('./nothing.ts') }).run('answer')).toMatchObject({ kind: 'crashed' });
  });

  test('is not started when the system refuses it, and the next one is done', async () => {
    const { run } = open({ maxAtOnce: 1 });
    const admit = refuse();
    expect(await run('answer')).toMatchObject({ kind: 'not_started', error: expect.any(Error) as Error });
    admit();
    expect(await run('answer')).toEqual(DONE);
  });

  test('ends with its signal, before it starts and in progress', async () => {
    const { run, prepare } = open();
    const unprepared = async () => Promise.reject(new Error('prepared for nothing'));
    const before = await prepare(unprepared, { deadlineMs: DEADLINE_MS, signal: AbortSignal.abort() });
    expect(before).toEqual({ kind: 'cancelled' });
    const leaving = new AbortController();
    const cut = run('hang', { signal: leaving.signal });
    await new Promise(setImmediate);
    leaving.abort();
    expect(await cut).toEqual({ kind: 'cancelled' });
  });

  test('waits over the number at once, and is refused over the number of all', async () => {
    const { run, prepare } = open({ maxAtOnce: 1, maxTasks: 2 });
    const leaving = new AbortController();
    const first = run('hang', { signal: leaving.signal });
    let prepared = false;
    const second = prepare(
      async () => {
        prepared = true;
        return 'answer';
      },
      { deadlineMs: DEADLINE_MS },
    );
    expect(await run('answer')).toEqual({ kind: 'busy' });
    expect(prepared).toBe(false);
    leaving.abort();
    expect(await first).toEqual({ kind: 'cancelled' });
    expect(await second).toMatchObject({ kind: 'done' });
    expect(await run('answer')).toEqual(DONE);
  });

  test('rejects when it cannot be prepared, and gives its place to the next', async () => {
    const { run, prepare } = open({ maxAtOnce: 1 });
    const gone = prepare(async () => Promise.reject(new Error('gone')), { deadlineMs: DEADLINE_MS });
    await expect(gone).rejects.toThrow('gone');
    expect(await run('answer')).toEqual(DONE);
  });

  test('is stopped with its host, in progress and waiting, and none starts after it', async () => {
    const STOPPED = { kind: 'stopped' };
    const { run, stop } = open();
    let ended = 0;
    const ends = (['spin', 'hang', 'answer'] as const).map((deed) => run(deed).finally(() => (ended += 1)));
    await new Promise(setImmediate);
    await stop();
    // What follows on their ends, without waiting for any.
    await new Promise(setImmediate);
    expect(ended).toBe(3);
    expect(await Promise.all(ends)).toEqual([STOPPED, STOPPED, STOPPED]);
    expect(await run('answer')).toEqual(STOPPED);
    await stop();
  });
});
