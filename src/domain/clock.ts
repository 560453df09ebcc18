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
    // A moment that has passed: Node.js warns of a negative time.
    const timer = setTimeout(callback, Math.max(delayMs, 0));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** A clock that can be set by another one: wall time alone, so that what several machines compare is of one clock. */
export interface FollowingClock extends Clock {
  /** Sets it by the time of the other one, epoch milliseconds, as it was a moment ago. */
  follow(now: number): void;
}

/** A time that comes late says too little, so the greatest of so many counts. */
const COMPARED = 32;

/** Runs as the given clock does until it is set. */
export function makeFollowingClock(clock: Clock): FollowingClock {
  /** By how many milliseconds the other one is ahead: what counts, and the greatest since it was last determined. */
  let ahead: number | undefined;
  let [greatest, compared] = [-Infinity, 0];
  return {
    ...clock,
    now: () => clock.now() + (ahead ?? 0),
    follow: (now) => {
      const difference = now - clock.now();
      greatest = Math.max(greatest, difference);
      compared += 1;
      ahead = Math.max(ahead ?? difference, difference);
      if (compared < COMPARED) return;
      ahead = greatest;
      [greatest, compared] = [-Infinity, 0];
    },
  };
}

/** Resolves after some time, or when the signal aborts. A process that nothing else keeps alive ends instead. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
  });
}

/** Resolves after some time, until which the process lives on, even if nothing else keeps it alive. */
export async function pauseAlive(clock: Clock, ms: number): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  try {
    await pause(clock, ms);
  } finally {
    clearInterval(alive);
  }
}

/** What the work comes to; `late` where it takes longer than so many milliseconds, and goes on. */
export async function within<T, L>(clock: Clock, ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const passed = Promise.withResolvers<L>();
  const timer = clock.after(ms, () => passed.resolve(late));
  try {
    return await Promise.race([work, passed.promise]);
  } finally {
    timer.cancel();
  }
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** The parts of a time of day, as they are rendered; each is made when it is first met. */
const minutes = Array.from<string | undefined>({ length: 1_440 });
const seconds = Array.from<string | undefined>({ length: 60 });
const milliseconds = Array.from<string | undefined>({ length: 1_000 });

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
  const millisecond = inMinute - second * 1_000;
  return (
    (days.get(day) ?? renderDay(day)) +
    (minutes[minute] ??= `${digits(2, Math.floor(minute / 60))}:${digits(2, minute % 60)}:`) +
    (seconds[second] ??= `${digits(2, second)}.`) +
    (milliseconds[millisecond] ??= `${digits(3, millisecond)}Z`)
  );
}

const digits = (count: number, value: number) => String(value).padStart(count, '0');

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
