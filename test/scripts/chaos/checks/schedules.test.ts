// The storm's check of firings: which of those that nobody knows a late request may have made.
import { expect, test } from 'vitest';
import { lateOf } from '../../../../scripts/chaos/checks/schedules.ts';

const firing = (id: number, task_id: string, trigger: 'clock' | 'manual' = 'manual') => ({ id, task_id, trigger });

test('each request whose reply was lost accounts for one firing of its task that nobody knows', () => {
  const firings = [firing(1, 'a'), firing(2, 'a'), firing(3, 'a'), firing(4, 'b'), firing(5, 'a', 'clock')];
  const fired = new Map([[1, { taskId: 'a', first: 1, count: 1 }]]);
  const late = (counts: Readonly<Record<string, number>>) => [
    ...lateOf(firings, { fired, late: new Map(Object.entries(counts)) }),
  ];
  expect(late({})).toEqual([]);
  expect(late({ a: 1 })).toEqual([2]);
  expect(late({ a: 9 })).toEqual([2, 3]);
  expect(late({ b: 1 })).toEqual([4]);
});
