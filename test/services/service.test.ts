// The one loop of all background services: when it works, when it sleeps, and what ends it.
import { expect, test } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { makeService, type ServiceParts } from '../../src/services/service.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

/** Lets every promise that can settle do so. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** A service whose works end when the test says how, one after the other. */
function serviceFixture(over: Partial<ServiceParts> = {}) {
  const clock = fakeClock();
  const works: PromiseWithResolvers<number | null>[] = [];
  const lines: string[] = [];
  const timers = { set: 0 };
  const after: typeof clock.after = (delayMs, callback) => {
    timers.set += 1;
    return clock.after(delayMs, callback);
  };
  let signal: AbortSignal | undefined;
  const service = makeService({
    work: (stopping) => {
      signal = stopping;
      const work = Promise.withResolvers<number | null>();
      works.push(work);
      return work.promise;
    },
    failure: 'it failed',
    clock: { ...clock, after },
    log: { error: (_facts: object, line: string) => lines.push(line) } as unknown as Log,
    ...over,
  });
  return {
    clock,
    service,
    lines,
    timers,
    stopping: () => signal!.aborted,
    begun: () => works.length,
    /** Ends the newest work. */
    end: async (nextMs: number | null) => {
      works.at(-1)!.resolve(nextMs);
      await settle();
    },
    fail: async () => {
      works.at(-1)!.reject(new Error('The disk says no.'));
      await settle();
    },
  };
}

test('it sleeps until its first wake, and starts to work within that call', () => {
  const fixture = serviceFixture();
  fixture.clock.advance(3_600_000);
  expect(fixture.begun()).toBe(0);
  fixture.service.wake();
  expect(fixture.begun()).toBe(1);
});

test('it works again when its next work is due, and not before', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.end(1_000);
  fixture.clock.advance(999);
  expect(fixture.begun()).toBe(1);
  fixture.clock.advance(1);
  expect(fixture.begun()).toBe(2);
});

test('it sets no timer when nothing is due', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.end(null);
  expect(fixture.timers.set).toBe(0);
  fixture.service.wake();
  expect(fixture.begun()).toBe(2);
});

test('a wake before its next work is due makes it work at once, instead of then', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.end(1_000);
  fixture.service.wake();
  expect(fixture.begun()).toBe(2);
  await fixture.end(null);
  fixture.clock.advance(1_000);
  expect(fixture.begun()).toBe(2);
});

test('any number of wakes during work have it work once more afterwards', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  for (let wake = 0; wake < 5; wake += 1) fixture.service.wake();
  expect(fixture.begun()).toBe(1);
  await fixture.end(1_000);
  expect([fixture.begun(), fixture.timers.set]).toEqual([2, 0]);
  await fixture.end(null);
  expect(fixture.begun()).toBe(2);
});

test('work that fails is logged and tried again, later after each failure in a row', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  for (const [failures, pauseMs] of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
    await fixture.fail();
    expect(fixture.lines).toHaveLength(failures + 1);
    fixture.clock.advance(pauseMs - 1);
    expect(fixture.begun()).toBe(failures + 1);
    fixture.clock.advance(1);
    expect(fixture.begun()).toBe(failures + 2);
  }
  await fixture.end(null);
  fixture.service.wake();
  await fixture.fail();
  const before = fixture.begun();
  fixture.clock.advance(1_000);
  expect(fixture.begun()).toBe(before + 1);
});

test('a longer pause between attempts can be asked for', async () => {
  const fixture = serviceFixture({ maxRetryMs: 60_000 });
  fixture.service.wake();
  for (let failure = 0; failure < 7; failure += 1) {
    await fixture.fail();
    fixture.clock.advance(60_000);
  }
  await fixture.fail();
  const before = fixture.begun();
  fixture.clock.advance(59_999);
  expect(fixture.begun()).toBe(before);
  fixture.clock.advance(1);
  expect(fixture.begun()).toBe(before + 1);
});

test('a wake after a failure does not wait for the pause', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.fail();
  fixture.service.wake();
  expect(fixture.begun()).toBe(2);
});

test('a stop lets work in progress end, signals it, and starts no other', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  fixture.service.wake();
  let stopped = false;
  const stop = fixture.service.stop().then(() => (stopped = true));
  await settle();
  expect([fixture.stopping(), stopped]).toEqual([true, false]);
  await fixture.end(1_000);
  await stop;
  fixture.service.wake();
  fixture.clock.advance(1_000);
  expect([fixture.begun(), fixture.timers.set]).toEqual([1, 0]);
});

test('a stop cancels the timer', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.end(1_000);
  await fixture.service.stop();
  fixture.clock.advance(1_000);
  expect(fixture.begun()).toBe(1);
});

test('work that fails of the stop is not logged', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  const stop = fixture.service.stop();
  await fixture.fail();
  await stop;
  expect([fixture.lines, fixture.timers.set]).toEqual([[], 0]);
});

test('what is due in a month is checked each day: a timer of Node takes at most 24 days', async () => {
  const fixture = serviceFixture();
  fixture.service.wake();
  await fixture.end(30 * 86_400_000);
  fixture.clock.advance(86_400_000);
  expect(fixture.begun()).toBe(2);
});

test('settled waits for the work in progress, and for none that starts later', async () => {
  const fixture = serviceFixture();
  await fixture.service.settled();
  fixture.service.wake();
  fixture.service.wake();
  const settled = fixture.service.settled();
  await fixture.end(null);
  await settled;
  expect(fixture.begun()).toBe(2);
});
