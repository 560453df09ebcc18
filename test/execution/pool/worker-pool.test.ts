import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { makeWorkerPool, type Reservation, type WorkerPool } from '../../../src/execution/pool/worker-pool.ts';
import { makeLog } from '../../../src/log/log.ts';
import { REFUSAL, refuseThreads, replaceThreads, type WorkerClass } from '../../support/workers.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const SIZE = { threads: 1, runsPerThread: 4, memoryMb: 256, hangTimeoutMs: 30_000 };

function fixturePool(size = SIZE, clock: Clock = systemClock) {
  const pool = makeWorkerPool({
    size,
    clock,
    log: makeLog({ level: 'fatal' }),
    budgets: new Int32Array(new SharedArrayBuffer(4)),
  });
  onTestFinished(() => pool.destroy());
  return pool;
}

const DEAF = { signals: () => undefined };

/** A brief that the worker refuses at once: enough to occupy a slot and give it back. */
const NONSENSE = { runId: 'r', tools: [] } as never;

test('a new size takes effect at once, and the threads of the old one end when their runs have', async () => {
  const pool = fixturePool();
  expect(pool.slots()).toBe(4);
  const ended = new Promise((resolve) => {
    pool.reserve('r', 0).start(NONSENSE, { signals: () => undefined, ended: resolve });
  });
  pool.resize({ ...SIZE, threads: 2, runsPerThread: 8 });
  expect([pool.slots(), pool.load().busy]).toEqual([16, 1]);
  await ended;
  await waitFor(() => pool.load().busy === 0 && pool.load().threads === 0);
});

test('there is no thread before the first run, and one for a burst that it has room for', async () => {
  const pool = fixturePool({ ...SIZE, threads: 4 });
  expect(pool.load()).toEqual({ threads: 0, busy: 0 });
  const ends = ['a', 'b', 'c', 'd'].map((name) => {
    return new Promise((resolve) => {
      const { start } = pool.reserve(name, 0);
      start(NONSENSE, { signals: () => undefined, ended: resolve });
    });
  });
  expect(pool.load()).toEqual({ threads: 1, busy: 4 });
  await Promise.all(ends);
  expect(pool.load()).toEqual({ threads: 1, busy: 0 });
});

test('a thread ends after a minute without runs, and the next run starts another', async () => {
  const clock = fakeClock();
  const pool = fixturePool(SIZE, clock);
  const begin = async () => new Promise((ended) => void pool.reserve('r', 0).start(NONSENSE, { ...DEAF, ended }));
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
  const pool = fixturePool({ ...SIZE, memoryMb: 3 }, clock);
  for (const _ of ['once', 'again', 'and again']) {
    const reservation = pool.reserve('r', 0);
    expect(reservation.takesNoSlot).toBe(false);
    reservation.leave();
    const startedAt = clock.monotonic();
    const end = await inTime(clock, startIn(pool, 'r'));
    expect(end).toMatchObject({
      kind: 'lost',
      isCharged: false,
      why: expect.stringMatching(/memory/i),
    });
    expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(5_000);
  }
});

const startIn = (pool: WorkerPool, name: string) =>
  new Promise((ended) => void pool.reserve(name, 0).start(NONSENSE, { ...DEAF, ended }));

test('the runs of a thread that the system refuses are lost a while later, and none is charged', async () => {
  const clock = fakeClock();
  const pool = fixturePool(SIZE, clock);
  const admit = refuseThreads();
  for (const _ of ['once', 'again']) {
    const lost = startIn(pool, 'a');
    expect(pool.load().busy).toBe(1);
    clock.advance(5_000);
    expect(await lost).toMatchObject({ kind: 'lost', why: REFUSAL, isCharged: false });
  }
  admit();
  const reservation = pool.reserve('a', 0);
  expect(reservation.takesNoSlot).toBe(false);
  reservation.leave();
  expect(await startIn(pool, 'b')).toMatchObject({ kind: 'done' });
  expect(pool.load()).toEqual({ threads: 1, busy: 0 });
});

test('a thread that the system refuses gets no runs while another has room', async () => {
  const clock = fakeClock();
  const pool = fixturePool({ ...SIZE, threads: 2, runsPerThread: 1 }, clock);
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
  const pool = fixturePool({ ...SIZE, threads: 2, runsPerThread: 1 }, clock);
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
  expect(await inTime(clock, dying)).toMatchObject({ kind: 'lost' });
});

test('the same size changes nothing', () => {
  const pool = fixturePool();
  const { threads } = pool.load();
  pool.resize({ ...SIZE });
  expect(pool.load().threads).toBe(threads);
});

/** Has a run lost while it was at work: it can't be handed over. */
async function makeSuspect(pool: WorkerPool, runId: string): Promise<void> {
  const brief = { runId, tools: () => undefined } as never;
  await new Promise((resolve) => {
    pool.reserve(runId, 0).start(brief, { signals: () => undefined, ended: resolve });
  });
}

/** The names of the reservations that are ready by now. */
async function ready(reservations: Readonly<Record<string, Reservation>>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, reservation] of Object.entries(reservations)) void reservation.ready.then(() => names.push(name));
  await nextTurn();
  return names;
}

test('suspects wait for their threads outside the slots, in order; one that leaves the line is skipped', async () => {
  const pool = fixturePool();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of names) await makeSuspect(pool, name);
  const reservations = Object.fromEntries(names.map((name) => [name, pool.reserve(name, 0)]));
  const common = pool.reserve('other', 0);
  expect(Object.values(reservations).every(({ takesNoSlot }) => takesNoSlot)).toBe(true);
  expect(common.takesNoSlot).toBe(false);
  expect(await ready({ ...reservations, common })).toEqual(['a', 'b', 'c', 'd', 'common']);
  expect(pool.withoutSlot()).toBe(7);
  const { b, e, f, g } = reservations as Record<string, Reservation>;
  e!.leave();
  b!.leave();
  b!.leave();
  expect(await ready({ f: f!, g: g! })).toEqual(['f']);
  expect(pool.withoutSlot()).toBe(5);
});

test('the thread of a suspect ends with it', async () => {
  const pool = fixturePool();
  await makeSuspect(pool, 'r');
  const reservation = pool.reserve('r', 0);
  await new Promise((resolve) => {
    reservation.start(NONSENSE, { signals: () => undefined, ended: resolve });
  });
  expect(pool.load().threads).toBe(1);
  reservation.leave();
});

const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

/** Has every thread from now on started with other options. */
const startWith = (options: ConstructorParameters<WorkerClass>[1]) =>
  replaceThreads(
    (real) =>
      class extends real {
        constructor(file: string | URL, asked: ConstructorParameters<WorkerClass>[1]) {
          super(file, { ...asked, ...options });
        }
      },
  );

test('a message that a thread cannot read is a crash of the thread: its runs are lost, and others get another', async () => {
  const pool = fixturePool();
  const restore = startWith({ resourceLimits: { stackSizeMb: 0.5 } });
  expect(await startIn(pool, 'before')).toMatchObject({ kind: 'done' });
  const lost = new Promise((ended) => {
    pool.reserve('r', 0).start({ runId: 'r', deep: deep(2_500) } as never, { ...DEAF, ended });
  });
  expect(await lost).toMatchObject({ kind: 'lost', isCharged: false });
  expect(pool.reserve('r', 0).takesNoSlot).toBe(true);
  restore();
  expect(await startIn(pool, 'other')).toMatchObject({ kind: 'done' });
});

test('a message that cannot be read of a thread is a crash of the thread, and nothing that it sends afterwards counts', async () => {
  const pool = fixturePool();
  const garble = `
    import { MessagePort } from 'node:worker_threads';
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      if (!Array.isArray(message) || message.length === 0) return postMessage.call(this, message, ...rest);
      postMessage.call(this, JSON.parse('['.repeat(5000) + ']'.repeat(5000)));
      return postMessage.call(this, message, ...rest);
    };`;
  const restore = startWith({ execArgv: ['--import', `data:text/javascript,${encodeURIComponent(garble)}`] });
  const signals: unknown[] = [];
  const lost = new Promise((ended) => {
    pool.reserve('r', 0).start(NONSENSE, { signals: (batch) => signals.push(...batch), ended });
  });
  expect(await lost).toEqual({
    kind: 'lost',
    why: 'a message of its thread could not be read',
    isCharged: false,
  });
  expect(signals).toEqual([]);
  restore();
  expect(await startIn(pool, 'other')).toMatchObject({ kind: 'done' });
});

test('a control that cannot be sent is a crash of the thread', async () => {
  const pool = fixturePool();
  const lost = new Promise((ended) => {
    const run = pool.reserve('r', 0).start(NONSENSE, { ...DEAF, ended });
    run.send({ t: 'reply', request: 1, reply: { ok: true, output: () => undefined } });
  });
  expect(await lost).toMatchObject({ kind: 'lost', isCharged: false });
  expect(await startIn(pool, 'other')).toMatchObject({ kind: 'done' });
});

describe('turns that take more than their share of a thread', () => {
  const MEGABYTE = 1024 * 1024;
  /** A share has 2 MB, and a thread 64. */
  const size = { ...SIZE, runsPerThread: 32, memoryMb: 512 };
  const take = (pool: WorkerPool, count: number, bytes: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, pool.reserve(`r${i}`, bytes)]));

  test('are together on one thread for as many bytes as it has room for; the others wait, and small ones never', async () => {
    const pool = fixturePool(size);
    const large = take(pool, 32, 4 * MEGABYTE);
    const small = pool.reserve('small', 2 * MEGABYTE);
    expect(small.takesNoSlot).toBe(false);
    expect(await ready({ ...large, small })).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'small']);
    expect(pool.withoutSlot()).toBe(32);
    for (const name of ['3', '10']) large[name]!.leave();
    expect(await ready({ '11': large['11']!, '12': large['12']! })).toEqual(['11']);
  });

  test('are carried out one after another when each outweighs the room', async () => {
    const pool = fixturePool(size);
    const reservations = take(pool, 3, 100 * MEGABYTE);
    for (const name of ['0', '1', '2']) {
      expect(await ready(reservations)).toEqual([...Array(Number(name) + 1).keys()].map(String));
      reservations[name]!.leave();
    }
  });

  test('have a thread of their own, which waits a minute for another of them', async () => {
    const clock = fakeClock();
    const pool = fixturePool(size, clock);
    const begin = async (bytes: number) => {
      const reservation = pool.reserve('r', bytes);
      await new Promise((ended) => void reservation.start(NONSENSE, { ...DEAF, ended }));
      reservation.leave();
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
    const pool = fixturePool(size);
    const begin = async () => {
      const reservation = pool.reserve('r', 4 * MEGABYTE);
      await new Promise((ended) => void reservation.start(NONSENSE, { ...DEAF, ended }));
      reservation.leave();
    };
    await begin();
    pool.resize({ ...size, memoryMb: 256 });
    expect(pool.load().threads).toBe(0);
    await begin();
    expect(pool.load().threads).toBe(1);
  });
});
