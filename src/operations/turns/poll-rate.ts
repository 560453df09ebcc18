// Limits how often a key may look up the results of its runs: a token bucket per key (D9).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Buckets that are full again are removed once there are this many. */
const MAX_BUCKETS = 10_000;

/** Makes the check: throws `rate_limited` with `Retry-After: 1` for a look-up over the limit. Every look-up counts. */
export function makePollRate({ clock, perSecond }: { clock: Clock; perSecond(): number }) {
  const buckets = new Map<number, Bucket>();

  function forgetFull(now: number, limit: number): void {
    if (buckets.size < MAX_BUCKETS) return;
    for (const [key, { tokens, filledAt }] of buckets) {
      if (tokens + ((now - filledAt) / 1_000) * limit >= limit) buckets.delete(key);
    }
  }

  return (keySeq: number): void => {
    const limit = perSecond();
    const now = clock.monotonic();
    forgetFull(now, limit);
    const bucket = buckets.get(keySeq) ?? { tokens: limit, filledAt: now };
    const tokens = Math.min(limit, bucket.tokens + ((now - bucket.filledAt) / 1_000) * limit);
    buckets.set(keySeq, { tokens: tokens >= 1 ? tokens - 1 : tokens, filledAt: now });
    if (tokens >= 1) return;
    throw new ErrandError('rate_limited', `At most ${limit} look-ups a second; wait for Retry-After.`, {
      details: { retryAfterSeconds: 1 },
    });
  };
}
