// The engine: the rooms that carry runs out, wired together, and what they do at a start.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { probeSandbox, type SandboxProbe } from './agent/sandbox.ts';
import { SANDBOX_OWNER } from './agent/sandbox-walls.ts';
import type { Config } from './config.ts';
import { systemClock } from './domain/clock.ts';
import { ErrandError } from './domain/errors.ts';
import type { Settings } from './domain/settings.ts';
import type { CrewSize } from './execution/crew.ts';
import { makeNode } from './execution/node.ts';
import { makePermits } from './execution/permits.ts';
import { makePool } from './execution/pool.ts';
import { makeQueue } from './execution/queue.ts';
import type { RunServices } from './execution/services.ts';
import { makeQueueWait } from './execution/queue-wait.ts';
import { makeStopper } from './execution/stop.ts';
import { makeSweeper } from './execution/sweeper.ts';
import type { BlobStore } from './files/blobs.ts';
import { makeWorkspaces, type Workspaces } from './files/workspaces.ts';
import type { LiveConfig } from './live-config.ts';
import type { Log } from './log.ts';
import type { Store } from './store/open-store.ts';

/** Where bubblewrap is looked for. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Looks for the sandbox, once: what is found holds until the next start. */
export async function probe({ settings, places }: Config, log: Log): Promise<SandboxProbe> {
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

export interface EngineParts {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly sandbox: SandboxProbe;
}

/** What tools may ask for, by the part that answers it. */
function makeServices(): RunServices {
  const missing = (): never => {
    throw new ErrandError('unavailable', 'This is not available here.');
  };
  return {
    report_insight: async () => missing(),
    connector_request: async () => missing(),
    keep_screenshot: async () => missing(),
  };
}

function sizeOf({ workers }: Settings): CrewSize {
  const { threads, runsPerThread, memoryMb, hangTimeoutSeconds } = workers;
  return { threads, runsPerThread, memoryMb, hangTimeoutMs: hangTimeoutSeconds * 1_000 };
}

export type Engine = ReturnType<typeof makeEngine>;

/** The rooms that do the work: the pool of threads and the queue that feeds it. */
export function makeEngine({ config, live, log, store, blobs, sandbox }: EngineParts) {
  const owner = process.getuid?.() === 0 ? SANDBOX_OWNER : null;
  const pool = makePool({ log, clock: systemClock, size: sizeOf(live.settings()) });
  live.onChange(() => pool.resize(sizeOf(live.settings())));
  const workspaces = makeWorkspaces({ directory: join(config.places.dataDir, 'workspaces'), blobs, owner });
  const queue = makeQueue({
    store,
    pool,
    log,
    clock: systemClock,
    permits: makePermits(),
    services: makeServices(),
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

/** Begins to work. What a crash left unfinished must be rescued before. */
export function startEngine(engine: Engine, { workers }: Config): void {
  if (workers) engine.queue.start();
  engine.queueWait.watch();
  engine.sweeper.wake();
}

/** Takes up what a crash left unfinished. Only at a start, while no worker holds a run. */
export async function rescue({
  store,
  workspaces,
  log,
}: {
  store: Store;
  workspaces: Workspaces;
  log: Log;
}): Promise<void> {
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
