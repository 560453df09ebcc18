import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { makePool } from '../../../src/execution/conduct/pool.ts';
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
    pool.start(NONSENSE, { signals: () => undefined, garbled: () => undefined, ended: resolve });
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
