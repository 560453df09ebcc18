import { expect, test } from 'vitest';
import { makePollRate } from '../../../src/operations/turns/poll-rate.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

function fixture(perSecond = 10) {
  const clock = fakeClock();
  const count = makePollRate({ clock, perSecond: () => perSecond });
  const passes = (keySeq: number, times: number) => {
    let passed = 0;
    for (let time = 0; time < times; time += 1) {
      try {
        count(keySeq);
        passed += 1;
      } catch (error) {
        expect(error).toMatchObject({ reason: 'rate_limited', details: { retryAfterSeconds: 1 } });
      }
    }
    return passed;
  };
  return { clock, passes };
}

test('ten look-ups pass at once, the eleventh does not, and each key has its own', {
  tags: ['§7-look-up-429', '§8-polling', 'D9'],
}, () => {
  const { passes } = fixture();
  expect(passes(1, 15)).toBe(10);
  expect(passes(2, 15)).toBe(10);
});

test('the bucket fills with time, never over its brim, and a jump of the wall clock fills nothing', {
  tags: ['§8-polling'],
}, () => {
  const { clock, passes } = fixture();
  passes(1, 10);
  clock.jump(3_600_000);
  expect(passes(1, 5)).toBe(0);
  clock.advance(300);
  expect(passes(1, 10)).toBe(3);
  clock.advance(60_000);
  expect(passes(1, 30)).toBe(10);
});
