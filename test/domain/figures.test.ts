// Counts and durations read alike wherever they stand.
import { expect, test } from 'vitest';
import { compact, spokenMs } from '../../src/domain/figures.ts';

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
  expect(compact(count)).toBe(text);
});

test.each<[number, string]>([
  [0, '0 ms'],
  [412, '412 ms'],
  [12_345, '12.3 s'],
  [41_000, '41 s'],
  [59_960, '1 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('%d ms are said as %s', (ms, words) => {
  expect(spokenMs(ms)).toBe(words);
});
