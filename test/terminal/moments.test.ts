// Points in time in words.
import { expect, test } from 'vitest';
import { relativeTime } from '../../src/terminal/moments.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test.each([
  [0, 'now'],
  [-999, 'now'],
  [1000, '1 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_599_999, '59 min ago'],
  [3_600_000, '1 h ago'],
  [86_400_000, '1 d ago'],
  [60 * 86_400_000, '60 d ago'],
  [60 * 86_400_000 + 1, '2025-12-31'],
  [-3 * 60_000, 'in 3 min'],
  [-90 * 86_400_000, '2026-05-30'],
])('%i ms before now is %j', (distance, expected) => {
  expect(relativeTime(NOW - distance, NOW)).toBe(expected);
});
