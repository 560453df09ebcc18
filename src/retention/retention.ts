// Retention: removes by itself, once an hour, what is older than the settings keep.
import type { Clock } from '../domain/clock.ts';
import { isoTime } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Seal } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import type { EngineFigures } from '../store/engine/database.ts';
import { type KindReport, makeBounds } from './bounds.ts';
import { type KindParts, makeKinds } from './kinds.ts';
import type { OrphanReport, Orphans } from './orphans.ts';
import { type Due, type PassReport, removeDue } from './pass.ts';

export interface RetentionParts {
  readonly store: Pick<Store, 'retention' | 'figures'>;
  readonly seal: Seal;
  readonly emptyIdle: KindParts['emptyIdle'];
  readonly upgradeCopies: KindParts['upgradeCopies'];
  readonly orphans: Orphans;
  /** Awaited before events are removed: whoever delivers events has read them then. */
  beforeRemoving(): Promise<void>;
  /** Called after a pass: blobs may be left to remove. */
  removed(): void;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Pick<Settings, 'retention'>;
}

export interface Retention extends Pick<Service, 'wake' | 'settled' | 'stop'> {
  /** Works now, and also removes files that no row names. Returns the number of the pass that will have removed everything that is due. */
  collect(): number;
  /** What there is to remove, and how the last pass was. */
  report(): Promise<RetentionReport>;
  /** Files that no row names, which takes long where there are many files. */
  reportOrphans(): Promise<OrphanReport>;
  /** Only how the pass is doing, which costs next to nothing. */
  progress(): Promise<RetentionProgress>;
}

export interface RetentionProgress {
  /** Until when nothing is removed, because the clock has jumped ahead; null otherwise. */
  readonly heldUntil: number | null;
  /** The pass in progress, or the last one; null before the first. */
  readonly pass: PassReport | null;
}

export interface RetentionReport extends RetentionProgress {
  readonly kinds: readonly KindReport[];
  readonly database: Pick<EngineFigures, 'bytes' | 'freeBytes' | 'shrinks'>;
}

const LOOK_MS = 3_600_000;

/** Makes the service. A kill at any moment costs nothing: the next pass finds what is left. */
export function makeRetention({
  store,
  seal,
  emptyIdle,
  upgradeCopies,
  orphans,
  beforeRemoving,
  removed: notify,
  clock,
  log,
  settings,
}: RetentionParts): Retention {
  const bounds = makeBounds(makeKinds({ store, seal, emptyIdle, upgradeCopies }), { clock, settings });
  let pass: PassReport | null = null;
  let passes = 0;
  const asked = makeAsked(orphans);

  async function work(stopping: AbortSignal): Promise<number> {
    passes += 1;
    const [no, startedAt] = [passes, clock.now()];
    const removed: Record<string, number> = {};
    const tell = (endedAt: number | null) => (pass = { no, startedAt, endedAt, removed: { ...removed } });
    tell(null);
    try {
      const { heldUntil } = await store.retention.lookAtClock();
      if (heldUntil !== null) log.warn({ until: isoTime(heldUntil) }, HELD);
      await beforeRemoving();
      const due = [...(heldUntil === null ? bounds.due() : []), ...asked.take(heldUntil === null)];
      await removeDue([...due, { kind: freePages(store), bound: 0 }], {
        clock,
        stopping,
        told: (kind, rows) => {
          removed[kind] = (removed[kind] ?? 0) + rows;
          tell(null);
        },
      });
    } finally {
      tell(clock.now());
      notify();
    }
    if (Object.values(removed).some((rows) => rows > 0)) log.info({ removed }, 'what is old was removed');
    return LOOK_MS;
  }

  const { retention } = store;
  const progress = async () => ({ heldUntil: await retention.heldUntil(), pass });
  const service = makeService({ work, failure: 'what is old could not be removed', maxRetryMs: 60_000, clock, log });
  return {
    ...service,
    collect: () => {
      // One that is in progress may be past what is due now: then another follows it.
      const isWorking = pass !== null && pass.endedAt === null;
      asked.ask();
      service.wake();
      return isWorking ? passes + 1 : passes;
    },
    progress,
    reportOrphans: orphans.report,
    report: async () => ({ ...(await progress()), kinds: await bounds.report(), database: await store.figures() }),
  };
}

/** What a pass removes of files: once after someone has asked for it. */
function makeAsked(orphans: Pick<Orphans, 'due'>) {
  let isAsked = false;
  return {
    ask: () => void (isAsked = true),
    take: (isTimeKnown: boolean): Due[] => {
      const due = isAsked && isTimeKnown ? [orphans.due()] : [];
      isAsked = false;
      return due;
    },
  };
}

/** Pages without rows go back to the disk. */
const freePages = ({ retention }: RetentionParts['store']): Due['kind'] => ({
  name: 'free_pages',
  remove: (_bound, batch) => retention.giveBack(batch),
});

const HELD = 'the clock is more than two days ahead of when it was last seen: nothing is removed by age for a day';
