// The one wiring function: builds every room, opens the listeners, and closes everything in reverse order.
import { storeLocationOf } from '../config/store-location.ts';
import type { Configuration } from '../config/read-configuration.ts';
import type { LiveConfig } from '../config/live/live-config.ts';
import { makeBus } from '../events/bus.ts';
import { makeSchemaCheck } from '../execution/checks/schema-check.ts';
import type { WorkerNodes } from '../execution/queue/node.ts';
import { openNodeIdentity } from '../files/node-id.ts';
import { makeSecretBox } from '../files/secret-box.ts';
import type { Log } from '../log/log.ts';
import { numberDefinitions } from '../operations/capabilities/definitions.ts';
import { makeRenderer } from '../rendering/renderer.ts';
import { explainRefusal } from '../store/explain-refusal.ts';
import type { Store } from '../store/open-store.ts';
import { VERSION } from '../version.ts';
import { type Closer, closeAll } from './closers.ts';
import { type Daemon, makeDaemon, makeStages } from './daemon-life.ts';
import { makeEngine } from './engine.ts';
import { findSandbox } from './find-sandbox.ts';
import { layFoundations, openAuditAnchor, openFiles, type Start } from './foundations.ts';
import { createFirstAdministrator } from './data/initialize.ts';
import { openApp } from './opening/open-app.ts';
import { openCertificate, reloadOf } from './opening/open-certificate.ts';
import { openBackups } from './opening/open-backups.ts';
import { openListeners } from './opening/open-listeners.ts';
import { openTelemetry } from './opening/open-telemetry.ts';
import { settleKey } from './data/own-key.ts';
import { markOwnRows } from './data/own-rows.ts';
import { settleRows } from './data/settle-rows.ts';
import { rescue } from './data/rescue.ts';
import { runningStatus } from './service-status.ts';
import { daemonClock } from './daemon-clock.ts';

export type { Daemon } from './daemon-life.ts';
export { type Created, initialize, renewMasterKey } from './data/initialize.ts';

const FIRST_ADMINISTRATOR = 'admin';

/**
 * Starts a daemon on a data directory, and initialises an empty one. Throws `conflict` when another process holds the directory
 * or an address can't be bound; everything opened until then is closed again.
 */
export async function startDaemon(configuration: Configuration): Promise<Daemon> {
  const closers: Closer[] = [];
  const location = storeLocationOf(configuration.config);
  try {
    return await build({ configuration, location, closers });
  } catch (error) {
    await closeAll(closers);
    throw explainRefusal(error, location);
  }
}

async function build(start: Start): Promise<Daemon> {
  const { closers, location } = start;
  const { config } = start.configuration;
  const { dataDir } = config.locations;
  const startedAt = daemonClock.now();
  const { key, log, live, store, identify, manager, lost } = layFoundations(start);
  const joined = await settleRows(config, location, { store, log, manager });
  const deriveKey = await settleKey({ store, location, ...key });
  const identity = identify(openNodeIdentity(dataDir));
  const { found: sandbox, begun, ended: sandboxFound } = findSandbox(config, log, closers);
  // The command of the search runs during all that follows.
  const [files] = await Promise.all([openFiles(start, { live, log, store }), begun]);

  const anchor = await openAuditAnchor(start, { deriveKey, log, store, identity });
  const secrets = makeSecretBox(deriveKey);
  const bus = makeBus();
  store.onCommitted(bus.publish);
  const telemetry = await openTelemetry({ config, live, store, log, closers });
  const forRuns = { config, live, log, store, bus, ...files, secrets, deriveKey, sandbox, identity };
  const engine = makeEngine({ ...forRuns, hooks: telemetry.watching.hooks });
  const { rooms } = engine;
  const schemas = makeSchemaCheck({ clock: daemonClock, log });
  const renderer = makeRenderer({ clock: daemonClock, log });
  const backups = openBackups({ config, live, blobs: files.blobs, deriveKey, clock: daemonClock, log });
  closers.push(...engine.closers, schemas.stop, renderer.stop, backups.stop);
  const { starting, started, closing, draining } = await makeStages(store);
  // Before the listeners close: who waits for these still gets a reply.
  const waitedFor: readonly Closer[] = [rooms.checks.stop, rooms.publishing.versions.endWaits, renderer.stop];
  for (const end of waitedFor) draining.signal.addEventListener('abort', () => void end());
  const certificate = openCertificate(start, live, log);
  const { app, readiness } = openApp({
    ...forRuns,
    certificate,
    anchor,
    schemas,
    renderer,
    rooms,
    ...telemetry.watching,
    backups,
    startedAt,
    starting,
    closing: closing.signal,
    draining: draining.signal,
  });

  await settleNames(store, live, log);
  // First, so that a process with the id of another one, which it is refused, takes nothing of it. Before the listeners open: without a
  // worker node, background runs would be refused.
  await rooms.node.start();
  const rescued = rescue({ store, workspaces: rooms.workspaces, stopper: rooms.stopper, node: identity.id, log });
  // Runs need to know of the sandbox.
  await Promise.all([rescued, sandboxFound]);
  const listeners = await openListeners(start, app, { live, certificate, log });
  const metrics = await telemetry.open({ ...rooms, config, readiness, backups });
  // After the listeners are open: credentials that a failed start had created would never be shown.
  const created = await createFirstAdministrator(store, config.locations, FIRST_ADMINISTRATOR);
  markOwnRows(dataDir, location, joined);
  await Promise.all([live.start(), certificate?.start()]);
  await rooms.browser.look();
  engine.start();
  rooms.singles.service({ wake: backups.start, stop: backups.stop }).start();
  const addresses = { listen: listeners.address, socket: config.locations.socketPath };
  sayReady(log, { ...whoseOf(store, rooms.node), ...addresses, ...(metrics !== null && { metrics }) });
  const { url, handOver } = listeners;
  const health = { status: () => runningStatus(url, rooms.pool.load().busy, readiness()), answered: store.answered };
  const hooks = { reload: reloadOf(live, certificate), health, handOver, started };
  return makeDaemon({ url, created, closers, log, live, rooms, closing, draining, manager, lost, ...hooks });
}

const sayReady = (log: Log, facts: object): void => log.info({ version: VERSION, pid: process.pid, ...facts }, 'ready');

/** The node, where there may be others: logs of several may be gathered in one place. */
function whoseOf({ peers }: Store, node: Pick<WorkerNodes, 'own'>): object {
  if (peers === null) return {};
  const { name, id } = node.own();
  return { node: name, node_id: id };
}

/** Assigns ids to definitions, and logs accounts that could be confused with each other. */
async function settleNames(store: Store, live: LiveConfig, log: Log): Promise<void> {
  await numberDefinitions(store, live.definitions());
  const usernames = await store.users.listLookAlikes();
  if (usernames.length > 0) log.warn({ usernames }, 'accounts look alike; each is found by its exact name alone');
}
