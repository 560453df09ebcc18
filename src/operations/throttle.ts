// Holds back who guesses passwords: ten failed logins a minute from one address, however many at once (B7).
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Logins of one address that may wait for those before them. */
const MAX_WAITING = 100;
const MAX_ADDRESSES = 10_000;

/** What is known of one address. Moments are monotonic. */
interface Attempts {
  readonly failedAt: number[];
  underWay: number;
  waiting: (() => void)[];
}

/** Runs a login that answers undefined when the password was wrong. Throws `rate_limited` instead of running it. */
export type Throttle = <T>(address: string, login: () => Promise<T | undefined>) => Promise<T | undefined>;

/**
 * Makes the throttle. A login under way counts as failed until it has succeeded, so that many at once gain nothing;
 * those beyond the limit wait for it. At most 10,000 addresses are remembered, the latest to fail.
 */
export function makeThrottle(clock: Clock, maxAddresses = MAX_ADDRESSES): Throttle {
  const known = new Map<string, Attempts>();

  function attemptsOf(address: string): Attempts {
    const found = known.get(address);
    if (found !== undefined) return found;
    if (known.size >= maxAddresses) forgetOne();
    const fresh: Attempts = { failedAt: [], underWay: 0, waiting: [] };
    known.set(address, fresh);
    return fresh;
  }

  function forgetOne(): void {
    for (const [address, { underWay, waiting }] of known) {
      if (underWay === 0 && waiting.length === 0) return void known.delete(address);
    }
  }

  async function enter(attempts: Attempts): Promise<void> {
    for (;;) {
      forgetOld(attempts, clock.monotonic());
      if (attempts.failedAt.length >= MAX_FAILURES || attempts.waiting.length >= MAX_WAITING) {
        throw tooMany(attempts, clock.monotonic());
      }
      if (attempts.failedAt.length + attempts.underWay < MAX_FAILURES) break;
      await new Promise<void>((resolve) => attempts.waiting.push(resolve));
    }
    attempts.underWay += 1;
  }

  function leave(address: string, attempts: Attempts): void {
    attempts.underWay -= 1;
    const { waiting } = attempts;
    attempts.waiting = [];
    for (const wake of waiting) wake();
    if (attempts.underWay > 0 || waiting.length > 0) return;
    known.delete(address);
    // At the end, where the latest to fail are: the first are forgotten first.
    if (attempts.failedAt.length > 0) known.set(address, attempts);
  }

  return async (address, login) => {
    const attempts = attemptsOf(address);
    await enter(attempts);
    try {
      const result = await login();
      if (result === undefined) attempts.failedAt.push(clock.monotonic());
      return result;
    } finally {
      leave(address, attempts);
    }
  };
}

function forgetOld({ failedAt }: Attempts, now: number): void {
  while (failedAt[0] !== undefined && failedAt[0] <= now - WINDOW_MS) failedAt.shift();
}

function tooMany({ failedAt }: Attempts, now: number): ErrandError {
  const freeAt = (failedAt[0] ?? now) + (failedAt.length > 0 ? WINDOW_MS : 0);
  return new ErrandError('rate_limited', 'Too many failed logins. Try again later.', {
    details: { retryAfterSeconds: Math.max(1, (freeAt - now) / 1_000) },
  });
}

/**
 * The address that failures are counted under: an IPv4 address itself, of an IPv6 address the first half. One
 * subscriber has all the addresses of the other.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined || !plain.includes(':')) return mapped ?? plain;
  const groups = (text = '') => (text === '' ? [] : text.split(':'));
  const [left, right] = plain.split('::');
  const [before, after] = [groups(left), groups(right)];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
