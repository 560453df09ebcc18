// When tasks fire: clock changes skip and repeat times, and expressions are wrong in every way (I8).
import { expect, test } from 'vitest';
import { cronFault, nextFirings } from '../../../src/domain/schedules/firing-times.ts';

const NOW = Date.parse('2026-11-23T00:00Z');

const times = (cron: string, timezone: string, after: string, count: number) =>
  nextFirings(cron, timezone, Date.parse(after), count).map((at) =>
    new Date(at).toISOString().replace(':00.000Z', 'Z'),
  );

test.each([
  // 02:00 becomes 03:00, at 07:00Z.
  ['America/New_York', '30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
  [
    'America/New_York',
    '0,30 2,3 * * *',
    '2026-03-08T05:00Z',
    ['2026-03-08T07:00Z', '2026-03-08T07:30Z', '2026-03-09T06:00Z'],
  ],
  // 02:00 becomes 03:00, at 01:00Z.
  ['Europe/Zurich', '30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:30Z']],
  ['Europe/Zurich', '15,45 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:15Z']],
  // 02:00 becomes 02:30, at 15:30Z.
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
  ['Australia/Lord_Howe', '45 2 * * *', '2026-10-03T00:00Z', ['2026-10-03T15:45Z', '2026-10-04T15:45Z']],
  // Midnight becomes 01:00, at 05:00Z.
  ['America/Havana', '0 0 * * *', '2026-03-07T12:00Z', ['2026-03-08T05:00Z', '2026-03-09T04:00Z']],
])(
  '%s: "%s" fires at the change when the change skips its time',
  { tags: ['I8-clock-changes'] },
  (timezone, cron, after, expected) => {
    expect(times(cron, timezone, after, expected.length)).toEqual(expected);
  },
);

test.each([
  // 02:00 becomes 01:00, at 06:00Z.
  ['America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
  [
    'America/New_York',
    '0,20,40 1,2 * * *',
    '2026-11-01T05:30Z',
    ['2026-11-01T05:40Z', '2026-11-01T07:00Z', '2026-11-01T07:20Z'],
  ],
  // 03:00 becomes 02:00, at 01:00Z.
  ['Europe/Zurich', '30 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
  ['Europe/Berlin', '0 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:00Z', '2026-10-26T01:00Z']],
  ['Europe/Berlin', '0-30 2 * * 0', '2026-10-25T00:29Z', ['2026-10-25T00:30Z', '2026-11-01T01:00Z']],
  // 02:00 becomes 01:30, at 15:00Z.
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
])(
  '%s: "%s" fires once at a time that the change repeats',
  { tags: ['I8-clock-changes'] },
  (timezone, cron, after, expected) => {
    expect(times(cron, timezone, after, expected.length)).toEqual(expected);
  },
);

test.each([
  // Back: 03:00 becomes 02:00, at 01:00Z.
  ['Europe/Berlin', '*/30 * * * *', '2026-10-25T00:10Z', ['00:30', '01:00', '01:30', '02:00', '02:30']],
  ['Europe/Berlin', '*/30 * * * *', '2026-10-25T01:10Z', ['01:30', '02:00', '02:30']],
  ['Europe/Berlin', '*/30 * * * *', '2026-10-25T01:00Z', ['01:30', '02:00', '02:30']],
  ['Europe/Berlin', '0 */2 * * *', '2026-10-24T22:30Z', ['00:00', '01:00', '03:00', '05:00']],
  [
    'Europe/Berlin',
    '*/20 2 * * *',
    '2026-10-24T22:30Z',
    ['00:00', '00:20', '00:40', '01:00', '01:20', '01:40', '01:00'],
  ],
  ['Europe/Berlin', '0-59/30 1-3 * * *', '2026-10-24T23:15Z', ['23:30', '00:00', '00:30', '01:00', '01:30', '02:00']],
  // 02:00 becomes 01:00, at 06:00Z.
  ['America/New_York', '0 * * * *', '2026-11-01T03:50Z', ['04:00', '05:00', '06:00', '07:00']],
  ['America/New_York', '*/20 * * * *', '2026-11-01T05:30Z', ['05:40', '06:00', '06:20', '06:40', '07:00']],
  // 02:00 becomes 01:30, at 15:00Z.
  ['Australia/Lord_Howe', '*/10 * * * *', '2026-04-04T14:45Z', ['14:50', '15:00', '15:10', '15:20', '15:30', '15:40']],
  ['Australia/Lord_Howe', '45 * * * *', '2026-04-04T14:00Z', ['14:45', '15:15', '16:15']],
  // Forth: 02:00 becomes 03:00, at 01:00Z.
  ['Europe/Berlin', '*/30 * * * *', '2026-03-29T00:10Z', ['00:30', '01:00', '01:30']],
  ['Europe/Berlin', '0 */2 * * *', '2026-03-28T22:30Z', ['23:00', '02:00', '04:00']],
  ['Europe/Berlin', '30 */2 * * *', '2026-03-28T23:00Z', ['23:30', '02:30']],
  ['Europe/Berlin', '*/30 2 * * *', '2026-03-28T12:00Z', ['00:00', '00:30', '00:00']],
  // 02:00 becomes 03:00, at 07:00Z.
  ['America/New_York', '*/20 * * * *', '2026-03-08T06:30Z', ['06:40', '07:00', '07:20']],
  // 02:00 becomes 02:30, at 15:30Z.
  ['Australia/Lord_Howe', '*/20 * * * *', '2026-10-03T15:00Z', ['15:10', '15:40', '16:00']],
  ['Australia/Lord_Howe', '0 * * * *', '2026-10-03T14:00Z', ['14:30', '16:00', '17:00']],
])(
  '%s: "%s" follows elapsed time through a change (from %s)',
  { tags: ['I8-clock-changes'] },
  (timezone, cron, after, expected) => {
    expect(times(cron, timezone, after, expected.length).map((at) => at.slice(11, 16))).toEqual(expected);
  },
);

test.each([15, 30])(
  'every %i minutes of the months of changes fire, whatever the clocks do',
  { tags: ['I8-clock-changes'] },
  (minutes) => {
    const stepMs = minutes * 60_000;
    for (const timezone of ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe'])
      for (const month of [3, 4, 10, 11]) {
        const from = Date.UTC(2026, month - 1, 1);
        const all = nextFirings(`*/${minutes} * * * *`, timezone, from, (32 * 86_400_000) / stepMs);
        expect(all.findIndex((at, index) => at !== from + (index + 1) * stepMs)).toBe(-1);
      }
  },
);

test.each([
  ['within the repeated hour', 'America/New_York', '2026-11-01T06:10Z', '2026-11-02T06:30Z'],
  ['at the second occurrence', 'America/New_York', '2026-11-01T06:30Z', '2026-11-02T06:30Z'],
  ['at the change', 'America/New_York', '2026-11-01T06:00Z', '2026-11-02T06:30Z'],
])('a time is looked for %s', (_, timezone, after, expected) => {
  expect(times('30 1 * * *', timezone, after, 1)).toEqual([expected]);
});

test('every half-hour of the nights of a year that is named fires once in wall time, whatever the clocks do', {
  tags: ['I8-clock-changes'],
}, () => {
  for (const timezone of ['America/New_York', 'Europe/Zurich', 'Australia/Lord_Howe']) {
    const format = new Intl.DateTimeFormat('en', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
    const from = Date.parse('2026-01-01T00:00Z');
    const all = nextFirings('0,30 0,1,2,3 * * *', timezone, from, 365 * 8);
    expect(new Set(all.map((at) => format.format(at))).size).toBe(all.length);
    expect(all.every((at, index) => index === 0 || at > all[index - 1]!)).toBe(true);
  }
});

test.each([
  ['0 9 */2 * 1-5', ['12-01', '12-03', '12-07', '12-09']],
  ['0 9 1 * */2', ['12-01', '04-01', '05-01', '06-01']],
  ['0 9 */2 * *', ['12-01', '12-03', '12-05']],
  ['0 9 * * */2', ['12-01', '12-03', '12-05', '12-06']],
  ['0 9 1 * 1', ['12-01', '12-07', '12-14']],
  ['0 9 1-31/2 * 6', ['12-01', '12-03', '12-05', '12-07', '12-09', '12-11', '12-12']],
] as [string, string[]][])(
  '"%s": a day fits both of its fields where one begins with a wildcard, else one of them',
  { tags: ['I8-cron'] },
  (cron, expected) => {
    const days = times(cron, 'UTC', '2026-11-30T12:00Z', expected.length).map((at) => at.slice(5, 10));
    expect(days).toEqual(expected);
  },
);

test.each(['* * * * *', '*/15 8-17 * * MON-FRI', '0 0 29 2 *', '0 0 1,15 * 5', ' 30\t7 * * 7 ', '0 0 L * *'])(
  '"%s" has no fault',
  { tags: ['I8-cron'] },
  (cron) => {
    expect(cronFault(cron, 'Europe/Zurich', 0)).toBeNull();
    expect(nextFirings(cron, 'Europe/Zurich', 0, 2)).toHaveLength(2);
  },
);

test.each([
  ['* * * * * *', 'must have five fields'],
  ['* * * *', 'must have five fields'],
  ['', 'must have five fields'],
  ['@daily', 'must have five fields'],
  ['2026-01-01T00:00:00', 'must have five fields'],
  [`${'0,'.repeat(100)}0 * * * *`, 'must have five fields'],
  ['0 0 31 2 *', 'at least once'],
  ['0 0 31 2,4 *', 'at least once'],
  ['60 * * * *', 'the minute is 0 to 59, a list, a range or a step such as */2, not 60'],
  ['* 24 * * *', 'the hour is 0 to 23, a list, a range or a step such as */2, not 24'],
  ['0 0 32 * *', 'the day of month is 1 to 31 or L, a list, a range or a step such as */2, not 32'],
  ['0 0 0 * *', 'not 0'],
  ['0 0 1 13 *', 'the month is 1 to 12 or JAN to DEC, a list, a range or a step such as */2, not 13'],
  ['0 0 * * 8', 'the day of week is 0 to 7 or SUN to SAT, a list, a range or a step such as */2, not 8'],
  ['*/0 * * * *', 'not */0'],
  ['5/15 * * * *', 'not 5/15'],
  ['H * * * *', 'not H'],
  ['5-1 * * * *', 'not 5-1'],
  ["0 0 * * ';", "not ';"],
  ['0 0 L 13 8', 'the month is'],
])('"%s" is refused', { tags: ['I8-cron'] }, (cron, words) => {
  expect(cronFault(cron, 'UTC', NOW)).toEqual({ at: 'cron', mustBe: expect.stringContaining(words) as string });
});

test.each(['', 'Mars/Olympus', '+08:00', 'CEST!', 'Europe/Zurich\0'])(
  'the time zone "%s" is refused',
  { tags: ['I8-cron'] },
  (timezone) => {
    expect(cronFault('* * * * *', timezone, NOW)).toMatchObject({ at: 'timezone' });
  },
);

// Feb 29 is a Monday in 2044, 2072 and 2112. A search without a limit takes hundreds of milliseconds, for every reader of a list.
test('times are looked for within 30 years', () => {
  const rare = '0 0 29 2 +1';
  expect(times(rare, 'UTC', '2026-11-23T00:00Z', 5)).toEqual(['2044-02-29T00:00Z']);
  expect(times(rare, 'UTC', '2044-02-29T00:00Z', 5)).toEqual(['2072-02-29T00:00Z']);
  expect(cronFault(rare, 'UTC', NOW)).toBeNull();
  expect(cronFault(rare, 'UTC', Date.parse('2073-01-01T00:00Z'))).toMatchObject({ at: 'cron' });
  expect(times('0 0 29 2 *', 'UTC', '2026-11-23T00:00Z', 5)).toHaveLength(5);
});

test('a daily task has its next five times', () => {
  expect(times('30 8 * * *', 'Europe/Zurich', '2026-06-01T06:30Z', 5)).toEqual(
    ['02', '03', '04', '05', '06'].map((day) => `2026-06-${day}T06:30Z`),
  );
});
