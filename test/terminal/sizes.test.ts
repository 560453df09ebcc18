// Sizes in units.
import { expect, test } from 'vitest';
import { readableSize } from '../../src/terminal/sizes.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 KB'],
  [9_949, '9.9 KB'],
  [9_950, '10 KB'],
  [999_499, '999 KB'],
  [999_500, '1.0 MB'],
  [20_000_000, '20 MB'],
  [5e15, '5000 TB'],
])('%i bytes are %s', (bytes, expected) => {
  expect(readableSize(bytes)).toBe(expected);
});
