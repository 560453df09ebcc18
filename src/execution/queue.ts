// The queue: claims runs into free worker slots, watches their leases, and lets go of them at shutdown.
import type { Clock, Timer } from '../domain/clock.ts';
import type { Catalog } from '../catalog/models.ts';
import type { Claim, ModelChoice } from '../store/claim-runs.ts';
import { type Conduct, type ConductParts, conductRun } from './conduct.ts';

export interface Queue {
  /** Looks for claimable runs now. Called with an accepted turn still uncommitted, the claim shares its commit. */
  wake(): void;
  /** Whether a run that is accepted now would start at once (C5). */
  slotFree(): boolean;
  /** Starts claiming. */
  start(): void;
  /** Stops claiming; runs under way go on. */
  pause(): void;
  /** Resolves when no run is under way any more. */
  idle(): Promise<void>;
  /** Gives every run under way back to the queue, without counting it as a crash. */
  release(): Promise<void>;
}

const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;
const RETRY_MS = 1_000;

export function makeQueue(parts: ConductParts & { readonly clock: Clock }): Queue {
  const { store, pool, clock, log } = parts;
  const conducts = new Set<Conduct>();
  let claiming: Promise<void> | undefined;
  let again = false;
  let open = false;
  let retry: Timer | undefined;
  let renewal: Timer | undefined;

  const freeSlots = () => pool.slots - conducts.size;

  function wake(): void {
    const limit = freeSlots();
    if (!open || limit <= 0) return;
    if (claiming !== undefined) {
      again = true;
      return;
    }
    claiming = store.runs
      .claim({ limit, leaseMs: LEASE_MS, modelFor: (choice) => modelOf(parts.catalog(), choice) })
      .then(begin, (error: unknown) => {
        log.error({ err: error }, 'no run could be claimed');
        retry ??= clock.after(RETRY_MS, () => {
          retry = undefined;
          wake();
        });
      })
      .finally(() => {
        claiming = undefined;
        if (!again) return;
        again = false;
        wake();
      });
  }

  function begin(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const conduct = conductRun(parts, claim);
      conducts.add(conduct);
      if (!open) conduct.abort('drain');
      void conduct.ended.then(() => {
        conducts.delete(conduct);
        if (store.runs.anyClaimable()) wake();
      });
    }
    keepLeases();
  }

  function keepLeases(): void {
    if (renewal !== undefined || conducts.size === 0) return;
    renewal = clock.after(RENEWAL_MS, () => {
      renewal = undefined;
      const held = [...conducts].map((conduct) => conduct.runSeq);
      store.runs.renewLeases(held, LEASE_MS).then(
        (expired) => {
          if (expired > 0) wake();
        },
        (error: unknown) => log.error({ err: error }, 'leases could not be renewed'),
      );
      keepLeases();
    });
  }

  const idle = async () => {
    while (claiming !== undefined || conducts.size > 0) {
      await claiming;
      await Promise.all([...conducts].map((conduct) => conduct.ended));
    }
  };

  return {
    wake,
    slotFree: () => open && freeSlots() > 0,
    start: () => {
      open = true;
      wake();
    },
    pause: () => {
      open = false;
      retry?.cancel();
    },
    idle,
    release: async () => {
      open = false;
      for (const conduct of conducts) conduct.abort('drain');
      await idle();
      renewal?.cancel();
    },
  };
}

/** The catalog's model for a run: the key's, else that of the owner's scenario, else that of the default scenario (§1 rule 9). */
export function modelOf(catalog: Catalog, { keyModel, scenario }: ModelChoice): string | null {
  if (keyModel !== null) return keyModel;
  return catalog.scenarios.get(scenario ?? catalog.defaultScenario)?.model ?? null;
}
