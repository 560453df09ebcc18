// The engine: the rooms that execute runs, wired together, and the background services in the order of their start.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../agent/browser/find-chromium.ts';
import { SHARED_WINDOW_MS, WINDOW_MS } from '../agent/port/outbox.ts';
import type { SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { SandboxGrant } from '../agent/port/grants.ts';
import { SANDBOX_OWNER } from '../agent/sandbox/users.ts';
import type { Config } from '../config/config.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { systemClock, within } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Bus } from '../events/bus.ts';
import { collectedOfAll } from '../events/collected.ts';
import { makeWakes, type Wakers } from '../events/wakes.ts';
import { type Collector, makeCollector } from '../execution/artifacts/collector.ts';
import { makeEmptyArchives } from '../execution/artifacts/empty-archives.ts';
import { makeOrphanedBlobs } from '../execution/artifacts/orphaned-blobs.ts';
import { makeSweeper, type Sweeper } from '../execution/artifacts/sweeper.ts';
import { type BrowserPart, makeBrowserPart } from '../execution/brief/browser-part.ts';
import { makeDocumentReader } from '../execution/brief/document-reader.ts';
import { makeChecks } from '../execution/checks/checks.ts';
import { shareBudgets } from '../execution/executor/budget-gate.ts';
import { makeBudgetWatch } from '../execution/executor/budget-watch.ts';
import { makeWorkerPool, type WorkerPool } from '../execution/pool/worker-pool.ts';
import { makeLeases } from '../execution/queue/leases.ts';
import type { HeartbeatParts } from '../execution/queue/heartbeat.ts';
import { makeNode, type WorkerNodes } from '../execution/queue/node.ts';
import { makePermits } from '../execution/pool/permits.ts';
import type { PoolSize } from '../execution/pool/capacity.ts';
import type { Queue } from '../execution/queue/queue.ts';
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
import type { Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';
import type { MetricHooks } from '../telemetry/metrics/metrics.ts';
import { VERSION } from '../version.ts';
import type { Closer } from './closers.ts';
import type { OpenedBucket } from './opening/open-bucket.ts';
import { openPublishing } from './opening/open-publishing.ts';
import { openQueue } from './opening/open-queue.ts';
import { openRetention } from './opening/open-retention.ts';
import { makeDiskWatch } from '../doctor/disk-watch.ts';
import { openScheduler } from './opening/open-scheduler.ts';
import { openWebhooks } from './opening/open-webhooks.ts';
import { openBroker } from './run-services.ts';
import { makeLooks } from './looks.ts';
import { makeSingles, type Singles } from './singles.ts';
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
  const checks = makeChecks({ log, clock, permits, locations, settings, sandbox: grant });
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
  const sweeper = makeSweeper({ ...parts, workspaces, beforeErasing: webhooks.planner.catchUp, clock });
  // Where others may have workspaces as well.
  const here = store.peers === null ? null : parts.identity.id;
  const collector = makeCollector({ ...parts, workspaces, here, clock, settings, happened });
  const onCollected = here === null ? collector.onCollected : collectedOfAll(collector.onCollected, bus);
  if (here !== null) onCollected(collector.knownElsewhere);
  onCollected(singles.during(webhooks.planner.collected));
  const publishing = openPublishing({ ...parts, onCollected, happened, clock });
  const retention = openRetention({
    ...parts,
    live: liveDuring(live, singles),
    dataDir: locations.dataDir,
    workspaces,
    webhooks,
    happened,
    clock,
  });
  const forRuns = { pool, permits, workspaces, collector, broker, browser, documentReader };
  const queue = openQueue({ config, live, log, store, blobs, sandbox: grant, modelCalled, happened, node, ...forRuns });
  const leases = makeLeases({ store, node: parts.identity.id, clock, log, held: queue.held });
  const stopper = makeStopper({ ...wakes, store, queue, node: parts.identity.id, clock, log });

  const rooms = { ...forRuns, queue, node, stopper, checks, emptyArchives, webhooks, publishing, retention, happened };
  const wakers = wakersOf(singles, { ...rooms, ...watches, sweeper });
  const services = servicesOf(parts, singles, { ...rooms, ...watches, wakers, sweeper, leases });
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

/** Of the settings, for whom a change is of interest while this node leads. */
const liveDuring = (live: LiveConfig, { during }: Singles): LiveConfig => ({
  ...live,
  onChange: (listener) => live.onChange(during(listener)),
});

/** What makes the list of services, with those that nothing else needs. */
interface ServiceRooms
  extends Pick<Engine['rooms'], 'node' | 'webhooks' | 'retention' | 'publishing' | 'collector' | 'pool' | 'queue'>,
    Pick<Engine['rooms'], 'documentReader'> {
  readonly wakers: Wakers;
  readonly queueWait: Service;
  readonly sweeper: Sweeper;
  readonly questionWatch: Service;
  readonly leases: Service;
  readonly scheduler: Service;
}

/** In the order of their start; they are closed in reverse. The node is started before the listeners open. */
function servicesOf(
  parts: EngineParts,
  { service: single }: Singles,
  rooms: ServiceRooms,
): readonly BackgroundService[] {
  const { config, store, blobs, log, bucket } = parts;
  const { node, webhooks, publishing, collector, pool, queue, leases } = rooms;
  return [
    { stop: node.stop },
    single(rooms.queueWait),
    started(makeOrphanedBlobs({ store, blobs, clock, log })),
    ...(bucket?.services ?? []).map(started),
    ...(bucket?.singles ?? []).map(single),
    single({ wake: webhooks.start, stop: webhooks.stop }),
    single(rooms.sweeper),
    single(rooms.retention),
    single({ wake: publishing.start, stop: publishing.stop }),
    { start: collector.start, stop: collector.stop },
    { stop: async () => endRuns(pool, queue) },
    single(rooms.questionWatch),
    ...(store.peers === null ? [] : [started(makeBudgetWatch({ store, clock, log }))]),
    { stop: rooms.documentReader.stop },
    ...(config.workers ? [{ start: leases.wake, stop: leases.stop }] : []),
    ...(config.workers ? [{ start: queue.start, stop: queue.release }] : []),
    single(rooms.scheduler),
    ...(store.peers === null ? [] : [single(makeLooks({ wakers: rooms.wakers, clock, log }))]),
    started(makeDiskWatch({ store, directory: config.locations.dataDir, clock, log })),
  ];
}

/** Runs that are stopped through another node, perhaps, while their executors are here. */
function hearStops(bus: Bus, stopper: Pick<Stopper, 'noticeStopped'>): void {
  bus.subscribeAll((events) => {
    for (const { type, sessionSeq, runSeq } of events)
      if (type === 'run.stopped') stopper.noticeStopped({ sessionSeq, runSeq });
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

interface Woken {
  readonly wake: () => void;
}

interface WokenServices {
  readonly queue: Pick<Queue, 'wake'>;
  readonly queueWait: Woken;
  readonly questionWatch: Woken;
  readonly collector: Pick<Collector, 'wake'>;
  readonly sweeper: Pick<Sweeper, 'notice'>;
  readonly webhooks: Pick<ReturnType<typeof openWebhooks>, 'planner' | 'send' | 'upkeep'>;
  readonly scheduler: Woken;
  readonly publishing: Pick<ReturnType<typeof openPublishing>, 'publisher' | 'sweeper'>;
}

/** How the table of wakes reaches its services. */
function wakersOf({ during }: Singles, services: WokenServices): Wakers {
  const { queue, queueWait, questionWatch, collector, sweeper, webhooks, scheduler, publishing } = services;
  return {
    queue: queue.wake,
    queueWait: during(queueWait.wake),
    questionWatch: during(questionWatch.wake),
    collector: collector.wake,
    sweeper: during((_, occasion) => sweeper.notice(occasion)),
    planner: during((_, occasion) => webhooks.planner.notice(occasion)),
    sender: during(webhooks.send),
    upkeep: during(webhooks.upkeep.wake),
    scheduler: during(scheduler.wake),
    publisher: during(publishing.publisher.wake),
    pageSweeper: during(publishing.sweeper.wake),
  };
}

/** How long runs that lost their threads may take to return to the queue, which includes a walk through their workspaces. */
const RETURN_MS = 5_000;

/** Ends the runs that have ignored the end of the queue. Their returns have to be recorded before the store closes. */
async function endRuns(pool: WorkerPool, queue: Queue): Promise<void> {
  await pool.destroy();
  await within(clock, RETURN_MS, queue.idle(), undefined);
}

const grantOf = (found: SandboxProbe) => (found.ok ? found.grant : null);

/** Who owns the files of workspaces; null: whoever the daemon runs as. */
const ownerOfFiles = () => (process.getuid?.() === 0 ? SANDBOX_OWNER : null);

interface BackgroundService {
  readonly start?: () => void;
  readonly stop: Closer;
}

/** A service whose work may be due at its start. */
const started = ({ wake, stop }: Pick<Service, 'wake' | 'stop'>): BackgroundService => ({ start: wake, stop });

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

/** This process as a node. The queue, which knows what runs here, is made after it. */
function openNode(
  { config, live, store, log, identity }: EngineParts,
  hooks: { slots(): number; running(): number } & Pick<HeartbeatParts, 'opened' | 'led' | 'silenced'>,
): WorkerNodes {
  const facts = () => {
    const { node, listen } = live.settings();
    return {
      name: node.name || hostname(),
      version: VERSION,
      address: listen,
      slots: config.workers ? hooks.slots() : 0,
      labels: node.labels,
      running: hooks.running(),
    };
  };
  return makeNode({
    store,
    peers: store.peers,
    clock,
    machine: systemClock,
    log,
    identity,
    process: identity.process,
    facts,
    ...hooks,
  });
}

/** What a removed node has not collected is lost with it. */
const removing = (node: WorkerNodes, { nodeRemoved }: Pick<Collector, 'nodeRemoved'>): WorkerNodes => ({
  ...node,
  remove: async (...which) => {
    const isRemoved = await node.remove(...which);
    if (isRemoved) nodeRemoved();
    return isRemoved;
  },
});

/** The browser, searched for again when the settings change. */
function openBrowser({ settings, onChange }: LiveConfig, log: Log, sandbox: () => SandboxGrant | null): BrowserPart {
  const browser = makeBrowserPart({ log, settings, sandbox, find: findChromium });
  onChange(() => void browser.look());
  return browser;
}
