import { expect, test } from 'vitest';
import type { BudgetPeriod } from '../../../src/domain/budgets/budget.ts';
import { makePeriodOf } from '../../../src/domain/budgets/period.ts';

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString().slice(0, 16));

const CASES: readonly (readonly [BudgetPeriod, zone: string, at: string, span: readonly [string, string | null]])[] = [
  ['day', 'UTC', '2026-03-01T12:00', ['2026-03-01T00:00', '2026-03-02T00:00']],
  ['day', 'UTC', '2026-03-01T00:00', ['2026-03-01T00:00', '2026-03-02T00:00']],
  ['day', 'Asia/Kolkata', '2026-03-01T12:00', ['2026-02-28T18:30', '2026-03-01T18:30']],
  // The clocks change: 23 and 25 hours.
  ['day', 'Europe/Berlin', '2026-03-29T12:00', ['2026-03-28T23:00', '2026-03-29T22:00']],
  ['day', 'Europe/Berlin', '2026-10-25T12:00', ['2026-10-24T22:00', '2026-10-25T23:00']],
  // Apia skipped 30 December 2011 as a whole.
  ['day', 'Pacific/Apia', '2011-12-30T09:00', ['2011-12-29T10:00', '2011-12-30T10:00']],
  ['day', 'Nowhere/Gone', '2026-03-01T12:00', ['2026-03-01T00:00', '2026-03-02T00:00']],
  ['month', 'UTC', '2026-12-31T23:59', ['2026-12-01T00:00', '2027-01-01T00:00']],
  ['month', 'America/New_York', '2026-03-01T04:00', ['2026-02-01T05:00', '2026-03-01T05:00']],
  ['month', 'America/New_York', '2026-03-01T05:00', ['2026-03-01T05:00', '2026-04-01T04:00']],
  ['all', 'UTC', '2026-03-01T12:00', ['1970-01-01T00:00', null]],
];

test.each(CASES)('a %s in %s at %s', (period, timeZone, at, expected) => {
  const moment = Date.parse(`${at}Z`);
  const periodOf = makePeriodOf();
  const span = periodOf({ period, timeZone }, moment);
  expect([iso(span.startsAt), iso(span.endsAt)]).toEqual(expected);
  expect(periodOf({ period, timeZone }, moment)).toBe(span);
  if (span.endsAt !== null) expect(periodOf({ period, timeZone }, span.endsAt).startsAt).toBe(span.endsAt);
});
