// Time as a dependency: real in the daemon, moved by hand in tests.

export interface Timer {
  cancel(): void;
}

/** The interface to time. */
export interface Clock {
  /** Wall time in epoch milliseconds, as people set it. */
  now(): number;
  /** Never jumps; only differences are meaningful. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. The timer never keeps the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

/** Before this moment there was no Errand: a clock that says less was never set, such as on a machine whose battery is empty. */
const UNSET_BEFORE_MS = Date.parse('2020-01-01T00:00:00Z');

export const isUnset = (now: number): boolean => now < UNSET_BEFORE_MS;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after some time. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** Epoch milliseconds as ISO 8601 UTC (§ conventions). */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** The same, or null. */
export function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
