// Sizes in units.
import { expect, test } from 'vitest';
import { inMegabytes, readableSize } from '../../src/terminal/sizes.ts';

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

test.each([
  [0, '0.0 MB'],
  [3_300_000, '3.1 MB'],
  [10_485_760, '10 MB'],
  [12_345 * 1_048_576, '12,345 MB'],
])('%i bytes of a limit are %s', (bytes, expected) => {
  expect(inMegabytes(bytes)).toBe(expected);
});
