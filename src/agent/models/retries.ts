// Whether a model call that failed is tried again, and after which pause: by tries, or by time while its server is down.

/** How often and how long a model call is retried (D8). */
export interface RetryPolicy {
  /** Of one call, without those that a server was down for. */
  readonly tries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A server that asks for a longer wait has failed. */
  readonly maxRetryAfterMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  tries: 5,
  firstDelayMs: 500,
  maxDelayMs: 5_000,
  maxRetryAfterMs: 600_000,
};

/** A try that brought no reply, see `ModelFailure`. */
export interface FailedTry {
  readonly again: boolean;
  readonly isDown: boolean;
  readonly waitMs: number | null;
}

/**
 * When a try failed: after how long, without the waits to be let in, and what is left of the run's time. `hasBegun`: with a part of its
 * reply, so that its server was not down. `patienceMs`: with a server that is down.
 */
export interface FailedAt {
  readonly hasBegun: boolean;
  readonly atMs: number;
  readonly leftMs: number;
  readonly patienceMs: number;
}

/** `isWaiting`: the server is down, and was when the last try failed. `asksTooMuch`: it asks for a longer wait than there is. */
export type NextTry =
  | { readonly again: true; readonly waitMs: number; readonly isWaiting: boolean }
  | { readonly again: false; readonly asksTooMuch: boolean };

/**
 * Decides on the failures of one call, in order. A server that is down is asked again until `patienceMs` have passed since the
 * first such failure of this outage, any other failure `policy.tries` times; without patience, all are alike.
 */
export function makeRetries(policy: RetryPolicy): (failure: FailedTry, at: FailedAt) => NextTry {
  let tried = 0;
  let counted = 0;
  let downSinceMs: number | null = null;
  let wasDown = false;
  return (failure, { hasBegun, atMs, leftMs, patienceMs }) => {
    const isDown = failure.isDown && patienceMs > 0 && !hasBegun;
    if (hasBegun) [downSinceMs, wasDown] = [null, false];
    const isWaiting = isDown && wasDown;
    wasDown = isDown;
    tried += 1;
    if (isDown) downSinceMs ??= atMs;
    else counted += 1;
    const restMs = isDown ? patienceMs - (atMs - downSinceMs!) : null;
    const isSpent = restMs === null ? counted >= policy.tries : restMs <= 0;
    const askedMs = failure.waitMs ?? 0;
    const waitMs = Math.round(Math.max(askedMs, Math.min(backoffMs(tried, policy), restMs ?? Infinity)));
    const isTooLong = waitMs >= leftMs || askedMs > (restMs ?? policy.maxRetryAfterMs);
    if (failure.again && !isSpent && !isTooLong) return { again: true, waitMs, isWaiting };
    return { again: false, asksTooMuch: isTooLong };
  };
}

/** Half of the backoff is fixed and half is random, so that runs that failed together do not retry together. */
function backoffMs(tried: number, { firstDelayMs, maxDelayMs }: RetryPolicy): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
}
