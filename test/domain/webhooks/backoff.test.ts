// The pauses between the attempts of a delivery (H1, H3).
import { expect, test } from 'vitest';
import { pauseBeforeRetry } from '../../../src/domain/webhooks/backoff.ts';

const HOUR = 3_600_000;
const pause = (failed: number, random = 0.5, retryAfterMs: number | null = null) =>
  pauseBeforeRetry({ backoffMs: 5_000, failed, retryAfterMs }, random);

test('each pause is four times the one before, and none is longer than ten hours', { tags: ['H1'] }, () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 20].map((failed) => pause(failed) / 1_000)).toEqual([
    5, 20, 80, 320, 1_280, 5_120, 20_480, 36_000, 36_000,
  ]);
});

test('jitter is a fifth to either side', { tags: ['H1'] }, () => {
  expect([0, 0.25, 1].map((random) => pause(1, random))).toEqual([4_000, 4_500, 6_000]);
  expect(pause(20, 1)).toBe(10 * HOUR);
});

test('a receiver may ask for a longer pause, of a day at most, but not for a shorter one', () => {
  expect(pause(1, 0.5, 60_000)).toBe(60_000);
  expect(pause(1, 0.5, 7 * 24 * HOUR)).toBe(24 * HOUR);
  expect(pause(1, 0.5, 0)).toBe(5_000);
});
