// Due times are wall time: when the clock is set back, they would lie far ahead.
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';

/** Less is how clocks drift and are corrected. */
const JUMP_MS = 5_000;

export interface ClockWatchParts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Makes a check of whether the clock was set since the last one. When it was set back, what is due later moves back too; set
 * forward, it is due early, which harms nobody. It answers whether anything moved.
 */
export function makeClockWatch({ store, clock, log }: ClockWatchParts): () => Promise<boolean> {
  const offset = () => clock.now() - clock.monotonic();
  let known = offset();
  return async () => {
    const byMs = offset() - known;
    if (Math.abs(byMs) < JUMP_MS) {
      known += byMs;
      return false;
    }
    const now = clock.now();
    log.info({ by_ms: byMs }, 'The clock was set; due times of webhooks follow.');
    await store.deliveries.moveFailingSince(byMs);
    known += byMs;
    if (byMs > 0) return false;
    for (const { webhookId } of await store.deliveries.listLanes()) await moveBack(webhookId, byMs, now);
    return true;
  };

  async function moveBack(webhookId: number, byMs: number, now: number): Promise<void> {
    // What is moved lies before the cursor afterwards, so nothing moves twice.
    let after: { nextAttemptAt: number; id: number } | null = { nextAttemptAt: now, id: 0 };
    while (after !== null) after = await store.deliveries.moveDue(webhookId, byMs, after);
  }
}
