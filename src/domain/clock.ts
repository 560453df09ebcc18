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

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const digits = (count: number, value: number) => String(value).padStart(count, '0');
const MINUTES = Array.from({ length: 1_440 }, (_, at) => `${digits(2, Math.floor(at / 60))}:${digits(2, at % 60)}:`);
const SECONDS = Array.from({ length: 60 }, (_, at) => `${digits(2, at)}.`);
const MILLISECONDS = Array.from({ length: 1_000 }, (_, at) => `${digits(3, at)}Z`);

/** Days that were rendered, such as `2026-03-01T`. */
const days = new Map<number, string>();
const MAX_DAYS = 1_000;

/**
 * Epoch milliseconds as ISO 8601 UTC (§ conventions). From tables: moments are what takes longest of rendering a row, and
 * `toISOString` takes ten times as long.
 */
export function isoTime(at: number): string {
  const whole = Math.trunc(at);
  const day = Math.floor(whole / DAY_MS);
  const inDay = whole - day * DAY_MS;
  const minute = Math.floor(inDay / MINUTE_MS);
  const inMinute = inDay - minute * MINUTE_MS;
  const second = Math.floor(inMinute / 1_000);
  const date = days.get(day) ?? renderDay(day);
  return date + MINUTES[minute]! + SECONDS[second]! + MILLISECONDS[inMinute - second * 1_000]!;
}

/** Throws RangeError for what no date is. */
function renderDay(day: number): string {
  const date = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
  if (days.size >= MAX_DAYS) days.clear();
  days.set(day, date);
  return date;
}

/** The same, or null. */
export function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
