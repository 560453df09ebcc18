// Due times are wall time: when the clock is set back, they would lie far ahead.
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import type { DueCursor } from '../store/webhooks/clock-jumps.ts';

/** Less is how clocks drift and are corrected. */
const JUMP_MS = 5_000;

export interface ClockWatchParts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** One commit. Returns what comes next in its place. */
type Step = () => Promise<readonly Step[]>;

/**
 * Makes a check of whether the clock was set since the last one. When it was set back, what is due later moves back too; set
 * forward, it is due early, which harms nobody. It answers whether anything moved. What fails is tried again by the next check,
 * which moves nothing twice.
 * What came before the first check is none of its jumps: another process has done what it asked for, with a clock of its own.
 */
export function makeClockWatch({ store, clock, log }: ClockWatchParts): () => Promise<boolean> {
  const offset = () => clock.now() - clock.monotonic();
  let known: number | undefined;
  /** What is left to do of the jumps so far. */
  const steps: Step[] = [];

  return async () => {
    known ??= offset();
    const byMs = offset() - known;
    known += byMs;
    if (Math.abs(byMs) >= JUMP_MS) {
      log.info({ by_ms: byMs }, 'The clock was set; due times of webhooks follow.');
      steps.push(...stepsOf(byMs));
    }
    const isMoving = steps.length > 0;
    while (steps.length > 0) steps.splice(0, 1, ...(await steps[0]!()));
    return isMoving;
  };

  function stepsOf(byMs: number): Step[] {
    const failing: Step = async () => {
      await store.deliveries.moveFailingSince(byMs);
      return [];
    };
    if (byMs > 0) return [failing];
    const now = clock.now();
    const due: Step = async () => {
      const webhookIds = await store.deliveries.listWithPending();
      // What is moved lies before the cursor afterwards, so nothing moves twice.
      return webhookIds.map((webhookId) => moveDue(webhookId, byMs, { nextAttemptAt: now, id: 0 }));
    };
    return [failing, due];
  }

  function moveDue(webhookId: number, byMs: number, after: DueCursor): Step {
    return async () => {
      const next = await store.deliveries.moveDue(webhookId, byMs, after);
      return next === null ? [] : [moveDue(webhookId, byMs, next)];
    };
  }
}
