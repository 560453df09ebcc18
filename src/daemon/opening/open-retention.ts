// Retention, wired to what it removes.
import type { Happened } from '../../events/wakes.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Log } from '../../log/log.ts';
import { makeSeal } from '../../operations/audit/audit.ts';
import { type IdleWorkspaceParts, makeEmptyIdle } from '../../retention/idle-workspaces.ts';
import { makeOrphans, type OrphanSweepParts } from '../../retention/orphans.ts';
import { makeRetention, type Retention } from '../../retention/retention.ts';
import { keepOfUpgradeCopies } from '../../retention/upgrade-copies.ts';
import type { Store } from '../../store/open-store.ts';
import type { Planner } from '../../webhooks/planner.ts';

export interface OpenRetentionParts {
  readonly dataDir: string;
  readonly live: Pick<LiveConfig, 'settings' | 'onChange'>;
  readonly store: Store;
  readonly deriveKey: DeriveKey;
  readonly blobs: OrphanSweepParts['blobs'];
  readonly workspaces: IdleWorkspaceParts['workspaces'] & OrphanSweepParts['workspaces'];
  readonly snapshotThread: IdleWorkspaceParts['snapshotThread'];
  /** Plans what is committed before it is removed. */
  readonly webhooks: { readonly planner: Pick<Planner, 'catchUp'> };
  /** Removes blobs that nothing refers to any more. */
  readonly happened: Happened;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service, which also works when the settings change. */
export function openRetention(parts: OpenRetentionParts): Retention {
  const { dataDir, live, store, deriveKey, webhooks, happened, clock, log } = parts;
  const retention = makeRetention({
    store,
    seal: makeSeal(deriveKey),
    emptyIdle: makeEmptyIdle({ ...parts, isShared: store.peers !== null }),
    upgradeCopies: keepOfUpgradeCopies(dataDir),
    orphans: makeOrphans(parts),
    beforeRemoving: webhooks.planner.catchUp,
    removed: () => happened('share changed'),
    clock,
    log,
    settings: live.settings,
  });
  live.onChange(retention.wake);
  return retention;
}
