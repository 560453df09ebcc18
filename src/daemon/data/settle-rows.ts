// The rows at a start: waits for a database server that starts at the same time, as after a power failure, and examines whose they are.
import type { Config } from '../../config/config.ts';
import { pauseAlive } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import type { ServiceManager } from '../../service-manager/service-manager.ts';
import { mayPass } from '../../store/engine/postgres/opening/opening-faults.ts';
import type { StoreLocation } from '../../store/location.ts';
import type { Store } from '../../store/open-store.ts';
import { requireOwnRows } from './own-rows.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

/** Then the start fails, and whoever began it tries again. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1_000;

interface Parts {
  readonly store: Pick<Store, 'answered' | 'users' | 'objects' | 'installation'>;
  readonly log: Pick<Log, 'warn'>;
  readonly manager: Pick<ServiceManager, 'migrating'>;
}

/**
 * Resolves when the store answers, and its rows are those of the data directory: with whether the directory has joined them. Rejects with
 * what says why that can't be.
 */
export async function settleRows(config: Config, location: StoreLocation, parts: Parts): Promise<boolean> {
  if (location.kind === 'sqlite') return false;
  await untilReachable(parts);
  return requireOwnRows(config, location, parts.store);
}

async function untilReachable({ store, log, manager }: Parts): Promise<void> {
  const until = clock.monotonic() + PATIENCE_MS;
  for (let told = ''; ; ) {
    try {
      return await store.answered();
    } catch (error) {
      if (!mayPass(error) || clock.monotonic() >= until) throw error;
      const words = messageOf(error);
      if (words !== told) log.warn(`waiting for the database: ${words}`);
      manager.migrating('Waiting for the database', PATIENCE_MS);
      told = words;
    }
    await pauseAlive(clock, RETRY_MS);
  }
}
