// Leases: proof that a run has a worker. A run whose lease ended goes back to the queue.
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

export const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;

export interface LeaseParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The runs that have a worker now. */
  held(): readonly number[];
  /** Called when a run went back to the queue. */
  rescued(): void;
}

/**
 * Renews leases from the first run on, also while no run is held: a run that could not be recorded, because the disk was
 * full, has no worker any more, and only the end of its lease brings it back.
 */
export function makeLeases({ store, clock, log, held, rescued }: LeaseParts): { keep(): void; stop(): void } {
  let timer: Timer | undefined;

  async function renew(): Promise<void> {
    try {
      if ((await store.runs.renewLeases(held(), LEASE_MS)) > 0) rescued();
    } catch (error) {
      log.error({ err: error }, 'leases could not be renewed');
    }
  }

  function keep(): void {
    if (timer !== undefined) return;
    timer = clock.after(RENEWAL_MS, () => {
      timer = undefined;
      void renew();
      keep();
    });
  }

  return { keep, stop: () => timer?.cancel() };
}
