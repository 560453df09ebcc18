// The times of `errand schedules`: what cron can say of them, and what it can't.
import { describe, expect, test } from 'vitest';
import { cronOfDaily, cronOfEvery } from '../../../../src/cli/nouns/schedules/timing.ts';
import { loadWords, wallTime } from '../../../../src/cli/nouns/schedules/words.ts';
import { cronFault, nextFirings } from '../../../../src/domain/schedules/firing-times.ts';

const DAY_START = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;

describe('--every', () => {
  test.each([
    ['1m', '* * * * *', 1],
    ['60s', '* * * * *', 1],
    ['2m', '*/2 * * * *', 2],
    ['15m', '*/15 * * * *', 15],
    ['900s', '*/15 * * * *', 15],
    ['30m', '*/30 * * * *', 30],
    ['60m', '0 * * * *', 60],
    ['1h', '0 * * * *', 60],
    ['120m', '0 */2 * * *', 120],
    ['8h', '0 */8 * * *', 480],
    ['12h', '0 */12 * * *', 720],
    ['24h', '0 0 * * *', 1_440],
    ['1d', '0 0 * * *', 1_440],
  ])('%s is %s, and fires so far apart over a whole week', (text, cron, minutes) => {
    expect([cronOfEvery(text), cronFault(cron, 'UTC', 0)]).toEqual([cron, null]);
    const times = nextFirings(cron, 'UTC', DAY_START - 1, Math.min(2_000, (7 * 1_440) / minutes));
    expect(times[0]).toBe(DAY_START);
    for (const [index, at] of times.entries()) expect(at).toBe(DAY_START + index * minutes * MINUTE_MS);
  });

  test.each([
    '',
    '0m',
    '1s',
    '30s',
    '90s',
    '7m',
    '25m',
    '45m',
    '90m',
    '5h',
    '9h',
    '36h',
    '2d',
    '7d',
    '15',
    'm',
    '-5m',
    '1.5h',
    '15 m',
    'ten minutes',
  ])('%s is refused, with what works', (text) => {
    expect(() => cronOfEvery(text)).toThrow(
      'It must divide the hour or the day: 1m, 2m, 3m, 4m, 5m, 6m, 10m, 12m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h or 1d.',
    );
  });
});

describe('--daily', () => {
  test.each([
    ['08:30', '30 8 * * *'],
    ['8:05', '5 8 * * *'],
    ['00:00', '0 0 * * *'],
    ['23:59', '59 23 * * *'],
  ])('%s is %s', (text, cron) => {
    expect([cronOfDaily(text), cronFault(cron, 'Europe/Zurich', 0)]).toEqual([cron, null]);
  });

  test.each(['24:00', '8', '08:60', '8:5', '0830', '08:30:00', ' 08:30', '8.30', '8:30pm', '', '-1:30', '٠٨:٣٠'])(
    '%s is refused',
    (text) => {
      expect(() => cronOfDaily(text)).toThrow('It must be a time from 00:00 to 23:59');
    },
  );
});

test.each([
  ['*/15 * * * *', 'every 15 minutes'],
  ['30 8 * * *', 'at 08:30 every day'],
  ['0 7 * * 1-5', 'at 07:00, Monday through Friday'],
  ['0 9 1 * *', 'at 09:00, on day 1 of the month'],
  ['0 9 * * 7', 'at 09:00, only on Sunday'],
  ['0 9 1 * 1', 'at 09:00, on day 1 of the month, and on Monday'],
  ['0 9 */2 * 1', 'at 09:00, every 2 days in a month, only on Monday'],
  ['not a cron', 'not a cron'],
  ['61 * * * *', '61 * * * *'],
])('%s in words: %s', async (cron, words) => {
  expect((await loadWords())(cron)).toBe(words);
});

test.each([
  ['2026-03-29T00:59:00Z', 'Europe/Zurich', 'Sun 2026-03-29 01:59 GMT+1'],
  ['2026-03-29T01:00:00Z', 'Europe/Zurich', 'Sun 2026-03-29 03:00 GMT+2'],
  ['2026-10-03T15:30:00Z', 'Australia/Lord_Howe', 'Sun 2026-10-04 02:30 GMT+11'],
  ['2026-01-01T00:00:00Z', 'UTC', 'Thu 2026-01-01 00:00 UTC'],
])('%s in %s is %s', (at, zone, shown) => {
  expect(wallTime(Date.parse(at), zone)).toBe(shown);
});
