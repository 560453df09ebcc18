// The next firings that are shown: computed once until the first has passed, and right on any clock.
import { expect, test } from 'vitest';
import { nextFirings } from '../../../src/domain/schedules/firing-times.ts';
import { makeNextFirings } from '../../../src/operations/schedules/next-firings.ts';

const START = Date.parse('2026-03-28T12:00:30Z');
const MINUTE = 60_000;
const task = { nextFireAt: 1, cron: '*/20 * * * *', timezone: 'Europe/Zurich' };
const computed = (now: number) => nextFirings(task.cron, task.timezone, now, 5);

test('they are kept until the first of them', () => {
  const nextOf = makeNextFirings();
  const first = nextOf(task, START);
  expect(first).toEqual(computed(START));
  expect(nextOf(task, first[0]! - 1)).toBe(first);
  expect(nextOf({ ...task, timezone: 'UTC' }, START)).not.toBe(first);
});

test('they are those of the moment, wherever the clock is set to', () => {
  const nextOf = makeNextFirings();
  for (const minutes of [0, 19, 19.5, 20, 800, 790, -5_000, 100_000, 3]) {
    const now = START + minutes * MINUTE;
    expect(nextOf(task, now)).toEqual(computed(now));
  }
});

test('a disabled task has none', () => {
  expect(makeNextFirings()({ ...task, nextFireAt: null }, START)).toEqual([]);
});
