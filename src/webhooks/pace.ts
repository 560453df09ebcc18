// The pace at which a webhook catches up with its backlog: a bucket of tokens.

/** How many tokens there were at a moment of the monotonic clock. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Deliveries a second, and how many may start at once. */
const PER_SECOND = 20;
const CAPACITY = 20;

export const fullBucket = (): Bucket => ({ tokens: CAPACITY, at: -Infinity });

/** Milliseconds until a token is there; 0 when one is. */
export function msUntilToken(bucket: Bucket, now: number): number {
  return Math.max(0, Math.ceil(((1 - tokensAt(bucket, now)) * 1_000) / PER_SECOND));
}

/** What is left after one is taken. */
export function takeToken(bucket: Bucket, now: number): Bucket {
  return { tokens: tokensAt(bucket, now) - 1, at: now };
}

function tokensAt({ tokens, at }: Bucket, now: number): number {
  return Math.min(CAPACITY, tokens + (Math.max(0, now - at) * PER_SECOND) / 1_000);
}
