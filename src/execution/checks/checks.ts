// Checks of models and MCP servers: each on its own thread, a few at a time, within a deadline.
import type {
  CheckTask,
  McpCheckReport,
  McpCheckTask,
  ModelCheckReport,
  ReportOf,
  SentCheck,
} from '../../agent/checks/check-task.ts';
import type { SandboxGrant } from '../../agent/port/grants.ts';
import type { RunLimits } from '../../agent/port/protocol.ts';
import type { McpServerDefinition } from '../../catalog/definitions.ts';
import type { SecretLocations } from '../../catalog/reading/secret-file.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import { grantMcpServer } from '../brief/mcp-grant.ts';
import type { Permits } from '../pool/permits.ts';
import { grantModel, type ResolvedModel } from '../brief/resolve-model.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';
import { removeTree } from '../../disk/remove-beneath.ts';
import { waysNow } from '../../outbound/ways/ways.ts';
import type { UnusableTools } from '../unusable-tools.ts';
import { makeOneShotHost } from '../../workers/one-shot.ts';
import { onThread } from '../../workers/on-thread.ts';
import type { TaskFailure } from '../../workers/task-end.ts';
import { workerFile } from '../../workers/worker-file.ts';

const MAX_AT_ONCE = 2;
/** A small machine needs minutes to read a long prompt. */
const MODEL_DEADLINE_MS = 900_000;
/** Time in addition to the server's own start-up time. */
const MCP_GRACE_MS = 20_000;

export interface CheckParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly permits: Permits;
  readonly locations: SecretLocations;
  settings(): Settings;
  sandbox(): SandboxGrant | null;
  readonly unusableTools: Pick<UnusableTools, 'listed'>;
  /** Called when a model has replied, with how its endpoint is configured. */
  answered(configured: string): void;
}

export interface Checks {
  /** Tests a model with real calls. Throws `unavailable`, or `wait_timeout` when it takes too long. */
  checkModel(
    resolved: ResolvedModel,
    options: { readonly context: boolean },
    signal: AbortSignal,
  ): Promise<ModelCheckReport>;
  /** Starts an MCP server as a run would. Throws as `checkModel` does. */
  checkMcpServer(server: McpServerDefinition, signal: AbortSignal): Promise<McpCheckReport>;
  /** Ends the checks in progress; they throw `unavailable`. */
  stop(): void;
}

/** Makes the checks. Each ends early when its signal aborts, and then throws `unavailable`. */
export function makeChecks(parts: CheckParts): Checks {
  const { clock, log, permits, locations, settings } = parts;
  const threads = makeOneShotHost<SentCheck, unknown>({
    clock,
    start: onThread({ file: workerFile('../../agent/checks/check-worker.ts', import.meta.url), heapMb: 256 }),
    maxAtOnce: MAX_AT_ONCE,
    maxTasks: MAX_AT_ONCE,
  });

  async function perform<T extends CheckTask>(prepare: () => Promise<T>, limits: CheckLimits): Promise<ReportOf<T>> {
    const send = async () => {
      const task: CheckTask = await prepare();
      return { ...task, ways: waysNow() };
    };
    const end = await threads.run(send, limits);
    if (end.kind === 'done') return end.value as ReportOf<T>;
    if ('error' in end) log.error({ err: end.error }, 'the thread of a check failed');
    throw failed(end, limits.deadlineMs);
  }

  async function checkMcp(grant: McpCheckTask['grant'], signal: AbortSignal): Promise<McpCheckReport> {
    let workspace: string | undefined;
    const prepare = async (): Promise<McpCheckTask> => {
      workspace = await makeTemporaryFolder('check');
      return { kind: 'mcp', grant, workspace, sandbox: sandboxFor(parts), egress: settings().egress.allow };
    };
    try {
      const report = await perform(prepare, { deadlineMs: grant.startTimeoutMs + MCP_GRACE_MS, signal });
      if (report.listMs !== null) parts.unusableTools.listed(grant.name, report);
      return report;
    } finally {
      if (workspace !== undefined) await removeWorkspace(log, workspace);
    }
  }

  return {
    checkModel: async (resolved, { context }, signal) => {
      const { name, maxInFlight } = resolved.endpoint;
      const grant = grantModel(resolved);
      let release: (() => void) | undefined;
      const prepare = async () => {
        release = await holdPermit(permits, name, maxInFlight, signal);
        return { kind: 'model' as const, grant, limits: limitsOf(settings()), context };
      };
      try {
        const report = await perform(prepare, { deadlineMs: MODEL_DEADLINE_MS, signal });
        if (hasReplied(report)) parts.answered(grant.configured);
        return report;
      } finally {
        release?.();
      }
    },
    checkMcpServer: async (server, signal) => {
      const granted = grantMcpServer(server, locations);
      return granted.ok ? checkMcp(granted.grant, signal) : notStarted(granted.why);
    },
    stop: () => void threads.stop(),
  };
}

function notStarted(why: string): McpCheckReport {
  const findings = [{ check: 'secrets', state: 'failed' as const, detail: `The server cannot be started: ${why}.` }];
  return { findings, serverName: '', startMs: null, listMs: null, tools: [], leftOut: [], surplus: 0, stderr: '' };
}

async function removeWorkspace(log: Log, directory: string): Promise<void> {
  await removeTree(directory).catch((error: unknown) => {
    log.warn({ err: error, directory }, 'what a check left behind could not be removed');
  });
}

interface CheckLimits {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

function failed(failure: TaskFailure, deadlineMs: number): ErrandError {
  if (failure.kind === 'busy')
    return new ErrandError('unavailable', 'Other checks are in progress. Try again in a moment.');
  if (failure.kind === 'timeout')
    return new ErrandError('wait_timeout', `The check did not end within ${Math.round(deadlineMs / 1_000)} seconds.`);
  if (failure.kind === 'cancelled' || failure.kind === 'stopped') return ended();
  if ('error' in failure) return new ErrandError('internal', 'The check failed unexpectedly.');
  return new ErrandError('internal', 'The check ended without a result.');
}

/** Resolves with a function that returns the permit. */
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
  return grant === null ? null : { ...grant, memoryBytes: memoryMb * MB, maxProcesses };
}

function limitsOf({ model }: Settings): RunLimits {
  return {
    connectTimeoutMs: model.connectTimeoutSeconds * 1_000,
    firstTokenTimeoutMs: model.firstTokenTimeoutSeconds * 1_000,
    idleTimeoutMs: model.idleTimeoutSeconds * 1_000,
    runTimeoutMs: MODEL_DEADLINE_MS,
    maxSteps: 1,
    maxReplyBytes: model.maxReplyMb * MB,
    patienceMs: 0,
    unprovenPatienceMs: 0,
  };
}

const hasReplied = ({ findings }: ModelCheckReport) =>
  findings.some(({ check, state }) => check === 'stream' && state !== 'failed');

function ended(): ErrandError {
  return new ErrandError('unavailable', 'The check was ended before it was done.');
}
