// The pause before the next attempt of a delivery (H1, H3).

/** Each further pause is this many times the one before. */
const GROWTH = 4;
const JITTER = 0.2;
const MAX_PAUSE_MS = 36_000_000;
const MAX_RETRY_AFTER_MS = 86_400_000;

export interface FailedAttempt {
  /** The webhook's `retry_backoff_ms`. */
  readonly backoffMs: number;
  /** Attempts that have failed, this one included. */
  readonly failed: number;
  /** What the receiver asked for by `Retry-After`; null when it did not. */
  readonly retryAfterMs: number | null;
}

/**
 * Milliseconds to wait: the backoff ×4 per failure with ±20 % jitter, at most 10 h; longer, up to 24 h, when the receiver
 * asks for it. `random` is from 0 to 1.
 */
export function pauseBeforeRetry({ backoffMs, failed, retryAfterMs }: FailedAttempt, random: number): number {
  const jitter = 1 + JITTER * (2 * random - 1);
  const pauseMs = Math.min(backoffMs * GROWTH ** (failed - 1) * jitter, MAX_PAUSE_MS);
  return Math.round(Math.max(pauseMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
}
