// A run in progress on the main thread: its claim, its worker, and why it was aborted.
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import type { Clock } from '../../domain/clock.ts';
import type { CallOutcome } from '../../domain/sessions/model-call.ts';
import type { Halting } from '../../domain/halt.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { Claim } from '../../store/lifecycle/start-run.ts';
import type { Fence, Progress } from '../../store/runs/fence.ts';
import { StorageRefusal } from '../../store/engine/storage-refusal.ts';
import type { WorkspaceBaseline } from '../artifacts/recording/workspace-baseline.ts';
import type { BuildBrief } from '../brief/brief.ts';
import type { Broker } from '../broker/broker.ts';
import type { Collector } from '../artifacts/collector.ts';
import type { Permit, Permits } from '../pool/permits.ts';
import type { WorkerRun } from '../pool/run-on-thread.ts';
import type { Reservation, WorkerPool } from '../pool/worker-pool.ts';
import type { BudgetGate } from './budget-gate.ts';
import type { UnusableTools } from '../unusable-tools.ts';
import type { RunServices } from '../run-services.ts';
import type { Stopwatch } from './stopwatch.ts';

export interface ExecutorParts {
  readonly store: Pick<Store, 'runs' | 'turns' | 'compactions'>;
  readonly workspaces: Pick<Workspaces, 'tidy'>;
  readonly buildBrief: BuildBrief;
  readonly clock: Clock;
  readonly pool: Pick<WorkerPool, 'reserve'>;
  readonly permits: Permits;
  readonly log: Log;
  readonly services: RunServices;
  readonly budgets: Pick<BudgetGate, 'settles' | 'refused' | 'ended'>;
  readonly broker: Pick<Broker, 'admit'>;
  readonly collector: Pick<Collector, 'baselineOf'>;
  readonly unusableTools: Pick<UnusableTools, 'listed'>;
  settings(): Settings;
  catalog(): Catalog;
  readonly lookUp: LookUp;
  /** Called after text was discarded: it is erased a day later. */
  readonly textDiscarded?: (() => void) | undefined;
  /** Called when an endpoint, by how it is configured, has sent some of a reply. */
  readonly endpointAnswered?: ((configured: string) => void) | undefined;
  /** Called after each call of a model. */
  readonly modelCalled?: ((call: { readonly endpoint: string; readonly outcome: CallOutcome }) => void) | undefined;
}

/**
 * `drain`: the run returns to the queue and resumes after the next start. `stop`: it was canceled, and its end is committed.
 * `fenced`: another move of the run came first. `journal`: its progress could not be recorded; `unavailable`: because the storage
 * was locked or away.
 */
export type AbortReason = 'drain' | 'stop' | 'fenced' | 'journal' | 'unavailable';

export interface RunState {
  readonly parts: ExecutorParts;
  readonly claim: Claim;
  readonly fence: Fence;
  readonly baseline: WorkspaceBaseline;
  readonly stopwatch: Stopwatch;
  /** Comes with its end, or when it is called off. */
  readonly off: Halting;
  /** Whether its turn has attachments, which are in the workspace by now. */
  hasUploads: boolean;
  /** Calls of the newest step without a result; of one from an earlier attempt, it isn't known. */
  openCalls: number;
  worker: WorkerRun | undefined;
  abortedFor: AbortReason | undefined;
  /** Whether a part of the attempt was not recorded. */
  hasGap: boolean;
  permit: Permit | undefined;
  reservation: Reservation | undefined;
  /** Called when the run turns out to take no slot. */
  slotFreed(): void;
}

/** The attempt, and how long its run has been at work until now. */
export function progressOf({ fence, stopwatch }: RunState): Progress {
  return { ...fence, workedMs: stopwatch.workedMs() };
}

/** Aborts a run. The first reason wins, except that a stop replaces it. */
export function abort(state: RunState, why: AbortReason): void {
  if (GAPS.has(why)) state.hasGap = true;
  // The worker may learn of a stop from a refused write first.
  if (why === 'stop') state.abortedFor = why;
  else state.abortedFor ??= why;
  state.baseline.abort();
  state.off.halt();
  // A run that still waits for a thread leaves; a running one keeps its reservation until its worker has ended.
  if (state.worker === undefined) state.reservation?.leave();
  state.worker?.send({ t: 'abort', reason: why });
}

/** Aborts a run of which something could not be written. */
export function callOffUnkept(state: RunState, error: unknown): void {
  state.parts.log.error(logFacts(state, { err: error }), 'the journal could not be written; the run is interrupted');
  abort(state, error instanceof StorageRefusal && error.passes ? 'unavailable' : 'journal');
}

/** Reasons that leave a gap in the run's record. */
const GAPS: ReadonlySet<AbortReason> = new Set(['journal', 'unavailable'] as const);

/** Whether a part of the attempt was not recorded, so that nothing after it may be, whatever else it was aborted for before. */
export function isRefused({ hasGap }: RunState): boolean {
  return hasGap;
}

/** The facts of a log line, with those that identify the run. */
export function logFacts({ claim }: RunState, facts: object): object {
  return { run_id: claim.run.id, session_id: claim.run.sessionId, ...facts };
}
