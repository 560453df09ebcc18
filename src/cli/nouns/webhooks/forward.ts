// Posts events to a receiver under development, as the daemon's sender does.
import { systemClock } from '../../../domain/clock.ts';
import type { EgressRule } from '../../../domain/egress.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhooks/webhook.ts';
import { makeGuardedPool } from '../../../outbound/guarded-pool.ts';
import { attempt } from '../../../webhooks/attempt.ts';
import type { AttemptResult } from '../../../domain/webhooks/delivery.ts';
import type { SampleEventWire } from '../../../wire/webhooks/event.ts';
import { CommandError } from '../../frame/exit-codes.ts';

export interface Forward {
  /** Sends an event once. Never rejects. */
  post(event: SampleEventWire, signal: AbortSignal): Promise<AttemptResult>;
  close(): void;
}

/** The user's own machine and network: whoever types an address here may reach it. */
const EVERYWHERE: readonly EgressRule[] = ['0.0.0.0/0', '::/0'].map((cidr) => ({
  cidr,
  host: null,
  ports: null,
  for: ['webhook'],
}));

/** Whether an argument is an address and not an id. */
export const isAddress = (text: string) => /^https?:\/\//i.test(text);

/** Opens it to a URL. Without a secret, nothing is signed. Throws `usage`. */
export function openForward(url: string, secret: string | null): Forward {
  if (!isAddress(url) || !URL.canParse(url))
    throw new CommandError('usage', `It must be an absolute http or https address, not ${url}`);
  const policy = { purpose: 'webhook', allow: EVERYWHERE } as const;
  const pool = makeGuardedPool({ policy: () => policy, maxIdle: 1, clock: systemClock });
  const secrets = secret === null ? null : { current: secret, previous: null };
  const timeoutMs = WEBHOOK_LIMITS.timeoutMs.default;
  return {
    post: ({ event_id: eventId, event_type: eventType, body }, signal) =>
      attempt({ pool, clock: systemClock }, { url, eventId, eventType, body, secrets, timeoutMs }, signal),
    close: pool.close,
  };
}
