// Time, as a thing that is passed: real in the daemon, moved by hand in tests.

export interface Timer {
  cancel(): void;
}

/** The seam to time. `now` is wall time in epoch milliseconds; `monotonic` never jumps and has no meaning but differences. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. The timer never keeps the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Epoch milliseconds as ISO 8601 UTC (§ conventions). */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
