// Slices of the thread's time: all work together takes no more of a turn than one would, and everybody gets their share.
import { expect, test } from 'vitest';
import { makeSlices } from '../../../src/domain/loop/slices.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

/** Work of so many steps of a millisecond each, which records whose step it was, and in which turn of the loop. */
function bench() {
  const clock = fakeClock();
  const slices = makeSlices(clock);
  const steps: { readonly owner: string; readonly turn: number }[] = [];
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  async function work(owner: string, length: number): Promise<void> {
    const pause = slices.of(owner);
    for (let step = 0; step < length; step += 1) {
      await pause();
      steps.push({ owner, turn });
      clock.advance(1);
    }
  }
  return { work, steps, end: () => (isOver = true) };
}

test('a crowd takes no longer of a turn of the loop than one does', async () => {
  const { work, steps, end } = bench();
  await Promise.all(Array.from({ length: 190 }, (_, index) => work(`owner ${index % 7}`, 5)));
  end();
  expect(steps).toHaveLength(950);
  const byTurn = Map.groupBy(steps, ({ turn }) => turn);
  expect(Math.max(...[...byTurn.values()].map(({ length }) => length))).toBeLessThanOrEqual(4);
});

test('one of many things of one owner delays another owner by one slice only', async () => {
  const { work, steps, end } = bench();
  const crowd = Array.from({ length: 100 }, async () => work('crowd', 40));
  await work('other', 12);
  end();
  const before = steps.filter(({ owner }) => owner === 'crowd').length;
  expect(before).toBeLessThanOrEqual(20);
  await Promise.all(crowd);
});

test('work alone goes on in the next turn, and what comes later waits for its turn', async () => {
  const { work, steps, end } = bench();
  await work('alone', 10);
  end();
  expect(new Set(steps.map(({ turn }) => turn)).size).toBeGreaterThanOrEqual(3);
});

test('whoever wants little comes before those who have used more, however many these are', async () => {
  const { work, steps, end } = bench();
  const crowd = Array.from({ length: 40 }, async (_, index) => work(`owner ${index}`, 60));
  while (steps.length < 400) await new Promise(setImmediate);
  const before = steps.length;
  for (let times = 0; times < 3; times += 1) await work('other', 1);
  const waited = steps.slice(before).filter(({ owner }) => owner !== 'other').length;
  end();
  // Each time, the rest of a turn at most.
  expect(waited).toBeLessThanOrEqual(3 * 4);
  await Promise.all(crowd);
});

test('what somebody has used alone is not held against him', async () => {
  const { work, steps, end } = bench();
  await work('alone', 100);
  const both = [work('alone', 20), work('other', 20)];
  while (steps.filter(({ owner }) => owner === 'other').length < 20) await new Promise(setImmediate);
  end();
  expect(steps.filter(({ owner }) => owner === 'alone').length).toBeGreaterThanOrEqual(100 + 12);
  await Promise.all(both);
});
