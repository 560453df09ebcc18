// The services of webhooks, wired together.
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import { makePlanner } from '../webhooks/planner.ts';
import { makeUpkeep } from '../webhooks/upkeep.ts';

export interface WebhookParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the services. None of them works before `start`. */
export function openWebhooks({ store, clock, log }: WebhookParts) {
  const planner = makePlanner({ store, clock, log, planned: () => undefined });
  const upkeep = makeUpkeep({ store, clock, log });

  /** A webhook was made, changed or deleted: who wants what is read again, and what it leaves is removed. */
  function changed(): void {
    planner.wake();
    upkeep.wake();
  }

  return {
    planner,
    changed,
    start: changed,
    stop: async () => {
      await Promise.all([planner.stop(), upkeep.stop()]);
    },
  };
}
