// The scheduler, wired to what limits background work and to what determines the setup of a session.
import type { LiveConfig } from '../../config/live/live-config.ts';
import { MB } from '../../domain/byte-units.ts';
import { lookUpNow } from '../../domain/capabilities/look-up.ts';
import type { Clock } from '../../domain/clock.ts';
import type { WorkerNodes } from '../../execution/queue/node.ts';
import type { Disk } from '../../files/disk.ts';
import type { Log } from '../../log/log.ts';
import { makeSessionSetup } from '../../operations/turns/accepting/session-setup.ts';
import { makeScheduler } from '../../execution/queue/scheduler.ts';
import type { Store } from '../../store/open-store.ts';

export interface SchedulingParts {
  readonly live: Pick<LiveConfig, 'settings' | 'definitions'>;
  readonly store: Store;
  readonly node: Pick<WorkerNodes, 'onlineCapacity'>;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service. */
export function openScheduler({ live, store, node, disk, clock, log }: SchedulingParts) {
  const { settings, definitions } = live;
  // Many tasks are due at once: those whose target is gone must not hold up the others.
  const makeSetup = makeSessionSetup({ store, definitions, lookUp: lookUpNow });
  return makeScheduler({
    store,
    setupOf: ({ target, userSeq }) => makeSetup({ target, userSeq, capabilityConfig: {} }),
    limits: () => ({
      ...settings().background,
      userQuotaBytes: settings().workspace.userQuotaMb * MB,
      capacity: node.onlineCapacity(),
    }),
    disk,
    random: Math.random,
    clock,
    log,
  });
}
