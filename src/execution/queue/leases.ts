// Leases: proof that a run has a worker. A run whose lease ended returns to the queue.
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Progress } from '../../store/runs/fence.ts';
import type { Store } from '../../store/open-store.ts';

export const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;

export interface LeaseParts {
  readonly store: Pick<Store, 'runs'>;
  /** This one. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The attempts that have a worker now. */
  held(): readonly Progress[];
}

/**
 * Makes the service that renews leases. It also works while no run is held: a run that could not be recorded, because the disk
 * was full, has no worker any more, and only the end of its lease returns it to the queue.
 */
export function makeLeases({ store: { runs }, node, clock, log, held }: LeaseParts): Service {
  async function work(): Promise<number> {
    await runs.renewLeases(node, held(), LEASE_MS);
    return RENEWAL_MS;
  }

  return makeService({ work, failure: 'leases could not be renewed', clock, log });
}
