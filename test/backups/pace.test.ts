import { expect, test } from 'vitest';
import { restAfter } from '../../src/backups/pace.ts';

test('a backup rests as long as it works, longer beside runs, and never for long', () => {
  expect(restAfter(10, 0)).toBe(10);
  expect(restAfter(10, 0.5)).toBe(80);
  expect(restAfter(4_000, 0)).toBe(250);
  expect(restAfter(4_000, 1)).toBe(250);
});
