// Slows down guessing of passwords: by the failing address, however many attempts are concurrent (B7), and by the account.
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

/** Logins under one name that may wait for those before them. */
const MAX_WAITING = 100;
const MAX_NAMES = 10_000;

/** The consequences of failures. Times are monotonic, in milliseconds; `failedAt` is ordered, oldest first. */
export interface Policy {
  /** How long a failure counts. */
  readonly windowMs: number;
  /** When the next login may be tried; a time in the past means now. */
  freeAt(failedAt: readonly number[]): number;
  /** How many may then be in progress at once: they count as failed until they have succeeded. */
  atOnce(failures: number): number;
}

const MINUTE_MS = 60_000;
const MAX_FAILURES = 10;

/** Ten failures a minute (B7). */
export const TEN_A_MINUTE: Policy = {
  windowMs: MINUTE_MS,
  freeAt: (failedAt) => (failedAt.length < MAX_FAILURES ? 0 : failedAt[0]! + MINUTE_MS),
  atOnce: (failures) => MAX_FAILURES - failures,
};

/** More than one address can cause in a minute, so that a single client can't block an account at once. */
const FREE_FAILURES = 20;
const LONGEST_WAIT_MS = 30_000;

/** After twenty failures in a quarter of an hour, waits of 1, 2, 4 … at most 30 seconds from one try to the next. */
export const GROWING_WAITS: Policy = {
  windowMs: 15 * MINUTE_MS,
  freeAt: (failedAt) => {
    const beyond = failedAt.length - FREE_FAILURES;
    return beyond < 0 ? 0 : failedAt.at(-1)! + Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** beyond);
  },
  atOnce: (failures) => Math.max(1, FREE_FAILURES - failures),
};

/** What is known of one name. Times are monotonic. */
interface Attempts {
  readonly failedAt: number[];
  inProgress: number;
  waiting: (() => void)[];
}

/** Runs a login that returns undefined when the password was wrong. Throws `rate_limited` instead of running it. */
export type Throttle = <T>(name: string, login: () => Promise<T | undefined>) => Promise<T | undefined>;

/**
 * Makes a throttle by name. A login in progress counts as failed until it has succeeded, so that concurrent attempts gain
 * nothing; those beyond the limit wait. At most 10,000 names are remembered, the latest to fail.
 */
export function makeThrottle(clock: Clock, policy: Policy = TEN_A_MINUTE, maxNames = MAX_NAMES): Throttle {
  const known = new Map<string, Attempts>();

  function attemptsOf(name: string): Attempts {
    const found = known.get(name);
    if (found !== undefined) return found;
    if (known.size >= maxNames) forgetOne();
    const fresh: Attempts = { failedAt: [], inProgress: 0, waiting: [] };
    known.set(name, fresh);
    return fresh;
  }

  function forgetOne(): void {
    for (const [name, { inProgress, waiting }] of known) {
      if (inProgress === 0 && waiting.length === 0) return void known.delete(name);
    }
  }

  async function enter(attempts: Attempts): Promise<void> {
    for (;;) {
      const now = clock.monotonic();
      forgetOld(attempts, now - policy.windowMs);
      const freeInMs = policy.freeAt(attempts.failedAt) - now;
      if (freeInMs > 0 || attempts.waiting.length >= MAX_WAITING) throw tooMany(freeInMs);
      if (attempts.inProgress < policy.atOnce(attempts.failedAt.length)) break;
      await new Promise<void>((resolve) => attempts.waiting.push(resolve));
    }
    attempts.inProgress += 1;
  }

  function leave(name: string, attempts: Attempts): void {
    attempts.inProgress -= 1;
    const { waiting } = attempts;
    attempts.waiting = [];
    for (const wake of waiting) wake();
    if (attempts.inProgress > 0 || waiting.length > 0) return;
    known.delete(name);
    // At the end, with the latest to fail: the oldest are forgotten first.
    if (attempts.failedAt.length > 0) known.set(name, attempts);
  }

  return async (name, login) => {
    const attempts = attemptsOf(name);
    await enter(attempts);
    try {
      const result = await login();
      if (result === undefined) attempts.failedAt.push(clock.monotonic());
      return result;
    } finally {
      leave(name, attempts);
    }
  };
}

function forgetOld({ failedAt }: Attempts, before: number): void {
  while (failedAt[0] !== undefined && failedAt[0] <= before) failedAt.shift();
}

function tooMany(freeInMs: number): ErrandError {
  return new ErrandError('rate_limited', 'Too many failed logins. Try again later.', {
    details: { retryAfterSeconds: Math.max(1, freeInMs / 1_000) },
  });
}
