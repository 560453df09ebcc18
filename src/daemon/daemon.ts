// The one wiring function: builds every room, opens the doors, and closes everything in reverse order.
import { join } from 'node:path';
import { formatProblem } from '../catalog/problem.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../domain/clock.ts';
import { type Engine, makeEngine, probe, rescue, startEngine } from './engine.ts';
import { makeBus } from '../events/bus.ts';
import { makeTails } from '../events/tail.ts';
import { SchemaCheck } from '../execution/checks/schema-check.ts';
import { incomingPath } from '../files/blobs/blob-place.ts';
import { openBlobStore } from '../files/blobs/blobs.ts';
import { makeDisk } from '../files/disk.ts';
import { makeFileAddresses } from '../files/file-address.ts';
import { makeKeeper } from '../files/snapshots/keeper.ts';
import { openMasterKey } from '../files/master-key.ts';
import { makeSecretBox } from '../files/secret-box.ts';
import { makeOpenSpool } from '../files/blobs/spool.ts';
import { type HttpApp, makeHttpApp } from '../http/app.ts';
import { makeIsTrustedProxy } from '../http/server/client-address.ts';
import { limitConnections } from '../http/server/connection-limits.ts';
import { maxDescriptors } from '../http/server/descriptors.ts';
import { type Door, linkSocket, listenSocket, listenTcp } from '../http/server/listen.ts';
import { makeHttpServer } from '../http/server/server.ts';
import {
  type Created,
  createFirstAdministrator,
  DATABASE_FILE,
  masterKeyPlace,
  prepareDirectories,
} from './initialize.ts';
import { type Configuration, type ConfigEvent, type LiveConfig, makeLiveConfig } from '../config/live-config.ts';
import { type Log, makeLog } from '../log/log.ts';
import { numberDefinitions } from '../operations/capabilities/definitions.ts';
import { makeOperations } from '../operations/operations.ts';
import { makeReports, watchMachine } from './reports.ts';
import { lockDataDirectory } from '../store/engine/lock.ts';
import type { StoreAlarms } from '../store/engine/health.ts';
import { openStore } from '../store/open-store.ts';
import { openReserve } from '../store/engine/reserve.ts';
import { explainToOperator } from '../store/engine/storage-fault.ts';
import { VERSION } from '../version.ts';

export { type Created, initialize, renewMasterKey } from './initialize.ts';

/** A running daemon. */
export interface Daemon {
  /** Base address of its TCP door. */
  readonly url: string;
  /** What was made when the data directory was empty. */
  readonly created: Created | null;
  /** Resolves when everything is closed. */
  readonly ended: Promise<void>;
  /** SIGHUP: reads every file of the configuration now. */
  reload(): void;
  /** SIGTERM: no new turns, open streams get their time, unfinished runs go back to the queue. */
  drain(): Promise<void>;
  /** A second SIGTERM: everything ends now; what was committed is safe. */
  halt(): Promise<void>;
}

const FIRST_ADMINISTRATOR = 'admin';

type Closer = () => Promise<void> | void;

/**
 * Starts a daemon on a data directory, initialising it when it is empty. Throws `conflict` when another process holds
 * the directory or an address can't be bound; what was opened until then is closed again.
 */
export async function startDaemon(configuration: Configuration): Promise<Daemon> {
  const closers: Closer[] = [];
  try {
    return await build({ ...configuration, closers });
  } catch (error) {
    await closeAll(closers);
    throw explainToOperator(error, databaseOf(configuration.config));
  }
}

const databaseOf = ({ places }: Config) => join(places.dataDir, DATABASE_FILE);

async function closeAll(closers: Closer[]): Promise<void> {
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
}

interface Start extends Configuration {
  readonly closers: Closer[];
}

/** What everything stands on: the locked directory, its key, the log, the live configuration, the store. */
function layFoundations({ closers, ...configuration }: Start) {
  const { config } = configuration;
  const { places } = config;
  prepareDirectories(places);
  const lock = lockDataDirectory(places.dataDir);
  closers.push(lock.release);
  const deriveKey = openMasterKey(masterKeyPlace(places));
  const log = makeLog(config.settings.log);
  const live = makeLiveConfig({ ...configuration, report: (event) => reportConfig(log, event) });
  closers.push(live.stop);
  live.onChange(() => {
    log.level = live.settings().log.level;
  });
  const lost = Promise.withResolvers<unknown>();
  const alarms: StoreAlarms = {
    trouble: (words) => log.error(words),
    held: (bytes) => log.warn({ megabytes: Math.round(bytes / 1_048_576) }, HELD_LOG),
    lost: lost.resolve,
  };
  const reserve = openReserve(join(places.dataDir, 'reserve'));
  const store = openStore(databaseOf(config), systemClock, alarms, reserve);
  closers.push(store.close);
  live.onChange((changed) => {
    if (changed !== 'definitions') return;
    numberDefinitions(store, live.definitions()).catch((error: unknown) => {
      log.error({ err: error }, 'new definitions could not be given their ids; they get them when they are used');
    });
  });
  return { deriveKey, log, live, store, lost: lost.promise };
}

const HELD_LOG =
  'the log of the database keeps growing, because another process reads an old state of it; "fuser errand.db" names it';

/** Where bytes are kept, and the thread that makes them of workspaces. */
async function openFiles({ config, closers }: Start, { live, log }: { live: LiveConfig; log: Log }) {
  const { dataDir } = config.places;
  const directory = join(dataDir, 'blobs');
  const blobs = await openBlobStore(directory);
  const keeper = makeKeeper({ directory: join(dataDir, 'snapshots'), blobs: directory, clock: systemClock, log });
  closers.push(keeper.stop);
  const disk = makeDisk(dataDir, live.settings);
  return { blobs, keeper, disk, openSpool: makeOpenSpool(incomingPath(directory)) };
}

/** What of the engine has to be closed; the last is closed first. */
function closersOf({ node, queueWait, sweeper, collector, pool, questionWatch, documentReader }: Engine): Closer[] {
  const services = [questionWatch.stop, documentReader.stop];
  return [node.stop, queueWait.stop, sweeper.stop, collector.stop, pool.destroy, ...services];
}

async function build(start: Start): Promise<Daemon> {
  const { config, closers } = start;
  const startedAt = systemClock.now();
  const { deriveKey, log, live, store, lost } = layFoundations(start);
  const [sandbox, files] = await Promise.all([probe(config, log), openFiles(start, { live, log })]);

  const secrets = makeSecretBox(deriveKey);
  const bus = makeBus();
  store.onCommitted(bus.publish);
  const tails = makeTails({ bus, events: store.events });
  const base = { config, live, log, store, sandbox, clock: systemClock };
  const engine = makeEngine({ ...base, ...files, secrets });
  const schemas = new SchemaCheck({ clock: systemClock, log });
  closers.push(...closersOf(engine), () => schemas.stop());
  const closing = new AbortController();
  const draining = new AbortController();
  draining.signal.addEventListener('abort', engine.checks.stop);
  const isClosing = () => closing.signal.aborted;
  const operations = makeOperations({
    store,
    ...files,
    tails,
    ...engine,
    schemas,
    clock: systemClock,
    deriveKey,
    fileAddresses: makeFileAddresses({ deriveKey, publicUrl: () => live.settings().publicUrl, now: systemClock.now }),
    secrets,
    settings: live.settings,
    catalog: live.catalog,
    definitions: live.definitions,
    problems: { ofFiles: live.checkDefinitions, inForce: live.problems },
    closing: isClosing,
    draining: draining.signal,
  });
  const { disk } = files;
  const watched = watchMachine(config, log);
  const reports = makeReports({ ...engine, ...base, ...watched, disk, startedAt, closing: isClosing });
  const app = makeHttpApp({
    operations,
    tail: tails,
    settings: live.settings,
    clock: systemClock,
    log,
    ...reports,
    openSpool: files.openSpool,
    draining: draining.signal,
  });

  await settleNames(store, live, log);
  await rescue({ ...engine, store, log });
  // Registered before the doors open: without a worker node, background runs would be refused.
  if (config.workers) await engine.node.start();
  const doors = await openDoors(start, app, { ...live, log });
  live.bound(doors.tcp.address);
  // After the doors are open: credentials that a failed start had made would be shown to nobody.
  const created = await createFirstAdministrator(store, config.places, FIRST_ADMINISTRATOR);
  await live.start();
  await engine.browser.look();
  startEngine(engine, config);
  log.info({ version: VERSION, pid: process.pid, listen: doors.tcp.address, socket: doors.socket.address }, 'ready');
  const url = `http://${doors.tcp.address}`;
  return makeDaemon({ url, created, closers, log, live, engine, closing, draining, lost });
}

/** Definitions get their ids, and accounts that could be taken for one another are told. */
async function settleNames(store: ReturnType<typeof openStore>, live: LiveConfig, log: Log): Promise<void> {
  await numberDefinitions(store, live.definitions());
  const usernames = await store.users.listLookAlikes();
  if (usernames.length > 0) log.warn({ usernames }, 'accounts look alike; each is found by its exact name alone');
}

async function openDoors(
  { config, closers }: Start,
  app: HttpApp,
  { settings, log }: Pick<LiveConfig, 'settings'> & { log: Log },
) {
  const socket: Door = await listenSocket(makeHttpServer(app), config.places.socketPath);
  closers.push(socket.close, linkSocket(join(config.places.dataDir, 'errand.sock'), config.places.socketPath));
  // The operator's socket has no limit: who may open it is trusted, and shall come in when nobody else does.
  const server = makeHttpServer(app);
  const isTrustedProxy = makeIsTrustedProxy(() => settings().trustedProxies);
  limitConnections(server, { settings, isTrustedProxy, maxDescriptors: maxDescriptors(), clock: systemClock, log });
  const tcp: Door = await listenTcp(server, config.settings.listen);
  closers.push(tcp.close);
  return { socket, tcp };
}

function reportConfig(log: Log, event: ConfigEvent): void {
  if (event.kind === 'accepted') log.info({ file: event.file }, 'configuration reloaded');
  else if (event.kind === 'rejected') {
    const problems = event.problems.map(formatProblem);
    log.error({ file: event.file, problems }, 'configuration refused; the last good one stays in force');
  } else if (event.kind === 'left-out') {
    log.warn({ problems: event.problems.map(formatProblem) }, 'skills and plugins with problems are left out');
  } else log.warn(event, 'configuration');
}

interface Running {
  readonly url: string;
  readonly created: Created | null;
  readonly closers: Closer[];
  readonly log: Log;
  readonly live: LiveConfig;
  readonly engine: Engine;
  readonly closing: AbortController;
  readonly draining: AbortController;
  /** Resolves with the reason when the database can no longer be written. */
  readonly lost: Promise<unknown>;
}

/** What the last moves of a daemon take that can't go on; whoever hangs is left behind. */
const LAST_MOVES_SECONDS = 2;

function makeDaemon({ url, created, closers, log, live, engine, closing, draining, lost }: Running): Daemon {
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  // Whoever waits for the end is told; nobody may.
  ended.catch(() => undefined);
  let drained: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  /** Once, whoever asks first: closers that overlapped would close the store under those that still write. */
  const close = (): Promise<void> => (closed ??= closeAll(closers));

  async function drain(): Promise<void> {
    log.info('draining');
    closing.abort();
    engine.queue.pause();
    await withinDrainTime(engine.queue.idle(), live.settings().streams.drainSeconds);
    draining.abort();
    await engine.queue.release();
    await close();
    log.info('stopped');
    end();
  }

  async function endAtOnce(): Promise<void> {
    closing.abort();
    draining.abort();
    // The runs go back to the queue as in a drain, but their threads end without being waited for. Only then may the store close.
    const released = engine.queue.release();
    await engine.pool.destroy();
    await released;
    await close();
  }

  void lost.then(async (error) => {
    log.fatal({ err: error }, 'the daemon ends: only a new start knows what of the database is on the disk');
    await withinDrainTime(endAtOnce(), LAST_MOVES_SECONDS).catch(() => undefined);
    fail(error);
  });

  return {
    url,
    created,
    ended,
    reload: () => {
      log.info('reading the configuration anew');
      live.reload();
    },
    drain: () => {
      drained ??= drain();
      return drained;
    },
    halt: async () => {
      await endAtOnce();
      end();
    },
  };
}

async function withinDrainTime(work: Promise<void>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, seconds * 1_000);
    }),
  ]);
  clearTimeout(timer);
}
