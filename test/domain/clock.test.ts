import { expect, test } from 'vitest';
import { isoTime } from '../../src/domain/clock.ts';

/** Around the ends of minutes, days and leap years, before 1970, and with a part of a millisecond. */
const MOMENTS = [
  0, -1, 1, 59_999, 60_000, 86_399_999, 86_400_000, 951_782_399_999, 951_782_400_000, -62_198_755_200_001,
]
  .concat([1_772_323_199_999, 253_402_300_800_000, 1_772_323_199_999.9, -0.5, 8.64e15])
  .concat(Array.from({ length: 2_000 }, (_, at) => at * 86_399_123_457 - 62_000_000_000_000));

test('a moment is rendered as the engine would render it', () => {
  for (const at of MOMENTS) expect(isoTime(at)).toBe(new Date(at).toISOString());
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 86_400_000, -8.64e15 - 86_400_000])(
  '%s is no moment',
  (at) => {
    expect(() => isoTime(at)).toThrow(RangeError);
  },
);
