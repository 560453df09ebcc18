import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { makeWorkerPool, type Place, type WorkerPool } from '../../../src/execution/executor/worker-pool.ts';
import { makeLog } from '../../../src/log/log.ts';
import { REFUSAL, refuseThreads, replaceThreads, type WorkerClass } from '../../support/threads.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const SIZE = { threads: 1, runsPerThread: 4, memoryMb: 256, hangTimeoutMs: 30_000 };

function housedPool(size = SIZE, clock: Clock = systemClock) {
  const pool = makeWorkerPool({
    size,
    clock,
    log: makeLog({ level: 'fatal' }),
    budgets: new Int32Array(new SharedArrayBuffer(4)),
  });
  onTestFinished(() => pool.destroy());
  return pool;
}

const DEAF = { signals: () => undefined, garbled: () => undefined };

/** A brief that the worker refuses at once: enough to occupy a slot and give it back. */
const NONSENSE = { runId: 'r', tools: [] } as never;

test('a new size takes effect at once, and the threads of the old one end when their runs have', async () => {
  const pool = housedPool();
  expect(pool.slots()).toBe(4);
  const ended = new Promise((resolve) => {
    pool.take('r', 0).start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
  pool.resize({ ...SIZE, threads: 2, runsPerThread: 8 });
  expect([pool.slots(), pool.load().busy]).toEqual([16, 1]);
  await ended;
  await waitFor(() => pool.load().busy === 0 && pool.load().threads === 0);
});

test('there is no thread before the first run, and one for a burst that it has room for', async () => {
  const pool = housedPool({ ...SIZE, threads: 4 });
  expect(pool.load()).toEqual({ threads: 0, busy: 0 });
  const ends = ['a', 'b', 'c', 'd'].map((name) => {
    return new Promise((resolve) => {
      const { start } = pool.take(name, 0);
      start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
    });
  });
  expect(pool.load()).toEqual({ threads: 1, busy: 4 });
  await Promise.all(ends);
  expect(pool.load()).toEqual({ threads: 1, busy: 0 });
});

test('a thread ends after a minute without runs, and the next run starts another', async () => {
  const clock = fakeClock();
  const pool = housedPool(SIZE, clock);
  const begin = async () => new Promise((ended) => void pool.take('r', 0).start(NONSENSE, { ...DEAF, ended }));
  await begin();
  clock.advance(59_000);
  await begin();
  clock.advance(59_000);
  expect(pool.load().threads).toBe(1);
  clock.advance(1_000);
  await waitFor(() => pool.load().threads === 0);
  expect(await begin()).toMatchObject({ kind: 'done' });
});

/** Lets time pass until something has ended. */
async function inTime<T>(clock: ReturnType<typeof fakeClock>, ended: Promise<T>): Promise<T> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  await waitFor(() => {
    clock.advance(1_000);
    return isOver;
  });
  return ended;
}

test('the runs of a thread that dies before it has them are lost a while later, and none is charged, however often', async () => {
  const clock = fakeClock();
  const pool = housedPool({ ...SIZE, memoryMb: 3 }, clock);
  for (const _ of ['once', 'again', 'and again']) {
    const place = pool.take('r', 0);
    expect(place.takesNoSlot).toBe(false);
    place.leave();
    const startedAt = clock.monotonic();
    const end = await inTime(clock, startIn(pool, 'r'));
    expect(end).toMatchObject({
      kind: 'lost',
      wasWaiting: false,
      isCharged: false,
      why: expect.stringMatching(/memory/i),
    });
    expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(5_000);
  }
});

const startIn = (pool: WorkerPool, name: string) =>
  new Promise((ended) => void pool.take(name, 0).start(NONSENSE, { ...DEAF, ended }));

test('the runs of a thread that the system refuses are lost a while later, and none is charged', async () => {
  const clock = fakeClock();
  const pool = housedPool(SIZE, clock);
  const admit = refuseThreads();
  for (const _ of ['once', 'again']) {
    const lost = startIn(pool, 'a');
    expect(pool.load().busy).toBe(1);
    clock.advance(5_000);
    expect(await lost).toMatchObject({ kind: 'lost', why: REFUSAL, isCharged: false });
  }
  admit();
  const place = pool.take('a', 0);
  expect(place.takesNoSlot).toBe(false);
  place.leave();
  expect(await startIn(pool, 'b')).toMatchObject({ kind: 'done' });
  expect(pool.load()).toEqual({ threads: 1, busy: 0 });
});

test('a thread that the system refuses gets no runs while another has room', async () => {
  const clock = fakeClock();
  const pool = housedPool({ ...SIZE, threads: 2, runsPerThread: 1 }, clock);
  const first = startIn(pool, 'a');
  const admit = refuseThreads();
  const refused = startIn(pool, 'b');
  expect(await first).toMatchObject({ kind: 'done' });
  expect(await startIn(pool, 'c')).toMatchObject({ kind: 'done' });
  admit();
  expect(await inTime(clock, refused)).toMatchObject({ kind: 'lost', isCharged: false });
});

test('a thread that dies while it starts harms no run of another that starts', async () => {
  const clock = fakeClock();
  const pool = housedPool({ ...SIZE, threads: 2, runsPerThread: 1 }, clock);
  let started = 0;
  replaceThreads(
    (real) =>
      class extends real {
        constructor(file: string | URL, options: ConstructorParameters<WorkerClass>[1]) {
          started += 1;
          super(file, { ...options, ...(started === 1 && { resourceLimits: { maxOldGenerationSizeMb: 3 } }) });
        }
      },
  );
  const [dying, healthy] = [startIn(pool, 'a'), startIn(pool, 'b')];
  expect(await healthy).toMatchObject({ kind: 'done' });
  expect(await inTime(clock, dying)).toMatchObject({ kind: 'lost', wasWaiting: false });
});

test('the same size changes nothing', () => {
  const pool = housedPool();
  const { threads } = pool.load();
  pool.resize({ ...SIZE });
  expect(pool.load().threads).toBe(threads);
});

/** Has a run lost while it was at work: it can't be handed over. */
async function makeSuspect(pool: WorkerPool, runId: string): Promise<void> {
  const brief = { runId, tools: () => undefined } as never;
  await new Promise((resolve) => {
    pool.take(runId, 0).start(brief, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
}

/** The names of the places that are ready by now. */
async function ready(places: Readonly<Record<string, Place>>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, place] of Object.entries(places)) void place.ready.then(() => names.push(name));
  await nextTurn();
  return names;
}

test('suspects wait for their places outside the slots, in order; one that leaves the line is skipped', async () => {
  const pool = housedPool();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of names) await makeSuspect(pool, name);
  const places = Object.fromEntries(names.map((name) => [name, pool.take(name, 0)]));
  const common = pool.take('other', 0);
  expect(Object.values(places).every(({ takesNoSlot }) => takesNoSlot)).toBe(true);
  expect(common.takesNoSlot).toBe(false);
  expect(await ready({ ...places, common })).toEqual(['a', 'b', 'c', 'd', 'common']);
  expect(pool.withoutSlot()).toBe(7);
  const { b, e, f, g } = places as Record<string, Place>;
  e!.leave();
  b!.leave();
  b!.leave();
  expect(await ready({ f: f!, g: g! })).toEqual(['f']);
  expect(pool.withoutSlot()).toBe(5);
});

test('the threads of suspects end with the last of them', async () => {
  const pool = housedPool();
  await makeSuspect(pool, 'r');
  const place = pool.take('r', 0);
  await new Promise((resolve) => {
    place.start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
  expect(pool.load().threads).toBe(2);
  place.leave();
  expect(pool.load().threads).toBe(1);
});

describe('turns that take more than their share of a thread', () => {
  const MEGABYTE = 1024 * 1024;
  /** A share has 2 MB, and a thread 64. */
  const size = { ...SIZE, runsPerThread: 32, memoryMb: 512 };
  const take = (pool: WorkerPool, count: number, bytes: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, pool.take(`r${i}`, bytes)]));

  test('are together on one thread for as many bytes as it has room for; the others wait, and small ones never', async () => {
    const pool = housedPool(size);
    const large = take(pool, 32, 4 * MEGABYTE);
    const small = pool.take('small', 2 * MEGABYTE);
    expect(small.takesNoSlot).toBe(false);
    expect(await ready({ ...large, small })).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'small']);
    expect(pool.withoutSlot()).toBe(32);
    for (const name of ['3', '10']) large[name]!.leave();
    expect(await ready({ '11': large['11']!, '12': large['12']! })).toEqual(['11']);
  });

  test('are carried out one after another when each outweighs the room', async () => {
    const pool = housedPool(size);
    const places = take(pool, 3, 100 * MEGABYTE);
    for (const name of ['0', '1', '2']) {
      expect(await ready(places)).toEqual([...Array(Number(name) + 1).keys()].map(String));
      places[name]!.leave();
    }
  });

  test('have a thread of their own, which waits a minute for another of them', async () => {
    const clock = fakeClock();
    const pool = housedPool(size, clock);
    const begin = async (bytes: number) => {
      const place = pool.take('r', bytes);
      await new Promise((ended) => void place.start(NONSENSE, { ...DEAF, ended }));
      place.leave();
    };
    await begin(4 * MEGABYTE);
    clock.advance(59_000);
    await begin(0);
    expect(pool.load().threads).toBe(2);
    await begin(4 * MEGABYTE);
    expect(pool.load().threads).toBe(2);
    clock.advance(60_000);
    await waitFor(() => pool.load().threads === 0);
  });

  test('have another thread once its size has changed', async () => {
    const pool = housedPool(size);
    const begin = async () => {
      const place = pool.take('r', 4 * MEGABYTE);
      await new Promise((ended) => void place.start(NONSENSE, { ...DEAF, ended }));
      place.leave();
    };
    await begin();
    pool.resize({ ...size, memoryMb: 256 });
    expect(pool.load().threads).toBe(1);
    await begin();
    await waitFor(() => pool.load().threads === 1);
  });
});
