// Retention, wired to what it removes.
import type { LiveConfig } from '../config/live-config.ts';
import type { Clock } from '../domain/clock.ts';
import type { DeriveKey } from '../files/master-key.ts';
import type { Log } from '../log/log.ts';
import { makeSeal } from '../operations/audit/audit.ts';
import { makeRetention, type Retention } from '../retention/retention.ts';
import type { Store } from '../store/open-store.ts';

export interface OpenRetentionParts {
  readonly live: Pick<LiveConfig, 'settings' | 'onChange'>;
  readonly store: Store;
  readonly deriveKey: DeriveKey;
  /** Resolves when what is committed was planned for webhooks. */
  planned(): Promise<void>;
  /** Removes blobs that nothing refers to any more. */
  removed(): void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service, which also works when the settings change. */
export function openRetention({ live, store, deriveKey, planned, removed, clock, log }: OpenRetentionParts): Retention {
  const seal = makeSeal(deriveKey);
  const retention = makeRetention({
    store,
    seal,
    beforeRemoving: planned,
    removed,
    clock,
    log,
    settings: live.settings,
  });
  live.onChange(retention.wake);
  return retention;
}
