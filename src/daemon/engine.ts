// The engine: the rooms that carry runs out, wired together, and what they do at a start.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../agent/browser/find-chromium.ts';
import { probeSandbox, type SandboxProbe } from '../agent/sandbox/sandbox.ts';
import { SANDBOX_OWNER } from '../agent/sandbox/walls.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import { type EventType, TERMINAL_EVENTS } from '../domain/journal-event.ts';
import type { Settings } from '../domain/settings.ts';
import { makeCollector } from '../execution/artifacts/collector.ts';
import { makeChecks } from '../execution/checks/checks.ts';
import type { CrewSize } from '../execution/conduct/crew.ts';
import { type Broker, makeBroker } from '../execution/broker/broker.ts';
import { type BrowserPart, makeBrowserPart } from '../execution/brief/browser-part.ts';
import { type DocumentReader, makeDocumentReader } from '../execution/brief/document-reader.ts';
import { makeFileTexts } from '../execution/brief/file-texts.ts';
import { makeKeepScreenshot } from '../execution/artifacts/keep-screenshot.ts';
import { openConnector } from '../execution/brief/open-connector.ts';
import { makeEmptyArchives } from '../execution/artifacts/empty-archives.ts';
import { makeEquip } from '../execution/brief/equip.ts';
import { makeNode } from '../execution/queue/node.ts';
import { makePermits } from '../execution/queue/permits.ts';
import { makePool } from '../execution/conduct/pool.ts';
import { makeQueue } from '../execution/queue/queue.ts';
import { makeDocuments } from '../execution/brief/read-documents.ts';
import type { RunServices } from '../execution/queue/services.ts';
import { makeQuestionWatch } from '../execution/queue/question-watch.ts';
import { makeQueueWait } from '../execution/queue/queue-wait.ts';
import { makeStopper } from '../execution/queue/stop.ts';
import { makeSweeper } from '../execution/artifacts/sweeper.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import type { SnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import type { SecretBox } from '../files/secret-box.ts';
import { makeWorkspaces, type Workspaces } from '../files/workspaces.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { Log } from '../log/log.ts';
import { removeOrphanedFolders } from '../disk/temporary-folder.ts';
import type { Store } from '../store/open-store.ts';

/** Where bubblewrap is looked for. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Looks for the sandbox, once: what is found holds until the next start. */
export async function probe({ settings, places }: Config, log: Log): Promise<SandboxProbe> {
  const { shell } = settings;
  await removeOrphanedFolders().catch((error: unknown) =>
    log.warn({ err: error }, 'temporary folders could not be looked through'),
  );
  const found = await probeSandbox({
    path: PROGRAM_PATH,
    privateFolders: [places.dataDir, places.configDir],
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * 1_024,
    memoryBytes: shell.memoryMb * 1_048_576,
    maxProcesses: shell.maxProcesses,
  });
  if (!found.ok) log.warn({ why: found.why }, 'the shell tool is off: there is no sandbox');
  else log.info({ memory: found.grant.groups === null ? 'watched' : 'control group' }, 'the sandbox works');
  return found;
}

export interface EngineParts {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly snapshotThread: SnapshotThread;
  readonly secrets: SecretBox;
  readonly sandbox: SandboxProbe;
}

type BrokerNeeds = Pick<EngineParts, 'config' | 'live' | 'log' | 'store' | 'secrets'>;

/** The broker of connected services, as the config directory describes them now. */
function openBroker({ config, live, log, store, secrets }: BrokerNeeds): Broker {
  return makeBroker({
    store,
    secrets,
    log,
    connector: (name) => {
      const definition = live.definitions().connectors.get(name);
      return definition === undefined ? undefined : openConnector(definition, config.places);
    },
    egress: () => live.settings().egress.allow,
    now: systemClock.now,
  });
}

interface ServiceParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly broker: Broker;
  readonly documentReader: DocumentReader;
}

/** What tools may ask for, by the part that answers it. */
function makeServices({ store, blobs, broker, documentReader }: ServiceParts): RunServices {
  return {
    report_insight: async (run, insight) => {
      const insightId = await store.insights.report(run, insight);
      if (insightId === undefined) throw new ErrandError('conflict', 'The run has ended.');
      return { insightId };
    },
    connector_request: (run, input) => broker.call(run.runSeq, input),
    read_document: makeFileTexts(documentReader),
    keep_screenshot: makeKeepScreenshot({ store, blobs }),
  };
}

function sizeOf({ workers }: Settings): CrewSize {
  const { threads, runsPerThread, memoryMb, hangTimeoutSeconds } = workers;
  return { threads, runsPerThread, memoryMb, hangTimeoutMs: hangTimeoutSeconds * 1_000 };
}

type KeptParts = Pick<EngineParts, 'store' | 'snapshotThread' | 'blobs' | 'log'> & {
  readonly workspaces: Workspaces;
  settings(): Settings;
};

/** With them, text that was streamed is thrown away. */
const DISCARDING: ReadonlySet<EventType> = new Set(['run.resumed', 'run.failed']);

/** What keeps the files of runs, and removes those of deleted sessions. */
function makeKept(parts: KeptParts) {
  const { store } = parts;
  const sweeper = makeSweeper({ ...parts, clock: systemClock });
  const collector = makeCollector({ ...parts, clock: systemClock, released: sweeper.released });
  store.onCommitted((events) => {
    for (const { type, sessionSeq } of events) if (TERMINAL_EVENTS.has(type)) collector.wake(sessionSeq);
    if (events.some(({ type }) => DISCARDING.has(type))) sweeper.wake();
  });
  return {
    collector,
    sweeper,
    emptyArchives: makeEmptyArchives(parts),
    /** Nothing is at work any more in the workspace of a session that was stopped. */
    atRest: (sessionSeq: number): void => {
      collector.wake(sessionSeq);
      sweeper.wake();
    },
  };
}

/** The browser, looked for anew when the settings change. */
function keepBrowser({ live, log, sandbox }: Pick<EngineParts, 'live' | 'log' | 'sandbox'>): BrowserPart {
  const walls = () => (sandbox.ok ? sandbox.grant : null);
  const browser = makeBrowserPart({ log, settings: live.settings, sandbox: walls, find: findChromium });
  live.onChange(() => void browser.look());
  return browser;
}

export type Engine = ReturnType<typeof makeEngine>;

/** The rooms that do the work: the pool of threads and the queue that feeds it. */
export function makeEngine({ config, live, log, store, blobs, snapshotThread, secrets, sandbox }: EngineParts) {
  const broker = openBroker({ config, live, log, store, secrets });
  const owner = process.getuid?.() === 0 ? SANDBOX_OWNER : null;
  const pool = makePool({ log, clock: systemClock, size: sizeOf(live.settings()) });
  live.onChange(() => pool.resize(sizeOf(live.settings())));
  const workspaces = makeWorkspaces({ directory: join(config.places.dataDir, 'workspaces'), blobs, owner });
  const browser = keepBrowser({ live, log, sandbox });
  const documentReader = makeDocumentReader({ log, clock: systemClock });
  const { settings, catalog, definitions } = live;
  const permits = makePermits();
  const sandboxGrant = () => (sandbox.ok ? sandbox.grant : null);
  const { places } = config;
  const checks = makeChecks({ log, clock: systemClock, permits, places, settings, sandbox: sandboxGrant });
  const kept = makeKept({ store, snapshotThread, blobs, workspaces, log, settings });
  const queue = makeQueue({
    store,
    pool,
    collector: kept.collector,
    log,
    clock: systemClock,
    permits,
    services: makeServices({ store, blobs, broker, documentReader }),
    broker,
    documents: makeDocuments({ store, blobs, reader: documentReader, log, clock: systemClock }),
    workspaces,
    sandbox: sandboxGrant,
    settings,
    catalog,
    definitions,
    equip: makeEquip({ store, log, places, definitions, catalog, browser: browser.grant }),
  });
  const queueWait = makeQueueWait({ store, log, clock: systemClock, settings });
  const questionWatch = makeQuestionWatch({ store, log, clock: systemClock, expired: queue.wake });
  store.onCommitted((events) => {
    if (events.some(({ type }) => type === 'user_input.requested')) questionWatch.watch();
  });
  const node = makeNode({ store, log, clock: systemClock, id: hostname(), capacity: pool.slots });
  const stopper = makeStopper({ store, queue, clock: systemClock, log, confirmed: kept.atRest });
  return {
    pool,
    queue,
    queueWait,
    questionWatch,
    node,
    workspaces,
    ...kept,
    stopper,
    broker,
    browser,
    documentReader,
    checks,
  };
}

/** Begins to work. What a crash left unfinished must be rescued before. */
export function startEngine(engine: Engine, { workers }: Config): void {
  if (workers) engine.queue.start();
  engine.queueWait.watch();
  engine.questionWatch.watch();
  engine.collector.start();
  engine.sweeper.start();
}

/** Takes up what a crash left unfinished. Only at a start, while no worker holds a run. */
export async function rescue({
  store,
  workspaces,
  stopper,
  log,
}: Pick<Engine, 'workspaces' | 'stopper'> & { store: Store; log: Log }): Promise<void> {
  // First, so that a crash in the middle of it finds the same sessions again.
  for (const sessionId of store.runs.listExecutingSessions()) {
    await workspaces.tidy(sessionId).catch((error: unknown) => {
      log.error({ session_id: sessionId, err: error }, 'what the crash left half-written could not be removed');
    });
  }
  const rescued = await store.runs.rescue();
  await store.runs.confirmStops();
  // A crash may have come between the disabling of a user and the end of the last run.
  await stopper.stopDisabled();
  if (rescued.settled + rescued.interrupted + rescued.queued > 0) log.info(rescued, 'unfinished runs were rescued');
}
