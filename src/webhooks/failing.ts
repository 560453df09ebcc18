// When a webhook that fails is disabled.
import type { Happened } from '../events/wakes.ts';
import type { Clock } from '../domain/clock.ts';
import type { AttemptResult } from '../domain/webhooks/delivery.ts';
import type { Webhook } from '../domain/webhooks/webhook.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import type { Recorded } from '../store/webhooks/record-attempts.ts';

const DAY_MS = 86_400_000;
const DAYS = 5;
/** Few attempts prove little. */
const MIN_FAILURES = 10;
/** Nor do days on which no daemon ran. */
const MIN_FAILURES_HERE = 3;

/** The status of a receiver that wants no more deliveries. */
export const GONE = 410;

export interface Failure
  extends Pick<AttemptResult, 'statusCode' | 'error'>,
    Pick<Recorded, 'failingSince' | 'failures'> {
  /** Failed attempts in a row since the daemon started. */
  readonly failuresHere: number;
}

/** Why a webhook is disabled after a failed attempt, in a sentence; null when it stays enabled (H3). */
export function reasonToDisable(failure: Failure, now: number): string | null {
  const { statusCode, error, failingSince, failures, failuresHere } = failure;
  if (statusCode === GONE) return 'The receiver replied with status 410: it wants no more deliveries.';
  if (failingSince === null || failures < MIN_FAILURES || failuresHere < MIN_FAILURES_HERE) return null;
  if (now - failingSince < DAYS * DAY_MS) return null;
  return `All ${failures} attempts of ${DAYS} days have failed. The last error: ${error ?? 'none'}`;
}

/** The webhook as it was when the attempt was made. */
type Attempted = Pick<Webhook, 'id' | 'epoch'>;

/** An attempt and what it led to. */
type Outcome = Pick<AttemptResult, 'statusCode' | 'error'> & Recorded;

export interface FailureCheckParts {
  readonly store: Pick<Store, 'webhooks'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly happened: Happened;
}

/** Makes the check: called after each attempt, it disables a webhook that has failed for too long. Never rejects. */
export function makeFailureCheck({
  store,
  clock,
  log,
  happened,
}: FailureCheckParts): (webhook: Attempted, outcome: Outcome) => Promise<void> {
  /** Failed attempts of webhooks in a row, by this daemon. */
  const failures = new Map<number, number>();

  async function disable(webhook: Attempted, reason: string): Promise<void> {
    const { id: webhookId } = webhook;
    try {
      if (!(await store.webhooks.giveUp(webhook, reason))) return;
      log.warn({ webhook_id: webhookId, reason }, 'A webhook was disabled.');
      happened('webhook disabled');
    } catch (error) {
      log.error({ err: error, webhook_id: webhookId }, 'A webhook could not be disabled.');
    }
  }

  return async (webhook, outcome) => {
    const { id: webhookId } = webhook;
    const failuresHere = outcome.error === null ? 0 : (failures.get(webhookId) ?? 0) + 1;
    const reason = failuresHere === 0 ? null : reasonToDisable({ ...outcome, failuresHere }, clock.now());
    if (failuresHere === 0 || reason !== null) failures.delete(webhookId);
    else failures.set(webhookId, failuresHere);
    if (reason !== null) await disable(webhook, reason);
  };
}
