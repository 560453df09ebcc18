// A connection that nobody answers is given up.
import { expect, test } from 'vitest';
import { watchSilence } from '../../../../../src/store/engine/postgres/connections/silence.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

function aWatch() {
  const clock = fakeClock();
  let silences = 0;
  const watch = watchSilence(clock, 1_000, () => (silences += 1));
  return { clock, watch, silences: () => silences };
}

test('what is answered in time, and what nobody has asked, is no silence', () => {
  const { clock, watch, silences } = aWatch();
  for (let times = 0; times < 5; times += 1) {
    watch.sent();
    watch.sent();
    clock.advance(900);
    watch.answered();
    clock.advance(900);
    watch.answered();
    clock.advance(5_000);
  }
  expect(silences()).toBe(0);
});

test('no answer for so long is, once', () => {
  const { clock, watch, silences } = aWatch();
  watch.sent();
  clock.advance(500);
  watch.answered();
  clock.advance(400);
  watch.sent();
  clock.advance(999);
  expect(silences()).toBe(0);
  clock.advance(1);
  expect(silences()).toBe(1);
  clock.advance(10_000);
  expect(silences()).toBe(1);
});

test('a connection that has ended is watched no longer', () => {
  const { clock, watch, silences } = aWatch();
  watch.sent();
  watch.end();
  clock.advance(10_000);
  expect(silences()).toBe(0);
});
