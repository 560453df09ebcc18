// The queue: claims runs into free worker slots, and releases them at shutdown.
import { type Clock, pause } from '../../domain/clock.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Settings } from '../../domain/settings.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { Progress } from '../../store/runs/progress/record-progress.ts';
import type { Store } from '../../store/open-store.ts';
import type { Claim, ClaimOrder, ModelChoice } from '../../store/runs/claim-runs.ts';
import type { Execution } from '../executor/executor.ts';
import type { WorkerPool } from '../executor/worker-pool.ts';
import { LEASE_MS } from './leases.ts';
import { makeRunsInProgress, type StopTarget } from './in-progress.ts';

export interface Queue {
  /** Looks for claimable runs, and claims them when there are any. */
  wake(): void;
  /** Claims without looking first. When called with an accepted turn still uncommitted, the claim shares its commit. */
  claimAccepted(): void;
  /** Whether a run that is accepted now would start at once (C5). */
  slotFree(): boolean;
  /** How many slots exist and how many are taken; `open` is false while nothing is claimed. */
  load(): QueueLoad;
  /** The runs that have a worker now. */
  held(): readonly Progress[];
  /** Asks the executors of already canceled runs to stop; resolves when they have ended. */
  stop(which: StopTarget): Promise<void>;
  /** Starts claiming. */
  start(): void;
  /** Stops claiming; runs in progress continue. */
  pause(): void;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
  /** Returns every run in progress to the queue, without counting it as a crash. */
  release(): Promise<void>;
}

export interface QueueLoad {
  readonly open: boolean;
  readonly slots: number;
  readonly busy: number;
}

const RELEASE_MS = 5_000;

export interface QueueParts {
  readonly store: Pick<Store, 'runs'>;
  readonly pool: Pick<WorkerPool, 'slots' | 'withoutSlot'>;
  /** Starts to execute a claimed run. `slotFreed` is called when the run turns out to take no slot. */
  execute(claim: Claim, slotFreed: () => void): Execution;
  /** The catalog's model for a choice; null when it has none. */
  modelFor(choice: ModelChoice): string | null;
  settings(): Settings;
  readonly clock: Clock;
  readonly log: Log;
}

export function makeQueue(parts: QueueParts): Queue {
  const { store, pool, execute, clock, log } = parts;
  /** `accepted`: a turn was accepted that is not visible to readers yet. */
  let [open, accepted] = [false, false];
  /** Whether runs may have waited because every slot was taken. */
  let wasFull = false;
  let released: Promise<void> | undefined;
  const service = makeService({ work: claim, failure: 'no run could be claimed', clock, log });
  const inProgress = makeRunsInProgress(service.wake);
  /** Without the runs that take no slot, so that they delay no others. */
  const busy = () => inProgress.count() - pool.withoutSlot();

  async function claim(): Promise<null> {
    const limit = pool.slots() - busy();
    // A turn that finds no slot is remembered: it may still be uncommitted at the next look.
    if (limit <= 0) wasFull = true;
    if (!open || limit <= 0) return null;
    const isAccepted = accepted;
    accepted = false;
    // Once claiming has stopped, the store may close at any moment.
    if (!isAccepted && !((await store.runs.anyClaimable()) && open)) {
      wasFull = false;
      return null;
    }
    const claims = await store.runs.claim(claimOrder(parts, limit, wasFull));
    wasFull = claims.length >= limit;
    for (const claimed of claims) {
      const run = execute(claimed, service.wake);
      inProgress.add(run);
      if (!open) run.abort('drain');
    }
    return null;
  }

  async function idle(): Promise<void> {
    await service.settled();
    await inProgress.idle();
  }

  async function release(): Promise<void> {
    open = false;
    inProgress.drain();
    // A tool that ignores its abort must not delay the shutdown: its thread ends with the pool.
    await Promise.race([idle(), pause(clock, RELEASE_MS)]);
    await service.stop();
  }

  return {
    wake: service.wake,
    claimAccepted: () => {
      accepted = true;
      service.wake();
    },
    slotFree: () => open && pool.slots() > busy(),
    load: () => ({ open, slots: pool.slots(), busy: busy() }),
    held: inProgress.held,
    stop: async (which) => {
      // A run may have been claimed in the very commit that canceled it, and not be in progress yet.
      await service.settled();
      await inProgress.stop(which);
    },
    start: () => {
      open = true;
      service.wake();
    },
    pause: () => void (open = false),
    idle,
    release: () => (released ??= release()),
  };
}

function claimOrder({ pool, settings, modelFor }: QueueParts, limit: number, wasFull: boolean): ClaimOrder {
  return {
    limit,
    leaseMs: LEASE_MS,
    ...(wasFull && { fullSlots: pool.slots() }),
    // Where there is more than one slot, one is always left to people who wait.
    background: {
      slots: Math.max(1, pool.slots() - 1),
      maxExecutingPerKey: settings().background.maxExecutingPerKey,
    },
    modelFor,
  };
}

/** What the config directory says of models, and of who may have one of their own. */
export interface ModelSources {
  readonly catalog: Catalog;
  readonly definitions: Definitions;
}

/**
 * The catalog's model for a run: the key's, otherwise that of the expert or lead that answers, otherwise that of the owner's
 * scenario, otherwise that of the default scenario (§1 rule 9).
 */
export function modelOf({ catalog, definitions }: ModelSources, choice: ModelChoice): string | null {
  if (choice.keyModel !== null) return choice.keyModel;
  const target = parseTarget(choice.target);
  const expert = target?.kind === 'expert' ? definitions.experts.get(target.name) : undefined;
  const ofAgent = choice.leadModel ?? expert?.model ?? null;
  return ofAgent ?? catalog.scenarios.get(choice.scenario ?? catalog.defaultScenario)?.model ?? null;
}
