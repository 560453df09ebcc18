// The background services in the order of their start, and how the table of wakes reaches them.
import type { Config } from '../../config/config.ts';
import { within } from '../../domain/clock.ts';
import { makeDiskWatch } from '../../doctor/disk-watch.ts';
import type { Wakers } from '../../events/wakes.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import { makeOrphanedBlobs } from '../../execution/artifacts/removal/orphaned-blobs.ts';
import type { LeftCopies } from '../../execution/artifacts/removal/left-copies.ts';
import type { Sweeper } from '../../execution/artifacts/removal/sweeper.ts';
import { makeBudgetWatch } from '../../execution/executor/budget-watch.ts';
import type { WorkerPool } from '../../execution/pool/worker-pool.ts';
import type { WorkerNodes } from '../../execution/queue/node.ts';
import type { Queue } from '../../execution/queue/queue.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { NodeIdentity } from '../../files/node-id.ts';
import type { Log } from '../../log/log.ts';
import type { Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import type { Closer } from '../closers.ts';
import { daemonClock as clock } from '../daemon-clock.ts';
import { makeLooks } from './looks.ts';
import type { OpenedBucket } from '../opening/open-bucket.ts';
import type { openPublishing } from '../opening/open-publishing.ts';
import type { openWebhooks } from '../opening/open-webhooks.ts';
import type { Singles } from './singles.ts';

export interface ServiceParts {
  readonly config: Pick<Config, 'workers' | 'locations'>;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly log: Log;
  readonly identity: NodeIdentity;
  readonly bucket: Pick<OpenedBucket, 'services' | 'singles'> | null;
}

export interface BackgroundService {
  readonly start?: () => void;
  readonly stop: Closer;
}

/** A service whose work may be due at its start. */
const started = ({ wake, stop }: Pick<Service, 'wake' | 'stop'>): BackgroundService => ({ start: wake, stop });

/** What makes the list of services, with those that nothing else needs. */
export interface ServiceRooms {
  readonly node: Pick<WorkerNodes, 'stop'>;
  readonly webhooks: Pick<ReturnType<typeof openWebhooks>, 'start' | 'stop'>;
  readonly publishing: Pick<ReturnType<typeof openPublishing>, 'start' | 'stop'>;
  readonly retention: Service;
  readonly collector: Pick<Collector, 'start' | 'stop'>;
  readonly documentReader: { readonly stop: Closer };
  readonly pool: Pick<WorkerPool, 'destroy'>;
  readonly queue: Pick<Queue, 'start' | 'release' | 'idle'>;
  readonly wakers: Wakers;
  readonly queueWait: Service;
  readonly sweeper: Sweeper;
  /** Null where all workspaces are here. */
  readonly leftCopies: LeftCopies | null;
  readonly questionWatch: Service;
  readonly leases: Service;
  readonly scheduler: Service;
}

/** In the order of their start; they are closed in reverse. The node is started before the listeners open. */
export function servicesOf(
  parts: ServiceParts,
  { service: single }: Singles,
  rooms: ServiceRooms,
): readonly BackgroundService[] {
  const { config, store, blobs, log, bucket, identity } = parts;
  const { node, webhooks, publishing, collector, pool, queue, leases } = rooms;
  return [
    { stop: node.stop },
    single(rooms.queueWait),
    started(makeOrphanedBlobs({ store, blobs, list: blobs.listHere, clock, log })),
    single(makeOrphanedBlobs({ store, blobs, list: blobs.listShared, clock, log })),
    ...(bucket?.services ?? []).map(started),
    ...(bucket?.singles ?? []).map(single),
    single({ wake: webhooks.start, stop: webhooks.stop }),
    single(rooms.sweeper),
    ...(rooms.leftCopies === null ? [] : [started(rooms.leftCopies)]),
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
    started(makeDiskWatch({ store, node: identity.id, directory: config.locations.dataDir, clock, log })),
  ];
}

/** How long runs that lost their threads may take to return to the queue, which includes a walk through their workspaces. */
const RETURN_MS = 5_000;

/** Ends the runs that have ignored the end of the queue. Their returns have to be recorded before the store closes. */
async function endRuns(pool: ServiceRooms['pool'], queue: Pick<Queue, 'idle'>): Promise<void> {
  await pool.destroy();
  await within(clock, RETURN_MS, queue.idle(), undefined);
}

interface Woken {
  readonly wake: () => void;
}

export interface WokenServices {
  readonly queue: Pick<Queue, 'wake'>;
  readonly queueWait: Woken;
  readonly questionWatch: Woken;
  readonly collector: Pick<Collector, 'wake'>;
  readonly sweeper: Pick<Sweeper, 'notice'>;
  readonly leftCopies: Pick<LeftCopies, 'notice'> | null;
  readonly webhooks: Pick<ReturnType<typeof openWebhooks>, 'planner' | 'send' | 'upkeep'>;
  readonly scheduler: Woken;
  readonly publishing: Pick<ReturnType<typeof openPublishing>, 'publisher' | 'sweeper'>;
}

/** How the table of wakes reaches its services. */
export function wakersOf({ during }: Singles, services: WokenServices): Wakers {
  const { queue, queueWait, questionWatch, collector, sweeper, leftCopies, webhooks, scheduler, publishing } = services;
  return {
    queue: queue.wake,
    queueWait: during(queueWait.wake),
    questionWatch: during(questionWatch.wake),
    collector: collector.wake,
    sweeper: during((_, occasion) => sweeper.notice(occasion)),
    leftCopies: (sessionSeq) => leftCopies?.notice(sessionSeq),
    planner: during((_, occasion) => webhooks.planner.notice(occasion)),
    sender: during(webhooks.send),
    upkeep: during(webhooks.upkeep.wake),
    scheduler: during(scheduler.wake),
    publisher: during(publishing.publisher.wake),
    pageSweeper: during(publishing.sweeper.wake),
  };
}
