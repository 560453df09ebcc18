// The stopwatch of a run: what counts against its time limit.
import { expect, test } from 'vitest';
import { makeStopwatch } from '../../../src/execution/executor/stopwatch.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

test('counts only between its start and its stop, on top of what earlier attempts have used', () => {
  const clock = fakeClock();
  const stopwatch = makeStopwatch(clock, 500);
  clock.advance(1_000);
  expect(stopwatch.workedMs()).toBe(500);
  stopwatch.start();
  clock.advance(1_000);
  expect(stopwatch.workedMs()).toBe(1_500);
  stopwatch.stop();
  clock.advance(1_000);
  stopwatch.stop();
  expect(stopwatch.workedMs()).toBe(1_500);
});

test.each([-7, 7])('a clock that is set by %d days adds and takes nothing', (days) => {
  const clock = fakeClock();
  const stopwatch = makeStopwatch(clock, 0);
  stopwatch.start();
  clock.advance(1_000);
  clock.jump(days * 86_400_000);
  clock.advance(1_000);
  expect(stopwatch.workedMs()).toBe(2_000);
});
