// The one wiring function: builds every room, opens the doors, and closes everything in reverse order.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { probeSandbox, type SandboxProbe } from './agent/sandbox.ts';
import { SANDBOX_OWNER } from './agent/sandbox-walls.ts';
import type { Catalog } from './catalog/models.ts';
import { formatProblem } from './catalog/problem.ts';
import type { Config } from './config.ts';
import { systemClock } from './domain/clock.ts';
import type { Settings } from './domain/settings.ts';
import { makeBus } from './events/bus.ts';
import { makeTails } from './events/tail.ts';
import type { CrewSize } from './execution/crew.ts';
import { makeNode } from './execution/node.ts';
import { makePermits } from './execution/permits.ts';
import { makePool } from './execution/pool.ts';
import { makeQueue, type Queue } from './execution/queue.ts';
import { SchemaCheck } from './execution/schema-check.ts';
import { makeQueueWait } from './execution/queue-wait.ts';
import { makeStopper } from './execution/stop.ts';
import { makeSweeper } from './execution/sweeper.ts';
import { openBlobStore } from './files/blobs.ts';
import { openMasterKey } from './files/master-key.ts';
import { makeWorkspaces, type Workspaces } from './files/workspaces.ts';
import { makeHttpApp } from './http/app.ts';
import { type Door, listenSocket, listenTcp } from './http/listen.ts';
import { makeHttpServer } from './http/server.ts';
import {
  type Created,
  createFirstAdministrator,
  DATABASE_FILE,
  masterKeyPlace,
  prepareDirectories,
} from './initialize.ts';
import { type ConfigEvent, type LiveConfig, makeLiveConfig } from './live-config.ts';
import { type Log, makeLog } from './log.ts';
import { makeOperations } from './operations/operations.ts';
import { makeReports } from './reports.ts';
import { lockDataDirectory } from './store/lock.ts';
import { openStore, type Store } from './store/open-store.ts';
import { VERSION } from './version.ts';

export { type Created, initialize } from './initialize.ts';

/** A running daemon. */
export interface Daemon {
  /** Base address of its TCP door. */
  readonly url: string;
  /** What was made when the data directory was empty. */
  readonly created: Created | null;
  /** Resolves when everything is closed. */
  readonly ended: Promise<void>;
  /** SIGTERM: no new turns, open streams get their time, unfinished runs go back to the queue. */
  drain(): Promise<void>;
  /** A second SIGTERM: everything ends now; what was committed is safe. */
  halt(): Promise<void>;
}

const FIRST_ADMINISTRATOR = 'admin';
/** Where bubblewrap is looked for. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

type Closer = () => Promise<void> | void;

/**
 * Starts a daemon on a data directory, initialising it when it is empty. Throws `conflict` when another process holds
 * the directory or an address can't be bound; what was opened until then is closed again.
 */
export async function startDaemon({ config, catalog }: { config: Config; catalog: Catalog }): Promise<Daemon> {
  const closers: Closer[] = [];
  try {
    return await build({ config, catalog, closers });
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
}

interface Start {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly closers: Closer[];
}

async function build({ config, catalog, closers }: Start): Promise<Daemon> {
  const { places } = config;
  const startedAt = systemClock.now();
  prepareDirectories(places);
  const lock = lockDataDirectory(places.dataDir);
  closers.push(lock.release);
  const deriveKey = openMasterKey(masterKeyPlace(places));
  const log = makeLog(config.settings.log);
  const live = makeLiveConfig({ config, catalog, report: (event) => reportConfig(log, event) });
  closers.push(live.stop);
  live.onChange(() => {
    log.level = live.settings().log.level;
  });
  const store = openStore(join(places.dataDir, DATABASE_FILE), systemClock);
  closers.push(store.close);
  const [sandbox, blobs] = await Promise.all([probe(config, log), openBlobStore(join(places.dataDir, 'blobs'))]);

  const bus = makeBus();
  store.onCommitted(bus.publish);
  const tails = makeTails({ bus, events: store.events });
  const engine = makeEngine({ config, live, log, store, blobs, sandbox });
  closers.push(engine.node.stop, engine.queueWait.stop, engine.sweeper.stop, engine.pool.destroy);
  const schemas = new SchemaCheck({ clock: systemClock, log });
  closers.push(() => schemas.stop());
  const closing = new AbortController();
  const draining = new AbortController();
  const isClosing = () => closing.signal.aborted;
  const operations = makeOperations({
    store,
    blobs,
    tails,
    ...engine,
    schemas,
    clock: systemClock,
    deriveKey,
    settings: live.settings,
    catalog: live.catalog,
    closing: isClosing,
    draining: draining.signal,
  });
  const [{ pool }, clock] = [engine, systemClock];
  const reports = makeReports({ config, live, store, pool, sandbox, startedAt, closing: isClosing, clock });
  const app = makeHttpApp({
    operations,
    tail: tails,
    settings: live.settings,
    clock: systemClock,
    log,
    status: reports.status,
    readiness: reports.readiness,
    draining: draining.signal,
  });

  await rescue({ store, workspaces: engine.workspaces, log });
  const doors = await openDoors(config, closers, () => makeHttpServer(app));
  live.bound(doors.tcp.address);
  // After the doors are open: credentials that a failed start had made would be shown to nobody.
  const created = await createFirstAdministrator(store, places, FIRST_ADMINISTRATOR);
  await live.start();
  await startEngine(engine, config);
  log.info({ version: VERSION, pid: process.pid, listen: doors.tcp.address, socket: doors.socket.address }, 'ready');
  return makeDaemon({ url: `http://${doors.tcp.address}`, created, closers, log, live, engine, closing, draining });
}

async function probe({ settings, places }: Config, log: Log): Promise<SandboxProbe> {
  const { shell } = settings;
  const found = await probeSandbox({
    path: PROGRAM_PATH,
    privateFolders: [places.dataDir, places.configDir],
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * 1_024,
    memoryBytes: shell.memoryMb * 1_048_576,
    maxProcesses: shell.maxProcesses,
  });
  if (!found.ok) log.warn({ why: found.why }, 'the shell tool is off: there is no sandbox');
  return found;
}

interface EngineParts {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly blobs: Awaited<ReturnType<typeof openBlobStore>>;
  readonly sandbox: SandboxProbe;
}

function sizeOf({ workers }: Settings): CrewSize {
  const { threads, runsPerThread, memoryMb, hangTimeoutSeconds } = workers;
  return { threads, runsPerThread, memoryMb, hangTimeoutMs: hangTimeoutSeconds * 1_000 };
}

/** The rooms that do the work: the pool of threads and the queue that feeds it. */
function makeEngine({ config, live, log, store, blobs, sandbox }: EngineParts) {
  const owner = process.getuid?.() === 0 ? SANDBOX_OWNER : null;
  const pool = makePool({
    clock: systemClock,
    log,
    size: sizeOf(live.settings()),
  });
  live.onChange(() => pool.resize(sizeOf(live.settings())));
  const workspaces = makeWorkspaces({ directory: join(config.places.dataDir, 'workspaces'), blobs, owner });
  const queue: Queue = makeQueue({
    store,
    pool,
    log,
    clock: systemClock,
    permits: makePermits(),
    workspaces,
    sandbox: () => (sandbox.ok ? sandbox.grant : null),
    settings: live.settings,
    catalog: live.catalog,
  });
  const queueWait = makeQueueWait({ store, log, clock: systemClock, settings: live.settings });
  const node = makeNode({ store, log, clock: systemClock, id: hostname(), capacity: pool.slots });
  const sweeper = makeSweeper({ store, workspaces, blobs, clock: systemClock, log });
  const stopper = makeStopper({ store, queue, clock: systemClock, log, confirmed: sweeper.wake });
  return { pool, queue, queueWait, node, workspaces, sweeper, stopper };
}

async function startEngine(engine: ReturnType<typeof makeEngine>, { workers }: Config): Promise<void> {
  if (workers) {
    await engine.node.start();
    engine.queue.start();
  }
  engine.queueWait.watch();
  engine.sweeper.wake();
}

async function rescue({ store, workspaces, log }: { store: Store; workspaces: Workspaces; log: Log }): Promise<void> {
  // First, so that a crash in the middle of it finds the same sessions again.
  for (const sessionId of store.runs.listExecutingSessions()) {
    await workspaces.tidy(sessionId).catch((error: unknown) => {
      log.error({ session_id: sessionId, err: error }, 'what the crash left half-written could not be removed');
    });
  }
  const rescued = await store.runs.rescue();
  await store.runs.confirmStops();
  if (rescued.settled + rescued.interrupted + rescued.queued > 0) log.info(rescued, 'unfinished runs were rescued');
}

async function openDoors(config: Config, closers: Closer[], server: () => ReturnType<typeof makeHttpServer>) {
  const socket: Door = await listenSocket(server(), config.places.socketPath);
  closers.push(socket.close);
  const tcp: Door = await listenTcp(server(), config.settings.listen);
  closers.push(tcp.close);
  return { socket, tcp };
}

function reportConfig(log: Log, event: ConfigEvent): void {
  if (event.kind === 'accepted') log.info({ file: event.file }, 'configuration reloaded');
  else if (event.kind === 'rejected') {
    const problems = event.problems.map(formatProblem);
    log.error({ file: event.file, problems }, 'configuration refused; the last good one stays in force');
  } else log.warn(event, 'configuration');
}

interface Running {
  readonly url: string;
  readonly created: Created | null;
  readonly closers: Closer[];
  readonly log: Log;
  readonly live: LiveConfig;
  readonly engine: ReturnType<typeof makeEngine>;
  readonly closing: AbortController;
  readonly draining: AbortController;
}

function makeDaemon({ url, created, closers, log, live, engine, closing, draining }: Running): Daemon {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let drained: Promise<void> | undefined;

  async function drain(): Promise<void> {
    log.info('draining');
    closing.abort();
    engine.queue.pause();
    await withinDrainTime(engine.queue.idle(), live.settings().streams.drainSeconds);
    draining.abort();
    await engine.queue.release();
    await closeAll(closers);
    log.info('stopped');
    end();
  }

  return {
    url,
    created,
    ended,
    drain: () => {
      drained ??= drain();
      return drained;
    },
    halt: async () => {
      closing.abort();
      draining.abort();
      // The pool first: nothing may be told to a store that is closed.
      await engine.pool.destroy();
      await closeAll(closers);
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
