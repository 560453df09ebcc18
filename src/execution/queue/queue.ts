// The queue: claims runs into free worker slots, watches their leases, and lets go of them at shutdown.
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/models.ts';
import { parseTarget } from '../../domain/target.ts';
import type { ClaimOrder, ModelChoice } from '../../store/runs/claim-runs.ts';
import { conductRun } from '../conduct/conduct.ts';
import { LEASE_MS, makeLeases } from './leases.ts';
import type { ConductParts } from '../conduct/run-state.ts';
import { makeUnderWay, type StopTarget } from './under-way.ts';

export interface Queue {
  /** Looks for claimable runs now. Called with an accepted turn still uncommitted, the claim shares its commit. */
  wake(): void;
  /** Whether a run that is accepted now would start at once (C5). */
  slotFree(): boolean;
  /** How many slots there are and how many are taken; `open` is false while nothing is claimed. */
  load(): QueueLoad;
  /** Asks executors to stop whose runs are canceled already; resolves when they have ended. */
  stop(which: StopTarget): Promise<void>;
  /** Starts claiming. */
  start(): void;
  /** Stops claiming; runs under way go on. */
  pause(): void;
  /** Resolves when no run is under way any more. */
  idle(): Promise<void>;
  /** Gives every run under way back to the queue, without counting it as a crash. */
  release(): Promise<void>;
}

export interface QueueLoad {
  readonly open: boolean;
  readonly slots: number;
  readonly busy: number;
}

const RETRY_MS = 1_000;
const RELEASE_MS = 5_000;

export interface QueueParts extends ConductParts {
  readonly clock: Clock;
  definitions(): Definitions;
}

export function makeQueue(parts: QueueParts): Queue {
  const { store, pool, clock, log } = parts;
  let claiming: Promise<void> | undefined;
  let [again, open] = [false, false];
  const retry = makeRetry(clock, () => wake());
  const underWay = makeUnderWay(() => {
    // Once nothing is claimed any more, the store may close at any moment.
    if (open && store.runs.anyClaimable()) wake();
  });
  const leases = makeLeases({ ...parts, held: underWay.runSeqs, rescued: () => wake() });
  /** Without the runs that are kept apart, so that they hold up nobody. */
  const busy = () => underWay.count() - pool.apart();

  function wake(): void {
    const limit = pool.slots() - busy();
    if (!open || limit <= 0) return;
    if (claiming === undefined) claiming = claim(limit).finally(claimed);
    else again = true;
  }

  async function claim(limit: number): Promise<void> {
    try {
      for (const claimed of await store.runs.claim(claimOrder(parts, limit))) {
        const conduct = conductRun(parts, claimed, wake);
        underWay.add(conduct);
        if (!open) conduct.abort('drain');
      }
      leases.keep();
    } catch (error) {
      log.error({ err: error }, 'no run could be claimed');
      retry();
    }
  }

  function claimed(): void {
    claiming = undefined;
    if (again) wake();
    again = false;
  }

  async function idle(): Promise<void> {
    await claiming;
    await underWay.idle();
  }

  return {
    wake,
    slotFree: () => open && pool.slots() > busy(),
    load: () => ({ open, slots: pool.slots(), busy: busy() }),
    stop: async (which) => {
      // A run may have been claimed in the very commit that canceled it, and not be under way yet.
      await claiming;
      await underWay.stop(which);
    },
    start: () => {
      open = true;
      wake();
    },
    pause: () => void (open = false),
    idle,
    release: async () => {
      open = false;
      underWay.drain();
      // A tool that ignores its abort must not hold the shutdown: its thread ends with the pool.
      await Promise.race([idle(), pause(clock, RELEASE_MS)]);
      leases.stop();
    },
  };
}

async function pause(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });
}

/** Calls `act` a little later; while a call is due there is no second one. */
function makeRetry(clock: Clock, act: () => void): () => void {
  let timer: Timer | undefined;
  return () => {
    timer ??= clock.after(RETRY_MS, () => {
      timer = undefined;
      act();
    });
  };
}

function claimOrder({ pool, settings, catalog, definitions }: QueueParts, limit: number): ClaimOrder {
  return {
    limit,
    leaseMs: LEASE_MS,
    // One slot is always left to people who wait, where there is more than one.
    background: {
      slots: Math.max(1, pool.slots() - 1),
      maxExecutingPerKey: settings().background.maxExecutingPerKey,
    },
    modelFor: (choice) => modelOf({ catalog: catalog(), definitions: definitions() }, choice),
  };
}

/** What the config directory says of models and of who may have one of their own. */
export interface ModelSources {
  readonly catalog: Catalog;
  readonly definitions: Definitions;
}

/**
 * The catalog's model for a run: the key's, else that of the expert or lead that answers, else that of the owner's
 * scenario, else that of the default scenario (§1 rule 9).
 */
export function modelOf({ catalog, definitions }: ModelSources, choice: ModelChoice): string | null {
  if (choice.keyModel !== null) return choice.keyModel;
  const target = parseTarget(choice.target);
  const expert = target?.kind === 'expert' ? definitions.experts.get(target.name) : undefined;
  const ofAgent = choice.leadModel ?? expert?.model ?? null;
  return ofAgent ?? catalog.scenarios.get(choice.scenario ?? catalog.defaultScenario)?.model ?? null;
}
