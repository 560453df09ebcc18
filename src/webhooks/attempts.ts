// Attempts in flight: each is sent, recorded, and may disable its webhook.
import { pause } from '../domain/clock.ts';
import { pauseBeforeRetry } from '../domain/webhooks/backoff.ts';
import type { Happened } from '../events/wakes.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import type { DeliveryTarget, PendingDelivery } from '../store/webhooks/deliveries.ts';
import type { AttemptMade, Recorded } from '../store/webhooks/record-attempts.ts';
import type { Attempted } from './attempt.ts';
import { GONE, makeFailureCheck } from './failing.ts';
import type { AttemptEnd } from './lanes.ts';
import { sendOnce, type SendParts } from './send-once.ts';

/** How long attempts in flight may go on when the daemon stops. */
const DRAIN_MS = 3_000;
/** Between attempts to record a result, which must not be sent twice because the disk is full. */
const RECORD_RETRY_MS = 5_000;

export interface SenderParts extends SendParts {
  readonly store: Pick<Store, 'deliveries' | 'webhooks'>;
  readonly log: Log;
  /** From 0 to 1, for the jitter of pauses. */
  random(): number;
  readonly happened: Happened;
  /** Called with the outcome of each attempt. */
  readonly attempted?: ((outcome: 'ok' | 'error') => void) | undefined;
}

/** What an attempt needs. */
interface Attempt {
  readonly target: DeliveryTarget;
  readonly delivery: PendingDelivery;
}

export interface Attempts {
  /** Starts an attempt. */
  start(target: DeliveryTarget, delivery: PendingDelivery): void;
  /** Ends those in flight in three seconds. Resolves when none is left, and no more can start: `closed` says so. */
  stop(closed: Promise<void>): Promise<void>;
}

/** Makes attempts. `ended` is called when the result of an attempt is recorded, or has nowhere to be. */
export function makeAttempts(parts: SenderParts, ended: (webhookId: number, end: AttemptEnd) => void): Attempts {
  const { store, clock, log } = parts;
  const stopping = new AbortController();
  const attempts = new Set<Promise<void>>();
  const checkFailure = makeFailureCheck(parts);

  async function carryOut({ target, delivery }: Attempt): Promise<void> {
    const result = await sendOnce(parts, target, delivery, stopping.signal);
    // An attempt that the daemon's end cut short says nothing about the receiver.
    if (stopping.signal.aborted && result.error !== null) return;
    parts.attempted?.(result.error === null ? 'ok' : 'error');
    log.debug({ delivery_id: delivery.id, ok: result.error === null, status: result.statusCode }, 'delivery attempted');
    const isFinal = result.error === null || result.statusCode === GONE;
    const retryAt = isFinal ? null : clock.now() + pauseMs({ target, delivery }, result);
    const recorded = await record(delivery.id, { result, epoch: target.webhook.epoch, retryAt });
    if (recorded !== undefined) await checkFailure(target.webhook, { ...result, ...recorded });
    ended(target.webhook.id, {
      deliveryId: delivery.id,
      standing: result.error === null ? 'proven' : 'failing',
      dueAt: recorded?.state === 'pending' ? retryAt : null,
    });
  }

  function pauseMs({ target, delivery }: Attempt, { retryAfterMs }: Attempted): number {
    const failed = delivery.attemptCount + 1;
    return pauseBeforeRetry({ backoffMs: target.webhook.retryBackoffMs, failed, retryAfterMs }, parts.random());
  }

  /** Tries until it is recorded or the daemon stops: then it is sent again, with the same event id. */
  async function record(id: number, made: AttemptMade): Promise<Recorded | undefined> {
    for (;;) {
      try {
        return await store.deliveries.recordAttempt(id, made);
      } catch (error) {
        if (stopping.signal.aborted) return undefined;
        log.error({ err: error, delivery_id: id }, 'An attempt of a webhook could not be recorded.');
        await pause(clock, RECORD_RETRY_MS, stopping.signal);
      }
    }
  }

  return {
    start: (target, delivery) => {
      const attempt = carryOut({ target, delivery })
        .catch((error: unknown) => log.error({ err: error, delivery_id: delivery.id }, 'A webhook could not be sent.'))
        .finally(() => attempts.delete(attempt));
      attempts.add(attempt);
    },
    stop: async (closed) => {
      const timer = clock.after(DRAIN_MS, () => stopping.abort());
      await closed;
      await Promise.all(attempts);
      timer.cancel();
    },
  };
}
