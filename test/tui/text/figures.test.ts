import { expect, test } from 'vitest';
import { barOf, gather, money, short, span, sparkline } from '../../../src/tui/text/figures.ts';

test.each([
  [0, '0'],
  [950, '950'],
  [999.6, '1.0k'],
  [18_240, '18.2k'],
  [99_949, '99.9k'],
  [999_400, '999k'],
  [999_900, '1.0M'],
  [3_100_000, '3.1M'],
  [2.5e9, '2.5G'],
])('a count of %d is %s', (count, text) => {
  expect(short(count)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [0.004, '<1¢'],
  [0.07, '$0.07'],
  [12.409, '$12.41'],
  [1234, '$1.2k'],
])('%d dollars are %s', (dollars, text) => {
  expect(money(dollars)).toBe(text);
});

test.each([
  [-5, '0:00'],
  [7_000, '0:07'],
  [760_000, '12:40'],
  [3_723_000, '1:02:03'],
  [277_200_000, '3d 5h'],
])('%d ms are %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

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
