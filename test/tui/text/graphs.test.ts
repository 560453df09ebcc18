import { expect, test } from 'vitest';
import { barOf, gather, sparkline } from '../../../src/tui/text/graphs.ts';

test('a bar is empty only at nothing, and full only at all', () => {
  expect([0, 0.001, 0.5, 0.999, 1, 7, -1].map((share) => barOf(share, 10)[0])).toEqual([0, 1, 5, 9, 10, 10, 0]);
});

test('a graph has a character a value, and blanks where nobody looked on', () => {
  expect(sparkline([null, 0, 1, 4, 8])).toBe(' ▁▁▄█');
  expect(gather([null, null, 1, 2, 3, 4], 3)).toEqual([null, 3, 7]);
  expect(gather([6, 6, 6, 6, 6], 3)).toEqual([10, 10, 10]);
  expect(gather([null, 0, 3], 2)).toEqual([0, 3]);
  expect(gather([2, 4], 4)).toEqual([1, 1, 2, 2]);
  expect(gather([], 2)).toEqual([null, null]);
});
