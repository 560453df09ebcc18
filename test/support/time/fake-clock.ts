// A clock that moves only when a test moves it.
import type { Clock, Timer } from '../../../src/domain/clock.ts';

export interface FakeClock extends Clock {
  /** Moves monotonic and wall time, running the timers that come due in order. */
  advance(ms: number): void;
  /** Moves the wall clock alone, as an administrator or NTP does. */
  jump(ms: number): void;
}

export function fakeClock(startAt = Date.parse('2026-03-01T12:00:00.000Z')): FakeClock {
  let elapsed = 0;
  let offset = startAt;
  let timers: { due: number; callback: () => void }[] = [];
  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    after: (delayMs, callback): Timer => {
      const timer = { due: elapsed + delayMs, callback };
      timers.push(timer);
      return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
    },
    advance: (ms) => {
      const until = elapsed + ms;
      for (;;) {
        const next = timers.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        elapsed = next.due;
        next.callback();
      }
      elapsed = until;
    },
    jump: (ms) => void (offset += ms),
  };
}
