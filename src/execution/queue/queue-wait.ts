// Ends the wait of background runs that no worker takes. Sets no timer while none waits.
import type { Clock } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

/** A change of the limit is noticed within this time. */
const LOOK_MS = 5_000;

export interface QueueWaitParts {
  readonly store: Pick<Store, 'runs'>;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Settings;
}

/** Makes the service. Wake it when a run was queued. */
export function makeQueueWait({ store: { runs }, clock, log, settings }: QueueWaitParts): Service {
  async function work(): Promise<number | null> {
    const waitMs = settings().background.queueWaitSeconds * 1_000;
    const queuedAt = await runs.oldestQueuedAt();
    if (queuedAt === undefined) return null;
    const leftMs = queuedAt + waitMs - clock.steady();
    if (leftMs > 0) return Math.min(leftMs, LOOK_MS);
    const expired = await runs.expireQueued(waitMs);
    if (expired > 0) log.warn({ runs: expired }, 'background runs waited too long and failed');
    return 1;
  }

  return makeService({ work, failure: 'waits in the queue could not be ended', clock, log });
}
