import { expect, test } from 'vitest';
import { dayStartQuarter, isTimeZone, QUARTER_MS } from '../../src/domain/time-zone.ts';

const dayStart = (at: string, timeZone: string) =>
  new Date(dayStartQuarter(Date.parse(at), timeZone) * QUARTER_MS).toISOString();

test.each([
  ['UTC', '2026-03-10T00:00:00Z', '2026-03-10T00:00:00.000Z'],
  ['UTC', '2026-03-10T23:59:59Z', '2026-03-10T00:00:00.000Z'],
  ['Asia/Shanghai', '2026-03-10T15:59:59Z', '2026-03-09T16:00:00.000Z'],
  ['Asia/Shanghai', '2026-03-10T16:00:00Z', '2026-03-10T16:00:00.000Z'],
  ['Etc/GMT+12', '2026-03-10T11:59:00Z', '2026-03-09T12:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-03-10T09:59:00Z', '2026-03-09T10:00:00.000Z'],
])('a day of %s at %s began at %s', (timeZone, at, began) => {
  expect(dayStart(at, timeZone)).toBe(began);
});

test.each([
  ['half an hour', 'Asia/Kolkata', '2026-03-10T18:29:59Z', '2026-03-09T18:30:00.000Z'],
  ['half an hour', 'Asia/Kolkata', '2026-03-10T18:30:00Z', '2026-03-10T18:30:00.000Z'],
  ['three quarters', 'Asia/Kathmandu', '2026-03-10T18:20:00Z', '2026-03-10T18:15:00.000Z'],
  ['half an hour, behind', 'America/St_Johns', '2026-01-10T03:29:00Z', '2026-01-09T03:30:00.000Z'],
])('zones with %s: %s at %s began at %s', (_, timeZone, at, began) => {
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
])('a day %s: %s at %s began at %s', (_, timeZone, at, began) => {
  expect(dayStart(at, timeZone)).toBe(began);
});

test.each(['UTC', 'Asia/Shanghai', 'Asia/Calcutta', 'Etc/GMT+8', 'America/Argentina/Buenos_Aires', 'EST5EDT'])(
  '%s names a time zone',
  (name) => expect(isTimeZone(name)).toBe(true),
);

test.each(['', '+08:00', '-0800', '+08', 'UTC+8', 'Mars/Olympus', 'Asia/Shanghai ', '../../etc/passwd', '8', 'Asia'])(
  '"%s" names none',
  (name) => expect(isTimeZone(name)).toBe(false),
);
