// The queue: claims runs into free worker slots, and releases them at shutdown.
import { type Clock, within } from '../../domain/clock.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Settings } from '../../domain/settings.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { Progress } from '../../store/runs/fence.ts';
import type { Store } from '../../store/open-store.ts';
import type { ClaimInput } from '../../store/lifecycle/claim-runs.ts';
import type { Claim, ModelChoice, StartInput } from '../../store/lifecycle/start-run.ts';
import type { Execution } from '../executor/executor.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import { type AdmissionParts, type Admissions, makeAdmissions } from './admissions.ts';
import { LEASE_MS } from './leases.ts';
import { makeRunsInProgress, type StopTarget } from './in-progress.ts';

export interface Queue {
  /** Looks for claimable runs, and claims them when there are any. */
  wake(): void;
  /** Has a turn accepted, with a slot kept for its run where one is free (C5), and executes the run when it starts at once. */
  readonly admit: Admissions['admit'];
  /** How many slots exist and how many are taken; `open` is false while nothing is claimed. */
  load(): QueueLoad;
  /** Runs that execute here, with or without a slot, or that a turn or a claim in progress may start. */
  executing(): number;
  /** The runs that have a worker now. */
  held(): readonly Progress[];
  /** Asks the executors of already canceled runs to stop; resolves when they have ended. */
  stop(which: StopTarget): Promise<void>;
  /** Whether a run of the session executes here. */
  has(sessionSeq: number): boolean;
  /** Resolves when every run that was claimed before executes here. */
  settled(): Promise<void>;
  /** Ends the runs here, since the database is away: they return to the queue once it is back, unless another node has taken them. */
  abandon(): void;
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
const LOOK_MS = 1_000;

export interface QueueParts {
  readonly store: Pick<Store, 'runs'>;
  readonly pool: Pick<WorkerPool, 'slots' | 'withoutSlot'>;
  /** Starts to execute a claimed run. `slotFreed` is called when the run turns out to take no slot. */
  execute(claim: Claim, slotFreed: () => void): Execution;
  /** The catalog's model for a choice; null when it has none. */
  modelFor(choice: ModelChoice): string | null;
  settings(): Settings;
  /** This node: whether it starts runs (those in progress continue), and which others do. */
  readonly node: { readonly id: string; mayStart(): boolean; others(): readonly string[] };
  readonly clock: Clock;
  readonly log: Log;
}

export function makeQueue(parts: QueueParts): Queue {
  const { pool, execute, node, clock, log } = parts;
  const { mayStart } = node;
  let open = false;
  let released: Promise<void> | undefined;
  const claiming = makeClaiming({ ...parts, slotFree, free, begin });
  const service = makeService({ work: claiming.claim, failure: 'no run could be claimed', clock, log });
  const admissions = makeAdmissions({ slotFree, startInput: () => startInput(parts), begin, wake: service.wake });
  const inProgress = makeRunsInProgress(service.wake);
  /** Without the runs that take no slot, so that they delay no others. */
  const busy = () => inProgress.count() - pool.withoutSlot();

  function free(): number {
    return pool.slots() - busy() - claiming.kept() - admissions.kept();
  }

  function slotFree(): boolean {
    return open && mayStart() && free() > 0;
  }

  function begin(claimed: Claim): void {
    const run = execute(claimed, service.wake);
    inProgress.add(run);
    if (!open) run.abort('drain');
  }

  async function settled(): Promise<void> {
    await Promise.all([service.settled(), admissions.settled()]);
  }

  async function idle(): Promise<void> {
    await settled();
    await inProgress.idle();
  }

  async function release(): Promise<void> {
    open = false;
    inProgress.release('drain');
    // A tool that ignores its abort must not delay the shutdown: its thread ends with the pool.
    await within(clock, RELEASE_MS, idle(), undefined);
    await service.stop();
  }

  return {
    wake: service.wake,
    admit: admissions.admit,
    load: () => ({ open: open && mayStart(), slots: pool.slots(), busy: busy() }),
    executing: () => inProgress.count() + claiming.kept() + admissions.kept(),
    held: inProgress.held,
    stop: async (which) => {
      // A run may have been claimed in the very commit that canceled it, and not be in progress yet.
      await settled();
      await inProgress.stop(which);
    },
    has: inProgress.has,
    settled,
    abandon: () => inProgress.release('unavailable'),
    start: () => {
      open = true;
      service.wake();
    },
    pause: () => void (open = false),
    idle,
    release: () => (released ??= release()),
  };
}

interface ClaimingParts extends QueueParts, Pick<AdmissionParts, 'slotFree' | 'begin'> {
  /** How many slots are free. */
  free(): number;
}

/** Claims the runs that wait, into slots that are kept meanwhile. */
function makeClaiming(parts: ClaimingParts) {
  const { runs } = parts.store;
  /** Whether runs may have waited because every slot was taken. */
  let wasFull = false;
  let kept = 0;

  /** Where others start runs as well, one that they were left may come back without anybody's saying so. */
  const again = () => (parts.node.others().length === 0 ? null : LOOK_MS);

  async function claim(): Promise<number | null> {
    if (parts.free() <= 0) wasFull = true;
    if (!parts.slotFree()) return again();
    if (!(await runs.anyClaimable())) {
      wasFull = false;
      return again();
    }
    // Turns may have been admitted meanwhile, and wake the queue when they leave their slots. Once claiming has stopped, the store
    // may close at any moment.
    wasFull ||= parts.free() <= 0;
    if (!parts.slotFree()) return again();
    kept = parts.free();
    let claims: readonly Claim[] = [];
    try {
      claims = await runs.claim(claimInput(parts, kept, wasFull));
      wasFull = claims.length >= kept;
    } finally {
      // In one step: in between, their slots would be counted twice or not at all.
      kept = 0;
      claims.forEach(parts.begin);
    }
    return again();
  }

  return { claim, kept: () => kept };
}

function startInput({ node, settings, modelFor }: QueueParts): StartInput {
  const others = node.others();
  return {
    leaseMs: LEASE_MS,
    node: node.id,
    ...(others.length > 0 && { leftTo: { nodes: others, forMs: settings().workspace.stickySeconds * 1_000 } }),
    modelFor,
  };
}

function claimInput(parts: QueueParts, limit: number, wasFull: boolean): ClaimInput {
  const { pool, settings } = parts;
  return {
    ...startInput(parts),
    limit,
    ...(wasFull && { fullSlots: pool.slots() }),
    // Where there is more than one slot, one is always left to people who wait.
    background: {
      slots: Math.max(1, pool.slots() - 1),
      maxExecutingPerKey: settings().background.maxExecutingPerKey,
    },
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
