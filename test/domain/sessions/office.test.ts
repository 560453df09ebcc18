import { expect, test } from 'vitest';
import { elapsedSeconds, OFFICE_STATUS, progressOf } from '../../../src/domain/sessions/office.ts';
import { RUN_STATUSES } from '../../../src/domain/sessions/run.ts';

test('people see five statuses of runs (G1)', { tags: ['G1'] }, () => {
  expect(RUN_STATUSES.map((status) => OFFICE_STATUS[status])).toEqual([
    'pending',
    'running',
    'running',
    'completed',
    'failed',
    'idle',
    'failed',
  ]);
});

test('progress is 0 while a run waits, 95 while it is finalized and 100 when it has ended, however many steps it took', {
  tags: ['G1'],
}, () => {
  for (const steps of [0, 3, 200])
    expect(RUN_STATUSES.filter((status) => status !== 'running').map((status) => progressOf(status, steps))).toEqual([
      0, 95, 100, 100, 100, 100,
    ]);
});

test('progress of a running run rises with its steps from 5 and never beyond 90', { tags: ['G1'] }, () => {
  const progress = Array.from({ length: 201 }, (_, steps) => progressOf('running', steps));
  expect(progress[0]).toBe(5);
  expect(progress[1]).toBeGreaterThan(5);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(90);
});

test('elapsed time is in whole seconds, none before the run began, and never negative when the clock was set back', () => {
  expect([elapsedSeconds(null, 9_999), elapsedSeconds(1_000, 3_999), elapsedSeconds(5_000, 1_000)]).toEqual([0, 2, 0]);
});
