// The services of webhooks, wired together.
import type { LiveConfig } from '../../config/live/live-config.ts';
import type { Happened } from '../../events/wakes.ts';
import type { Clock } from '../../domain/clock.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import type { Log } from '../../log/log.ts';
import { makeGuardedPool } from '../../outbound/guarded-pool.ts';
import type { Store } from '../../store/open-store.ts';
import type { DeliveryTarget } from '../../store/webhooks/deliveries.ts';
import { rememberOpened } from '../../webhooks/opened-secrets.ts';
import { makePlanner } from '../../webhooks/planner.ts';
import type { SenderParts } from '../../webhooks/attempts.ts';
import { makeSender } from '../../webhooks/sender.ts';
import { type Message, sendOnce } from '../../webhooks/send-once.ts';
import { makeUpkeep } from '../../webhooks/upkeep.ts';

export interface WebhookParts {
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the outcome of each attempt. */
  readonly attempted?: SenderParts['attempted'];
  readonly happened: Happened;
}

/** Idle connections to receivers that are kept in all. */
const MAX_IDLE = 64;

/** Makes the services. None of them works before `start`. */
export function openWebhooks({ live, store, secrets: box, clock, log, attempted, happened }: WebhookParts) {
  const secrets = rememberOpened(box);
  const policy = () => ({ purpose: 'webhook', allow: live.settings().egress.allow }) as const;
  const pool = makeGuardedPool({ policy, maxIdle: MAX_IDLE, clock });
  const planner = makePlanner({ store, hasPeers: store.peers !== null, clock, log });
  const upkeep = makeUpkeep({ store, clock, log, settings: live.settings });
  const forSender = { store, secrets, pool, random: Math.random, happened, attempted };
  const sender = makeSender({ ...forSender, clock, log });

  let isStarted = false;
  // Changes of webhooks plan as well, for all that want the events before; also at a node that doesn't lead, and sends nothing.
  store.onPlanned(({ webhookIds, faults }) => {
    if (webhookIds.size > 0) {
      if (isStarted) sender.wake(webhookIds);
      else happened('deliveries planned');
    }
    for (const err of faults) log.error({ err }, 'the body of a webhook event could not be made');
  });

  return {
    planner,
    upkeep,
    /** Sends what is due of all. */
    send: () => {
      if (isStarted) sender.wake();
    },
    /** Makes one attempt, of a test. */
    sendOnce: (target: DeliveryTarget, message: Message) => sendOnce({ pool, secrets, clock, log }, target, message),
    start: () => {
      for (const service of [planner, upkeep]) service.wake();
      // What a process before this one has held is not sent before it says what is known by now.
      void planner.settled().then(() => {
        isStarted = true;
        sender.wake();
      });
    },
    stop: async () => {
      await Promise.all([planner.stop(), upkeep.stop(), sender.stop()]);
      pool.close();
    },
  };
}
