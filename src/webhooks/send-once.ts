// Sends a delivery to its webhook once, signed with the secrets as they are now.
import type { Clock } from '../domain/clock.ts';
import { secretContextOf } from '../domain/webhooks/webhook.ts';
import type { SecretBox } from '../files/secret-box.ts';
import type { Log } from '../log/log.ts';
import type { GuardedPool } from '../outbound/guarded-pool.ts';
import type { DeliveryTarget, PendingDelivery } from '../store/webhooks/deliveries.ts';
import { attempt, type Attempted } from './attempt.ts';
import type { SigningSecrets } from './sign.ts';

export interface SendParts {
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly pool: GuardedPool;
  readonly clock: Clock;
  readonly log?: Pick<Log, 'debug'>;
}

/** What is sent of a delivery. */
export type Message = Pick<PendingDelivery, 'eventId' | 'eventType' | 'body'>;

/** A secret that can't be opened is a failure like any other. Never rejects. */
export async function sendOnce(
  { secrets, ...parts }: SendParts,
  target: DeliveryTarget,
  { eventId, eventType, body }: Message,
  signal?: AbortSignal,
): Promise<Attempted> {
  const { url, timeoutMs } = target.webhook;
  let signing: SigningSecrets | null;
  try {
    signing = openSecrets(secrets, target);
  } catch {
    const error = "The webhook's secret can't be read: it belongs to another master key.";
    return { at: parts.clock.now(), statusCode: null, durationMs: 0, error, responseExcerpt: null, retryAfterMs: null };
  }
  return attempt(parts, { url, timeoutMs, eventId, eventType, body, secrets: signing }, signal);
}

/** The secrets of a webhook; null when it has none. Throws `unavailable`. */
function openSecrets(
  box: SendParts['secrets'],
  { webhook, secret, previousSecret }: DeliveryTarget,
): SigningSecrets | null {
  if (secret === null) return null;
  const context = secretContextOf(webhook.id);
  return {
    current: box.open(secret, context),
    previous: previousSecret === null ? null : box.open(previousSecret, context),
  };
}
