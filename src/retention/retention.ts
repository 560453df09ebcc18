// Retention: removes by itself, once an hour, what is older than the settings keep.
import type { Clock } from '../domain/clock.ts';
import { isoTime } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Seal } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import { type Kind, makeKinds } from './kinds.ts';
import { type Due, type PassReport, removeDue } from './pass.ts';

export interface RetentionParts {
  readonly store: Pick<Store, 'retention'>;
  readonly seal: Seal;
  /** Awaited before events are removed: whoever delivers events has read them then. */
  beforeRemoving(): Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Pick<Settings, 'retention'>;
}

export interface Retention extends Service {
  /** The pass in progress, or the last one; null before the first. */
  lastPass(): PassReport | null;
  /** What is due by the settings and the clock of now. */
  due(): readonly DueKind[];
}

/** A kind that has an age. */
export type DueKind = Due & { readonly kind: Kind; readonly days: number };

const DAY_MS = 86_400_000;
const LOOK_MS = 3_600_000;

/** Makes the service. A kill at any moment costs nothing: the next pass finds what is left. */
export function makeRetention({ store, seal, beforeRemoving, clock, log, settings }: RetentionParts): Retention {
  const kinds = makeKinds({ store, seal });
  let pass: PassReport | null = null;

  function due(): DueKind[] {
    return kinds.flatMap((kind) => {
      const days = kind.days(settings());
      return days === null ? [] : [{ kind, days, before: clock.now() - days * DAY_MS }];
    });
  }

  async function work(stopping: AbortSignal): Promise<number> {
    const { heldUntil } = await store.retention.lookAtClock();
    if (heldUntil !== null) {
      log.warn({ until: isoTime(heldUntil) }, HELD);
      return LOOK_MS;
    }
    const startedAt = clock.now();
    const removed: Record<string, number> = {};
    const report = (endedAt: number | null) => (pass = { startedAt, endedAt, removed: { ...removed } });
    report(null);
    await beforeRemoving();
    await removeDue(due(), {
      clock,
      stopping,
      told: (kind, rows) => {
        removed[kind] = (removed[kind] ?? 0) + rows;
        report(null);
      },
    }).finally(() => report(clock.now()));
    if (Object.values(removed).some((rows) => rows > 0)) log.info({ removed }, 'what is old was removed');
    return LOOK_MS;
  }

  const service = makeService({ work, failure: 'what is old could not be removed', maxRetryMs: 60_000, clock, log });
  return { ...service, lastPass: () => pass, due };
}

const HELD = 'the clock is more than two days ahead of when it was last seen: nothing is removed by age for a day';
