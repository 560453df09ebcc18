// The foundations: the locked directory, its key, the log, the live configuration, the store, the files.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { formatProblem } from '../catalog/reading/problem.ts';
import { hasBucket } from '../config/blob-target.ts';
import type { Config } from '../config/config.ts';
import { readEnvironment } from '../config/environment.ts';
import type { Configuration } from '../config/read-configuration.ts';
import { type ConfigEvent, type LiveConfig, makeLiveConfig } from '../config/live/live-config.ts';
import { incomingPath } from '../files/blobs/blob-place.ts';
import { openBlobStore } from '../files/blobs/blobs.ts';
import { makeOpenSpool } from '../files/blobs/spool.ts';
import { makeDisk } from '../files/disk.ts';
import type { NodeIdentity } from '../files/node-id.ts';
import type { DeriveKey } from '../files/master-key.ts';
import { requireRestored } from '../files/restore-marker.ts';
import { secureSnapshots } from '../files/secured-snapshots.ts';
import { makeSnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import { type Renderers, standardErrorOutlet } from '../log/log-outlet.ts';
import { type Log, makeLog } from '../log/log.ts';
import { type AnchorKeeper, makeAnchorKeeper } from '../operations/audit/keep-anchor.ts';
import { numberDefinitions } from '../operations/capabilities/definitions.ts';
import { takeWays } from '../outbound/ways/ways.ts';
import { isJournal, withPriority } from '../service-manager/journal.ts';
import { makeServiceManager } from '../service-manager/service-manager.ts';
import type { StoreAlarms } from '../store/engine/database.ts';
import { lockDataDirectory } from '../store/engine/sqlite/file/lock.ts';
import { NO_RESERVE, openReserve } from '../store/engine/sqlite/file/reserve.ts';
import { renderBody } from '../webhooks/bodies/render-body.ts';
import type { StoreLocation } from '../store/location.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { wantsColours } from '../terminal/colours.ts';
import type { Closer } from './closers.ts';
import { prepareDirectories } from './data/initialize.ts';
import { makeLogForPeople } from './log-for-people.ts';
import { openBucket } from './opening/open-bucket.ts';
import { findKey, masterKeyLocation } from './data/own-key.ts';
import { requireSameKind } from './data/own-rows.ts';
import { migrationLimitMs, migrationStatus } from './service-status.ts';
import { daemonClock } from './daemon-clock.ts';

/** What a daemon is built from, and what has been opened so far. */
export interface Start {
  readonly configuration: Configuration;
  readonly location: StoreLocation;
  readonly closers: Closer[];
}

/** Opens the locked directory, its key, the log, the live configuration, the store. */
export function layFoundations({ configuration, location, closers }: Start) {
  const { config, catalog, definitions } = configuration;
  const { locations } = config;
  prepareDirectories(locations);
  requireRestored(locations.dataDir);
  const lock = lockDataDirectory(locations.dataDir);
  closers.push(lock.release);
  requireSameKind(locations.dataDir, location);
  const place = masterKeyLocation(locations);
  const key = { place, found: findKey(place, location) };
  const log = makeLog(config.settings.log, standardErrorOutlet(renderersFor(config)));
  const failed = (error: unknown) =>
    log.warn({ err: error }, 'systemd could not be notified of the state of the daemon');
  const manager = makeServiceManager({ service: config.service, clock: daemonClock, failed });
  closers.push(manager.end);
  const report = (event: ConfigEvent) => reportConfig(log, event);
  const live = makeLiveConfig({ config, catalog, definitions, report, clock: daemonClock, log });
  closers.push(live.stop);
  live.onChange(() => {
    log.level = live.settings().log.level;
  });
  followWays(live, log);
  const lost = Promise.withResolvers<unknown>();
  const alarms: StoreAlarms = {
    migrating: (step) => {
      log.info(step, 'migrating the database');
      manager.migrating(migrationStatus(step), migrationLimitMs(step));
    },
    trouble: (words) => log.error(words),
    burdened: (words) => log.warn(words),
    lost: lost.resolve,
  };
  const reserve = location.kind === 'sqlite' ? openReserve(join(locations.dataDir, 'reserve')) : NO_RESERVE;
  const process = randomUUID();
  // Several daemons need both: rows on a server, and bytes in a bucket.
  const isShared = location.kind === 'postgres' && hasBucket(config.settings);
  const sharing = isShared ? { process, follow: daemonClock.follow } : undefined;
  const store = openStore(location, daemonClock, { alarms, reserve, renderBody, syncsInBackground: true, sharing });
  closers.push(store.close);
  live.onChange((changed) => {
    if (changed !== 'definitions') return;
    numberDefinitions(store, live.definitions()).catch((error: unknown) => {
      log.error({ err: error }, 'new definitions could not be assigned ids; they get them when they are used');
    });
  });
  const identify = (node: NodeIdentity) => ({ ...node, process });
  return { key, log, live, store, identify, manager, lost: lost.promise };
}

/** Connections of this thread leave as the configuration says. */
function followWays(live: LiveConfig, log: Log): void {
  const follow = () => {
    takeWays(live.ways());
    const proxies = new Set(Object.values(live.ways().proxies).flatMap((proxy) => proxy?.url ?? []));
    if (proxies.size > 0) log.info({ proxies: [...proxies] }, 'connections leave through a proxy');
  };
  follow();
  live.onChange((changed) => {
    if (changed === 'ways') follow();
  });
}

/** For people on a terminal; for the journal, with priorities. */
function renderersFor({ service }: Config): Renderers {
  return {
    terminal: makeLogForPeople(wantsColours(true, readEnvironment())),
    stream: isJournal(service.journalStream, process.stderr.fd) ? withPriority : undefined,
  };
}

interface AnchorParts {
  readonly deriveKey: DeriveKey;
  readonly log: Log;
  readonly store: Store;
  readonly identity: NodeIdentity;
}

/** The anchor of the audit log, compared with it. It ends after all that records, and before the database closes. */
export async function openAuditAnchor(
  { configuration, closers }: Start,
  { identity, ...parts }: AnchorParts,
): Promise<AnchorKeeper> {
  const { dataDir } = configuration.config.locations;
  const node = { id: identity.id, hasPeers: parts.store.peers !== null };
  const anchor = makeAnchorKeeper({ ...parts, dataDir, node, clock: daemonClock });
  closers.push(anchor.stop);
  await anchor.start();
  return anchor;
}

/** Where bytes are stored, and the thread that reads workspaces and packs archives. */
export async function openFiles(
  { configuration, closers }: Start,
  { live, log, store }: { live: LiveConfig; log: Log; store: Store },
) {
  const { dataDir } = configuration.config.locations;
  const directory = join(dataDir, 'blobs');
  const local = await openBlobStore(directory, store.smallBlobs);
  const { config } = configuration;
  const bucket = await openBucket({ config, live, store, log, closers, local, directory });
  const snapshotThread = makeSnapshotThread({
    directory: join(dataDir, 'snapshots'),
    blobs: directory,
    readSmall: local.readSmall,
    clock: daemonClock,
    log,
  });
  closers.push(snapshotThread.stop);
  const secured = bucket === null ? snapshotThread : secureSnapshots(snapshotThread, bucket.blobs);
  const disk = makeDisk({ directory: dataDir, settings: live.settings, clock: daemonClock });
  return {
    blobs: bucket?.blobs ?? local,
    snapshotThread: secured,
    bucket,
    disk,
    openSpool: makeOpenSpool(incomingPath(directory)),
  };
}

function reportConfig(log: Log, event: ConfigEvent): void {
  if (event.kind === 'accepted') log.info({ file: event.file }, 'configuration reloaded');
  else if (event.kind === 'rejected') {
    const problems = event.problems.map(formatProblem);
    log.error({ file: event.file, problems }, 'configuration refused; the last valid one stays in effect');
  } else if (event.kind === 'left-out') {
    log.warn({ problems: event.problems.map(formatProblem) }, 'skills and plugins with problems are ignored');
  } else log.warn(event, 'configuration');
}
