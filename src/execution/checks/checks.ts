// Checks of models and MCP servers: each on a thread of its own, a few at a time, within a deadline.
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type {
  CheckTask,
  McpCheckReport,
  McpCheckTask,
  ModelCheckReport,
  ReportOf,
} from '../../agent/checks/check-task.ts';
import type { SandboxGrant } from '../../agent/port/grants.ts';
import type { RunLimits } from '../../agent/port/protocol.ts';
import type { McpServerDefinition } from '../../catalog/definitions.ts';
import type { SecretPlaces } from '../../catalog/secret-file.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import { grantMcpServer } from '../brief/mcp-grant.ts';
import type { Permits } from '../queue/permits.ts';
import { grantModel, type ResolvedModel } from '../brief/resolve-model.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';

const MAX_AT_ONCE = 2;
/** A small machine needs minutes to read a long prompt. */
const MODEL_DEADLINE_MS = 900_000;
/** For what comes beside the server's own time to start. */
const MCP_GRACE_MS = 20_000;
const MEMORY_MB = 256;

export interface CheckParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly permits: Permits;
  readonly places: SecretPlaces;
  settings(): Settings;
  sandbox(): SandboxGrant | null;
}

export interface Checks {
  /** Tries a model with real calls. Throws `unavailable`, or `wait_timeout` when it takes too long. */
  checkModel(
    resolved: ResolvedModel,
    wish: { readonly context: boolean },
    signal: AbortSignal,
  ): Promise<ModelCheckReport>;
  /** Starts an MCP server as a run would. Throws as `checkModel` does. */
  checkMcpServer(server: McpServerDefinition, signal: AbortSignal): Promise<McpCheckReport>;
  /** Ends the checks under way; they throw `unavailable`. */
  stop(): void;
}

/** Makes the checks. Each ends early when its signal aborts, and then throws `unavailable`. */
export function makeChecks(parts: CheckParts): Checks {
  const stopping = new AbortController();
  let busy = 0;

  async function perform<T extends CheckTask>(task: T, deadlineMs: number, signal: AbortSignal): Promise<ReportOf<T>> {
    return runThread(task, { ...parts, deadlineMs, signal: AbortSignal.any([signal, stopping.signal]) });
  }

  async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (busy >= MAX_AT_ONCE || stopping.signal.aborted) throw busyNow();
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
    }
  }

  async function checkMcp(grant: McpCheckTask['grant'], signal: AbortSignal): Promise<McpCheckReport> {
    const workspace = await makeTemporaryFolder('check');
    const egress = parts.settings().egress.allow;
    const task: McpCheckTask = { kind: 'mcp', grant, workspace, sandbox: sandboxFor(parts), egress };
    try {
      return await perform(task, grant.startTimeoutMs + MCP_GRACE_MS, signal);
    } finally {
      await rm(workspace, { recursive: true, force: true }).catch((error: unknown) => {
        parts.log.warn({ err: error, directory: workspace }, 'what a check left behind could not be removed');
      });
    }
  }

  return {
    checkModel: (resolved, { context }, signal) =>
      oneOfFew(async () => {
        const { name, maxInFlight } = resolved.endpoint;
        const release = await holdPermit(parts.permits, name, maxInFlight, signal);
        const task = {
          kind: 'model' as const,
          grant: grantModel(resolved),
          limits: limitsOf(parts.settings()),
          context,
        };
        try {
          return await perform(task, MODEL_DEADLINE_MS, signal);
        } finally {
          release();
        }
      }),
    checkMcpServer: (server, signal) =>
      oneOfFew(async () => {
        const granted = grantMcpServer(server, parts.places);
        if (granted.ok) return checkMcp(granted.grant, signal);
        const detail = `The server cannot be started: ${granted.why}.`;
        const findings = [{ check: 'secrets', state: 'failed' as const, detail }];
        return { findings, serverName: '', startMs: null, listMs: null, tools: [], stderr: '' };
      }),
    stop: () => stopping.abort(),
  };
}

interface ThreadParts extends Pick<CheckParts, 'clock' | 'log'> {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

async function runThread<T extends CheckTask>(task: T, { clock, log, deadlineMs, signal }: ThreadParts) {
  if (signal.aborted) throw ended();
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`../../agent/checks/check-thread.${extension}`, import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReportOf<T>>();
  const abort = () => reject(ended());
  const timer = clock.after(deadlineMs, () => {
    const words = `The check did not end within ${Math.round(deadlineMs / 1_000)} seconds.`;
    reject(new ErrandError('wait_timeout', words));
  });
  signal.addEventListener('abort', abort, { once: true });
  worker.once('message', resolve);
  worker.once('error', (error) => {
    log.error({ err: error }, 'the thread of a check failed');
    reject(new ErrandError('internal', 'The check failed unexpectedly.'));
  });
  worker.once('exit', () => reject(new ErrandError('internal', 'The check ended without a result.')));
  try {
    return await promise;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

/** Resolves with what gives the permit back. */
async function holdPermit(
  permits: Permits,
  endpoint: string,
  limit: number | null,
  signal: AbortSignal,
): Promise<() => void> {
  if (limit === null) return () => undefined;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const permit = permits.acquire(endpoint, limit, resolve);
  const abort = () => reject(ended());
  signal.addEventListener('abort', abort, { once: true });
  try {
    await promise;
  } catch (error) {
    permit.release();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
  return () => permit.release();
}

function sandboxFor({ sandbox, settings }: CheckParts): SandboxGrant | null {
  const { memoryMb, maxProcesses } = settings().shell;
  const grant = sandbox();
  return grant === null ? null : { ...grant, memoryBytes: memoryMb * 1_048_576, maxProcesses };
}

function limitsOf({ model }: Settings): RunLimits {
  return {
    connectTimeoutMs: model.connectTimeoutSeconds * 1_000,
    firstTokenTimeoutMs: model.firstTokenTimeoutSeconds * 1_000,
    idleTimeoutMs: model.idleTimeoutSeconds * 1_000,
    runTimeoutMs: MODEL_DEADLINE_MS,
    maxSteps: 1,
    maxReplyBytes: model.maxReplyMb * 1_048_576,
  };
}

function ended(): ErrandError {
  return new ErrandError('unavailable', 'The check was ended before it was done.');
}

function busyNow(): ErrandError {
  return new ErrandError('unavailable', 'Other checks are under way. Try again in a moment.');
}
