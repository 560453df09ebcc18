// Times of the public interface.
import { expect, test } from 'vitest';
import { beijingTime } from '../../../src/domain/publishing/public-time.ts';

test.each([
  ['2026-03-01T12:34:56.789Z', '2026-03-01 20:34:56'],
  ['2026-02-28T15:59:59.999Z', '2026-02-28 23:59:59'],
  ['2026-02-28T16:00:00.000Z', '2026-03-01 00:00:00'],
  ['2027-12-31T23:30:00.000Z', '2028-01-01 07:30:00'],
  ['2026-07-01T16:30:00.000Z', '2026-07-02 00:30:00'],
])('%s is %s in Beijing', { tags: ['§2.13-list-item'] }, (at, time) => {
  expect(beijingTime(Date.parse(at))).toBe(time);
});
