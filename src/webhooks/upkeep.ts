// Keeps the record of deliveries short: what is old, and what disabled and deleted webhooks leave behind.
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';

export interface UpkeepParts {
  readonly store: {
    readonly deliveries: Pick<
      Store['deliveries'],
      'cancelOfDisabled' | 'cancelOverdue' | 'pruneBefore' | 'pruneDeleted' | 'pruneSecrets'
    >;
    readonly retention: Pick<Store['retention'], 'lookAtClock'>;
  };
  readonly clock: Clock;
  readonly log: Log;
  settings(): Pick<Settings, 'webhooks'>;
}

const DAY_MS = 86_400_000;
/** The retries of a delivery take three weeks at most: one that has been due for longer rests with its owner. */
const MAX_OVERDUE_DAYS = 30;
const OVERDUE = `It was canceled: it had been due for ${MAX_OVERDUE_DAYS} days, in which it could not be sent.`;
const LOOK_MS = 3_600_000;

/** Makes the service. Wake it when a webhook was disabled or deleted. */
export function makeUpkeep({ store: { deliveries, retention }, clock, log, settings }: UpkeepParts): Service {
  /** Not while the clock may be wrong. */
  const byAge = [
    () => deliveries.cancelOverdue(clock.now() - MAX_OVERDUE_DAYS * DAY_MS, OVERDUE),
    () => deliveries.pruneBefore(clock.now() - settings().webhooks.retentionDays * DAY_MS),
  ];

  /** Each step is a small commit, with others' in between. */
  async function work(stopping: AbortSignal): Promise<number> {
    const { heldUntil } = await retention.lookAtClock();
    const steps = [
      deliveries.cancelOfDisabled,
      deliveries.pruneDeleted,
      deliveries.pruneSecrets,
      ...(heldUntil === null ? byAge : []),
    ];
    for (const step of steps) while (!stopping.aborted && (await step()));
    return LOOK_MS;
  }

  return makeService({ work, failure: 'the record of deliveries could not be pruned', clock, log });
}
