// The engine: the rooms that execute runs, wired together with their background services.
import { join } from 'node:path';
import { findChromium } from '../agent/browser/find-chromium.ts';
import { SHARED_WINDOW_MS, WINDOW_MS } from '../agent/port/outbox.ts';
import type { SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { SandboxGrant } from '../agent/port/grants.ts';
import { SANDBOX_OWNER } from '../agent/sandbox/users.ts';
import type { Config } from '../config/config.ts';
import type { LiveConfig } from '../config/live/live-config.ts';
import { freeBytes } from '../disk/disk-space.ts';
import type { Settings } from '../domain/settings.ts';
import type { Bus } from '../events/bus.ts';
import { collectedOfAll } from '../events/collected.ts';
import { makeWakes } from '../events/wakes.ts';
import { makeCollector } from '../execution/artifacts/collector.ts';
import { makeEmptyArchives } from '../execution/artifacts/packing/empty-archives.ts';
import { type LeftCopies, makeLeftCopies } from '../execution/artifacts/removal/left-copies.ts';
import { makeSweeper } from '../execution/artifacts/removal/sweeper.ts';
import { type BrowserPart, makeBrowserPart } from '../execution/brief/browser-part.ts';
import { makeDocumentReader } from '../execution/brief/document-reader.ts';
import { makeAnsweredEndpoints } from '../execution/brief/answered-endpoints.ts';
import { makeChecks } from '../execution/checks/checks.ts';
import { makeUnusableTools } from '../execution/unusable-tools.ts';
import { shareBudgets } from '../execution/executor/budget-gate.ts';
import { makeWorkerPool, type WorkerPool } from '../execution/pool/worker-pool.ts';
import { makeLeases } from '../execution/queue/leases.ts';
import { makePermits } from '../execution/pool/permits.ts';
import type { PoolSize } from '../execution/pool/capacity.ts';
import { makeQuestionWatch } from '../execution/queue/question-watch.ts';
import { makeQueueWait } from '../execution/queue/queue-wait.ts';
import { makeStopper, type Stopper } from '../execution/queue/stop.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import type { Disk } from '../files/disk.ts';
import type { DeriveKey } from '../files/master-key.ts';
import type { NodeIdentity } from '../files/node-id.ts';
import type { SecretBox } from '../files/secret-box.ts';
import type { SnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import { makeWorkspaces } from '../files/workspaces.ts';
import type { Log } from '../log/log.ts';
import type { Here } from '../store/sessions/workspaces-here.ts';
import type { Store } from '../store/open-store.ts';
import type { MetricHooks } from '../telemetry/metrics/metrics.ts';
import { servicesOf, wakersOf } from './services/background-services.ts';
import type { OpenedBucket } from './opening/open-bucket.ts';
import { openNode, removing } from './opening/open-node.ts';
import { openPublishing } from './opening/open-publishing.ts';
import { openQueue } from './opening/open-queue.ts';
import { openRetention } from './opening/open-retention.ts';
import { openScheduler } from './opening/open-scheduler.ts';
import { openWebhooks } from './opening/open-webhooks.ts';
import { openBroker } from './services/run-services.ts';
import { makeSingles, type Singles } from './services/singles.ts';
import { daemonClock as clock } from './daemon-clock.ts';

export interface EngineParts {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly bus: Bus;
  readonly blobs: BlobStore;
  /** Null where blobs are in the data directory. */
  readonly bucket: Pick<OpenedBucket, 'countBy' | 'services' | 'singles'> | null;
  readonly snapshotThread: SnapshotThread;
  readonly secrets: SecretBox;
  readonly deriveKey: DeriveKey;
  readonly disk: Disk;
  /** This node, and this process: no other one has it. */
  readonly identity: NodeIdentity & { readonly process: string };
  /** What has been found until now. */
  readonly sandbox: () => SandboxProbe;
  readonly hooks: MetricHooks | null;
}

/** The salt of the key for names of endpoints. */
const ENDPOINTS = Buffer.from('endpoints');

export type Engine = ReturnType<typeof makeEngine>;

/** Makes the engine. None of its services works before `start`. */
export function makeEngine(parts: EngineParts) {
  const { config, live, log, store, bus, blobs, snapshotThread, secrets, sandbox } = parts;
  const [{ locations }, { settings }] = [config, live];
  const { modelCalled, deliveryAttempted: attempted } = parts.hooks ?? {};
  const grant = () => grantOf(sandbox());
  parts.bucket?.countBy(parts.hooks?.bucketAsked);

  const broker = openBroker({ config, live, log, store, secrets });
  const pool = openPool(live, log, store);
  const workspaces = makeWorkspaces({ directory: join(locations.dataDir, 'workspaces'), blobs, owner: ownerOfFiles() });
  const browser = openBrowser(live, log, grant);
  const documentReader = makeDocumentReader({ log, clock });
  const permits = makePermits();
  const endpoints = makeAnsweredEndpoints({ store, key: parts.deriveKey('configuration', ENDPOINTS), log });
  const unusableTools = makeUnusableTools({ log });
  const { answered } = endpoints;
  const checks = makeChecks({ log, clock, permits, locations, settings, sandbox: grant, unusableTools, answered });
  const emptyArchives = makeEmptyArchives({ snapshotThread, blobs });

  const wakes = makeWakes(store.peers);
  const singles = makeSingles();
  const { happened } = wakes;
  const node = openNode(parts, {
    slots: pool.slots,
    running: () => queue.executing(),
    opened: () => queue.wake(),
    silenced: () => queue.abandon(),
    led: singles.start,
  });
  const watches = openWatches(parts, { node, happened });
  const webhooks = openWebhooks({ live, store, secrets, clock, log, happened, attempted });
  // Where others may have workspaces as well.
  const here = store.peers === null ? null : parts.identity.id;
  const beforeErasing = webhooks.planner.catchUp;
  const sweeper = makeSweeper({ ...parts, workspaces, isShared: here !== null, beforeErasing, clock });
  const wantsRoom = (bytes: number) => leftCopies?.wantRoom(bytes);
  const collector = makeCollector({ ...parts, workspaces, here, clock, settings, happened, wantsRoom });
  const onCollected = here === null ? collector.onCollected : collectedOfAll(collector.onCollected, bus);
  if (here !== null) onCollected(collector.knownElsewhere);
  onCollected(singles.during(webhooks.planner.collected));
  const publishing = openPublishing({ ...parts, onCollected, happened, clock });
  const { dataDir } = locations;
  const liveHere = liveDuring(live, singles);
  const retention = openRetention({ ...parts, live: liveHere, dataDir, workspaces, webhooks, happened, clock });
  const forRuns = { pool, permits, workspaces, collector, broker, browser, documentReader, endpoints, unusableTools };
  const queue = openQueue({ config, live, log, store, blobs, sandbox: grant, modelCalled, happened, node, ...forRuns });
  const leftCopies = openLeftCopies(parts, here, { workspaces, collector, queue });
  const leases = makeLeases({ store, node: parts.identity.id, clock, log, held: queue.held });
  const stopper = makeStopper({ ...wakes, store, queue, node: parts.identity.id, clock, log });

  const rooms = { ...forRuns, queue, node, stopper, checks, emptyArchives, webhooks, publishing, retention, happened };
  const wakers = wakersOf(singles, { ...rooms, ...watches, sweeper, leftCopies });
  const services = servicesOf(parts, singles, { ...rooms, ...watches, wakers, sweeper, leftCopies, leases });
  return {
    rooms: { ...rooms, node: removing(node, collector), singles },
    closers: services.map(({ stop }) => stop),
    /** Starts the services. Rescue what a crash left unfinished before. */
    start: () => {
      wakes.follow(bus, wakers);
      if (store.peers !== null) hearStops(bus, stopper);
      singles.open();
      for (const { start } of services) start?.();
    },
  };
}

/** What removes from the disk of this node what others have now, or nobody any more. */
function openLeftCopies(
  { config, live, store, snapshotThread, log }: EngineParts,
  here: Here,
  { workspaces, collector, queue }: Pick<Engine['rooms'], 'workspaces' | 'collector' | 'queue'>,
): LeftCopies | null {
  if (here === null) return null;
  const { dataDir } = config.locations;
  const { watchBegun, isRecorded } = collector;
  const use = { watchBegun, isRecorded, isExecuting: queue.has, free: () => freeBytes(dataDir) };
  const { settings } = live;
  return makeLeftCopies({ store, here, dataDir, workspaces, snapshotThread, ...use, settings, clock, log });
}

/** Of the settings, for whom a change is of interest while this node leads. */
const liveDuring = (live: LiveConfig, { during }: Singles): LiveConfig => ({
  ...live,
  onChange: (listener) => live.onChange(during(listener)),
});

/** Runs that are stopped through another node, perhaps, while their executors are here. */
function hearStops(bus: Bus, stopper: Pick<Stopper, 'noticeStopped'>): void {
  bus.subscribeAll((events) => {
    for (const { type, sessionSeq, runSeq } of events)
      if (type === 'run.stopped') void stopper.noticeStopped({ sessionSeq, runSeq });
  });
}

/** What looks at waits, questions and tasks that are due. */
function openWatches(parts: EngineParts, { node, happened }: Pick<Engine['rooms'], 'node' | 'happened'>) {
  const { store, log } = parts;
  store.schedules.onRescheduled(() => happened('task rescheduled'));
  return {
    queueWait: makeQueueWait({ store, clock, log, settings: parts.live.settings }),
    questionWatch: makeQuestionWatch({ store, clock, log }),
    scheduler: openScheduler({ ...parts, node, clock }),
  };
}

const grantOf = (found: SandboxProbe) => (found.ok ? found.grant : null);

/** Who owns the files of workspaces; null: whoever the daemon runs as. */
const ownerOfFiles = () => (process.getuid?.() === 0 ? SANDBOX_OWNER : null);

/** The pool of threads, whose size follows the settings. */
function openPool({ settings, onChange }: LiveConfig, log: Log, { budgetsInForce, peers }: Store): WorkerPool {
  const budgets = shareBudgets(budgetsInForce);
  const windowMs = peers === null ? WINDOW_MS : SHARED_WINDOW_MS;
  const pool = makeWorkerPool({ log, clock, budgets, windowMs, size: sizeOf(settings()) });
  onChange(() => pool.resize(sizeOf(settings())));
  return pool;
}

function sizeOf({ workers }: Settings): PoolSize {
  const { threads, runsPerThread, memoryMb, hangTimeoutSeconds } = workers;
  return { threads, runsPerThread, memoryMb, hangTimeoutMs: hangTimeoutSeconds * 1_000 };
}

/** The browser, searched for again when the settings change. */
function openBrowser({ settings, onChange }: LiveConfig, log: Log, sandbox: () => SandboxGrant | null): BrowserPart {
  const browser = makeBrowserPart({ log, settings, sandbox, find: findChromium });
  onChange(() => void browser.look());
  return browser;
}
