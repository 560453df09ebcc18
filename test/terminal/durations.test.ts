// Durations in and out.
import { expect, test } from 'vitest';
import { formatDuration, parseDuration, stopwatch } from '../../src/terminal/durations.ts';

test.each([
  ['1s', 1],
  ['15m', 900],
  ['12h', 43_200],
  ['30d', 2_592_000],
  ['0s', undefined],
  ['1', undefined],
  ['1.5h', undefined],
  ['-1s', undefined],
  ['1w', undefined],
  [' 1s', undefined],
  ['9999999999d', undefined],
  ['', undefined],
])('%j is %j seconds', { tags: ['K5-durations'] }, (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  [0, '0s'],
  [59.9, '59s'],
  [60, '1m'],
  [3661, '1h 1m'],
  [86_400, '1d'],
  [86_400 * 3 + 7200 + 5, '3d 2h'],
  [-5, '0s'],
])('%j seconds read %j', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test.each([
  [-5, '0:00'],
  [7_000, '0:07'],
  [760_000, '12:40'],
  [3_723_000, '1:02:03'],
  [277_200_000, '3d 5h'],
])('%d ms are %s', (ms, text) => {
  expect(stopwatch(ms)).toBe(text);
});
