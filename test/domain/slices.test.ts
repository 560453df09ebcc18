// Slices of the thread's time: all work together takes no more of a turn than one would, and everybody gets their share.
import { expect, test } from 'vitest';
import { makeSlices } from '../../src/domain/slices.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

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
