import { expect, test } from 'vitest';
import {
  dayStartQuarter,
  firstMomentAfter,
  firstMomentOf,
  isTimeZone,
  QUARTER_MS,
} from '../../src/domain/time-zone.ts';

const dayStart = (at: string, timeZone: string) =>
  new Date(dayStartQuarter(Date.parse(at), timeZone) * QUARTER_MS).toISOString();

test.each([
  ['UTC', '2026-03-10T00:00:00Z', '2026-03-10T00:00:00.000Z'],
  ['UTC', '2026-03-10T23:59:59Z', '2026-03-10T00:00:00.000Z'],
  ['Asia/Shanghai', '2026-03-10T15:59:59Z', '2026-03-09T16:00:00.000Z'],
  ['Asia/Shanghai', '2026-03-10T16:00:00Z', '2026-03-10T16:00:00.000Z'],
  ['Etc/GMT+12', '2026-03-10T11:59:00Z', '2026-03-09T12:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-03-10T09:59:00Z', '2026-03-09T10:00:00.000Z'],
])('a day of %s at %s began at %s', { tags: ['§4.8-time-zone'] }, (timeZone, at, began) => {
  expect(dayStart(at, timeZone)).toBe(began);
});

test.each([
  ['half an hour', 'Asia/Kolkata', '2026-03-10T18:29:59Z', '2026-03-09T18:30:00.000Z'],
  ['half an hour', 'Asia/Kolkata', '2026-03-10T18:30:00Z', '2026-03-10T18:30:00.000Z'],
  ['three quarters', 'Asia/Kathmandu', '2026-03-10T18:20:00Z', '2026-03-10T18:15:00.000Z'],
  ['half an hour, behind', 'America/St_Johns', '2026-01-10T03:29:00Z', '2026-01-09T03:30:00.000Z'],
])('zones with %s: %s at %s began at %s', { tags: ['§4.8-time-zone'] }, (_, timeZone, at, began) => {
  expect(dayStart(at, timeZone)).toBe(began);
});

test.each([
  ['of 23 hours', 'Europe/Berlin', '2026-03-29T21:59:00Z', '2026-03-28T23:00:00.000Z'],
  ['after one of 23 hours', 'Europe/Berlin', '2026-03-29T22:00:00Z', '2026-03-29T22:00:00.000Z'],
  ['of 25 hours', 'Europe/Berlin', '2026-10-25T22:59:00Z', '2026-10-24T22:00:00.000Z'],
  ['after one of 25 hours', 'Europe/Berlin', '2026-10-25T23:00:00Z', '2026-10-25T23:00:00.000Z'],
  // The clocks of Cairo go from 0:00 to 1:00, those of Santiago from 24:00 to 23:00, those of Havana from 1:00 to 0:00.
  ['without a midnight', 'Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z'],
  ['before one without a midnight', 'Africa/Cairo', '2026-04-23T21:59:00Z', '2026-04-22T22:00:00.000Z'],
  ['whose last hour comes twice', 'America/Santiago', '2026-04-05T03:59:00Z', '2026-04-04T03:00:00.000Z'],
  ['after one whose last hour came twice', 'America/Santiago', '2026-04-05T04:00:00Z', '2026-04-05T04:00:00.000Z'],
  ['whose first hour comes twice', 'America/Havana', '2026-11-01T05:30:00Z', '2026-11-01T04:00:00.000Z'],
  ['of 23 and a half hours', 'Australia/Lord_Howe', '2026-10-04T12:00:00Z', '2026-10-03T13:30:00.000Z'],
])('a day %s: %s at %s began at %s', { tags: ['§4.8-time-zone'] }, (_, timeZone, at, began) => {
  expect(dayStart(at, timeZone)).toBe(began);
});

test.each(['UTC', 'Asia/Shanghai', 'Asia/Calcutta', 'Etc/GMT+8', 'America/Argentina/Buenos_Aires', 'EST5EDT'])(
  '%s names a time zone',
  (name) => expect(isTimeZone(name)).toBe(true),
);

test.each(['', '+08:00', '-0800', '+08', 'UTC+8', 'Mars/Olympus', 'Asia/Shanghai ', '../../etc/passwd', '8', 'Asia'])(
  '"%s" names none',
  { tags: ['G23'] },
  (name) => expect(isTimeZone(name)).toBe(false),
);

/** Where a day of the calendar begins and ends. */
const DAYS: readonly (readonly [what: string, timeZone: string, date: string, begins: string, ends: string])[] = [
  ['of UTC', 'UTC', '2026-03-10', '2026-03-10T00:00', '2026-03-11T00:00'],
  ['ahead of UTC', 'Asia/Shanghai', '2026-03-10', '2026-03-09T16:00', '2026-03-10T16:00'],
  ['furthest ahead', 'Pacific/Kiritimati', '2026-03-10', '2026-03-09T10:00', '2026-03-10T10:00'],
  ['furthest behind', 'Etc/GMT+12', '2026-03-10', '2026-03-10T12:00', '2026-03-11T12:00'],
  ['of a zone with half an hour', 'Asia/Kolkata', '2026-03-10', '2026-03-09T18:30', '2026-03-10T18:30'],
  ['of a zone with three quarters', 'Asia/Kathmandu', '2026-03-10', '2026-03-09T18:15', '2026-03-10T18:15'],
  ['of 23 hours', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00', '2026-03-29T22:00'],
  ['of 25 hours', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00', '2026-10-25T23:00'],
  ['of 23 and a half hours', 'Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30', '2026-10-04T13:00'],
  ['without a midnight', 'Africa/Cairo', '2026-04-24', '2026-04-23T22:00', '2026-04-24T21:00'],
  ['whose last hour comes twice', 'America/Santiago', '2026-04-04', '2026-04-04T03:00', '2026-04-05T04:00'],
  ['whose first hour comes twice', 'America/Havana', '2026-11-01', '2026-11-01T04:00', '2026-11-02T05:00'],
  // At one minute past midnight the clocks went back to one minute past eleven.
  ['with two midnights', 'America/St_Johns', '2006-10-29', '2006-10-29T02:30', '2006-10-30T03:30'],
  ['that was skipped', 'Pacific/Apia', '2011-12-30', '2011-12-30T10:00', '2011-12-30T10:00'],
  ['after one that was skipped', 'Pacific/Apia', '2011-12-31', '2011-12-30T10:00', '2011-12-31T10:00'],
  ['of a leap year', 'UTC', '2028-02-29', '2028-02-29T00:00', '2028-03-01T00:00'],
  ['at the end of a year', 'Asia/Shanghai', '2026-12-31', '2026-12-30T16:00', '2026-12-31T16:00'],
  ['of long ago', 'Asia/Shanghai', '0001-01-01', '0001-01-01T00:00', '0001-01-02T00:00'],
];

test.each(DAYS)('a day %s: in %s, %s is from %s to %s', (...[, timeZone, date, begins, ends]) => {
  const written = (at: number) => new Date(at).toISOString().slice(0, 16);
  expect([firstMomentOf(date, timeZone), firstMomentAfter(date, timeZone)].map(written)).toEqual([begins, ends]);
});

test('the last day of the calendar ends after all moments', () => {
  expect(firstMomentAfter('9999-12-31', 'Asia/Shanghai')).toBe(Date.parse('9999-12-31T00:00:00Z') + 86_400_000);
});
