import { expect, test } from 'vitest';
import { type FailedTry, makeRetries, type NextTry, type RetryPolicy } from '../../../src/agent/models/retries.ts';

const POLICY: RetryPolicy = { tries: 5, firstDelayMs: 500, maxDelayMs: 5_000, maxRetryAfterMs: 600_000 };
const PATIENCE_MS = 120_000;
const DOWN: FailedTry = { again: true, isDown: true, waitMs: null };
const BROKEN: FailedTry = { again: true, isDown: false, waitMs: null };
/** Tries that failed with a part of their reply. */
const NONE: readonly number[] = [];
const HOUR_MS = 3_600_000;

/** Lets tries fail at once, each after the pause before it, until none follows. Returns the pauses, and how it ended. */
function play(
  failures: (tried: number) => FailedTry,
  { patienceMs = PATIENCE_MS, runMs = HOUR_MS, begun = NONE } = {},
): { pauses: number[]; atMs: number; end: NextTry } {
  const next = makeRetries(POLICY);
  const pauses: number[] = [];
  let atMs = 0;
  for (let tried = 1; ; tried += 1) {
    const end = next(failures(tried), { hasBegun: begun.includes(tried), atMs, leftMs: runMs - atMs, patienceMs });
    if (!end.again || tried === 10_000) return { pauses, atMs, end };
    pauses.push(end.waitMs);
    atMs += end.waitMs;
  }
}

test.each([PATIENCE_MS, 1_800_000])(
  'a server that is down is asked again for %i ms, to the last of them',
  (patienceMs) => {
    const { pauses, atMs, end } = play(() => DOWN, { patienceMs });
    expect(atMs).toBe(patienceMs);
    expect(end).toEqual({ again: false, asksTooMuch: false });
    expect(Math.max(...pauses)).toBeLessThanOrEqual(POLICY.maxDelayMs);
    expect(pauses[0]).toBeLessThanOrEqual(POLICY.firstDelayMs);
    expect(pauses.length).toBeLessThan(patienceMs / 2_000);
  },
);

test('runs that failed together do not ask again together', () => {
  expect(new Set(Array.from({ length: 20 }, () => play(() => DOWN).pauses[9])).size).toBeGreaterThan(10);
});

test('any other failure has five tries, whatever the patience, and however often the server was down before', () => {
  expect(play(() => BROKEN).pauses).toHaveLength(4);
  const { pauses } = play((tried) => (tried <= 20 ? DOWN : BROKEN));
  expect(pauses).toHaveLength(24);
});

test('failures in between do not renew the patience', () => {
  expect(play((tried) => (tried === 6 ? BROKEN : DOWN)).atMs).toBeLessThanOrEqual(PATIENCE_MS + POLICY.maxDelayMs);
});

test('a reply that began shows that the server was up: what follows is another outage', () => {
  const { atMs } = play((tried) => (tried === 6 ? BROKEN : DOWN), { begun: [6] });
  expect(atMs).toBeGreaterThan(PATIENCE_MS + POLICY.maxDelayMs);
});

test('a server that begins each reply and then has no room has five tries', () => {
  expect(play(() => DOWN, { begun: [1, 2, 3, 4, 5] }).pauses).toHaveLength(4);
});

test('without patience, a server that is down has five tries', () => {
  expect(play(() => DOWN, { patienceMs: 0 }).pauses).toHaveLength(4);
});

test('Retry-After is obeyed within the patience, and ends the call beyond it', () => {
  const asks = (waitMs: number) => play((tried) => ({ ...DOWN, waitMs: tried === 1 ? waitMs : null }));
  expect(asks(100_000).pauses[0]).toBe(100_000);
  expect(asks(100_000).atMs).toBe(PATIENCE_MS);
  expect(asks(130_000)).toEqual({ pauses: [], atMs: 0, end: { again: false, asksTooMuch: true } });
  const throttled = play((tried) => ({ ...BROKEN, waitMs: tried === 1 ? 130_000 : null }));
  expect(throttled.pauses[0]).toBe(130_000);
});

test("the patience ends with the run's time", () => {
  const { atMs, end } = play(() => DOWN, { runMs: 60_000 });
  expect(atMs).toBeLessThan(60_000);
  expect(end.again).toBe(false);
});

test('only the first failure of an outage is news', () => {
  const next = makeRetries(POLICY);
  const news = [DOWN, DOWN, BROKEN, DOWN, DOWN].map((failure) => {
    const after = next(failure, { hasBegun: false, atMs: 0, leftMs: HOUR_MS, patienceMs: PATIENCE_MS });
    return after.again && !after.isWaiting;
  });
  expect(news).toEqual([true, false, true, true, false]);
});

test('a failure that a retry can not help ends the call at once', () => {
  expect(play(() => ({ again: false, isDown: false, waitMs: null })).pauses).toEqual([]);
});
