import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { makePool, type Place, type Pool } from '../../../src/execution/conduct/pool.ts';
import { makeLog } from '../../../src/log/log.ts';
import { waitFor } from '../../support/wait-for.ts';

const SIZE = { threads: 1, runsPerThread: 4, memoryMb: 256, hangTimeoutMs: 30_000 };

function housedPool() {
  const pool = makePool({ size: SIZE, clock: systemClock, log: makeLog({ level: 'fatal' }) });
  onTestFinished(() => pool.destroy());
  return pool;
}

/** A brief that the worker refuses at once: enough to occupy a slot and give it back. */
const NONSENSE = { runId: 'r', tools: [] } as never;

test('a new size takes effect at once, and the threads of the old one end when their runs have', async () => {
  const pool = housedPool();
  expect(pool.slots()).toBe(4);
  const ended = new Promise((resolve) => {
    pool.take('r').start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
  pool.resize({ ...SIZE, threads: 2, runsPerThread: 8 });
  expect([pool.slots(), pool.load().busy]).toEqual([16, 1]);
  await ended;
  await waitFor(() => pool.load().busy === 0 && pool.load().threads === 1);
});

test('the same size changes nothing', () => {
  const pool = housedPool();
  const { threads } = pool.load();
  pool.resize({ ...SIZE });
  expect(pool.load().threads).toBe(threads);
});

/** Has a run lost while it was at work: it can't be handed over. */
async function makeSuspect(pool: Pool, runId: string): Promise<void> {
  const brief = { runId, tools: () => undefined } as never;
  await new Promise((resolve) => {
    pool.take(runId).start(brief, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
}

/** The names of the places that are ready by now. */
async function ready(places: Readonly<Record<string, Place>>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, place] of Object.entries(places)) void place.ready.then(() => names.push(name));
  await nextTurn();
  return names;
}

test('suspects wait for their places outside the slots, in order; who leaves the line is passed over', async () => {
  const pool = housedPool();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of names) await makeSuspect(pool, name);
  const places = Object.fromEntries(names.map((name) => [name, pool.take(name)]));
  const common = pool.take('other');
  expect(Object.values(places).every(({ isApart }) => isApart)).toBe(true);
  expect(common.isApart).toBe(false);
  expect(await ready({ ...places, common })).toEqual(['a', 'b', 'c', 'd', 'common']);
  expect(pool.apart()).toBe(7);
  const { b, e, f, g } = places as Record<string, Place>;
  e!.leave();
  b!.leave();
  b!.leave();
  expect(await ready({ f: f!, g: g! })).toEqual(['f']);
  expect(pool.apart()).toBe(5);
});

test('the threads of suspects end with the last of them', async () => {
  const pool = housedPool();
  await makeSuspect(pool, 'r');
  const place = pool.take('r');
  await new Promise((resolve) => {
    place.start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
  });
  expect(pool.load().threads).toBe(2);
  place.leave();
  expect(pool.load().threads).toBe(1);
});
