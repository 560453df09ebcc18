// The executor of one run, from its claim to its end: its brief, its worker, and the record of its outcome.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connectionIdsOf } from '../../agent/port/grants.ts';
import type { Brief, Outcome, ToolCall } from '../../agent/port/protocol.ts';
import { makeHalt } from '../../domain/halt.ts';
import { messageOf } from '../../domain/errors.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import { retryEachSecond } from '../../services/retry.ts';
import type { Claim } from '../../store/lifecycle/start-run.ts';
import type { Ending, WorkspaceUse } from '../../store/lifecycle/end-run.ts';
import type { Fence, Progress } from '../../store/runs/fence.ts';
import type { Interruption } from '../../store/lifecycle/rescue-runs.ts';
import { StorageRefusal } from '../../store/engine/storage-refusal.ts';
import type { Prepared } from '../artifacts/recording/lay-workspace.ts';
import type { PoolEnd, Reservation } from '../pool/worker-pool.ts';
import { type ResolvedModel, resolveModel } from '../brief/resolve-model.ts';
import {
  abort,
  type AbortReason,
  type ExecutorParts,
  isRefused,
  logFacts,
  progressOf,
  type RunState,
} from './run-state.ts';
import { reserve } from './reserve.ts';
import { makeStopwatch } from './stopwatch.ts';
import { takeSignals } from './take-signals.ts';

/** A run in progress. */
export interface Execution {
  readonly runSeq: number;
  readonly sessionSeq: number;
  /** The attempt, and how long its run has been at work until now. */
  progress(): Progress;
  /** Resolves when the run needs nothing more of this daemon; never rejects. */
  readonly ended: Promise<void>;
  /** Asks the worker to stop. */
  abort(why: AbortReason): void;
}

/** Starts to execute a claimed run. `slotFreed` is called when the run turns out to take no slot. */
export function executeRun(parts: ExecutorParts, claim: Claim, slotFreed: () => void): Execution {
  const { run } = claim;
  const fence: Fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt };
  const baseline = parts.collector.baselineOf(run);
  const off = makeHalt();
  const state: RunState = {
    parts,
    claim,
    fence,
    baseline,
    stopwatch: makeStopwatch(parts.clock, run.workedMs),
    off,
    hasUploads: false,
    openCalls: 0,
    worker: undefined,
    abortedFor: undefined,
    hasGap: false,
    permit: undefined,
    reservation: undefined,
    slotFreed,
  };
  return {
    runSeq: run.seq,
    sessionSeq: run.sessionSeq,
    progress: () => progressOf(state),
    ended: execute(state)
      .catch((error: unknown) => {
        // Only the store fails here. The run keeps its row, and the end of its lease makes it claimable again once the store
        // can write.
        parts.log.error(
          { run_id: run.id, err: error },
          'the run could not be recorded; it resumes when its lease ends',
        );
      })
      .finally(() => {
        baseline.abort();
        off.halt();
      })
      .then(() => parts.budgets.ended(fence)),
    abort: (why) => abort(state, why),
  };
}

async function execute(state: RunState): Promise<void> {
  const { parts, claim } = state;
  const resolved = await parts.lookUp(() => resolveModel(parts.catalog(), claim.run.model));
  if (resolved === undefined) {
    await end(state, { outcome: 'failed', error: noModel(claim) }, useOf(state, true));
    return;
  }
  let workerEnd: PoolEnd | null;
  try {
    workerEnd = await carryOut(state, resolved);
  } catch (error) {
    parts.log.error({ run_id: claim.run.id, err: error }, 'the run could not be started');
    noteUnavailable(state, error);
    workerEnd = { kind: 'lost', why: messageOf(error), isCharged: true };
  } finally {
    state.stopwatch.stop();
    state.permit?.release();
    state.reservation?.leave();
  }
  if (workerEnd !== null) await finish(state, workerEnd);
}

const NOT_BEGUN: PoolEnd = { kind: 'done', outcome: { status: 'canceled' }, untouched: true };

/** Returns null when the run has failed before its agent began: without a workspace, or without a brief. */
async function carryOut(state: RunState, resolved: ResolvedModel): Promise<PoolEnd | null> {
  const { parts, claim } = state;
  const prepared = await state.baseline.prepare();
  if (prepared.kind !== 'ready') return unprepared(state, prepared);
  const reservation = await reserve(state);
  if (state.abortedFor !== undefined) return NOT_BEGUN;
  state.stopwatch.start();
  // A long text takes time to commit, read and transfer: yield to others in between.
  await nextTurn();
  const { off, baseline } = state;
  const given = { model: resolved, hasNotes: prepared.hasNotes, announces: baseline.announces, off };
  const built = await parts.buildBrief(claim.run, given);
  if (!built.ok) {
    await end(state, { outcome: 'failed', error: built.error }, useOf(state, true));
    return null;
  }
  const { turn, equipment } = built.brief;
  await nextTurn();
  state.hasUploads = turn.attachments.length > 0;
  const admission = parts.broker.admit(claim.run.seq, connectionIdsOf(equipment));
  const task: Task = { reservation, brief: { ...built.brief, connectorToken: admission.token } };
  try {
    return state.abortedFor === undefined ? await work(state, task, resolved) : NOT_BEGUN;
  } finally {
    admission.end();
  }
}

/** A run whose workspace can't be here now waits for it in the queue; one whose workspace is lost has failed. */
async function unprepared(state: RunState, prepared: Prepared): Promise<PoolEnd | null> {
  switch (prepared.kind) {
    case 'away':
      state.abortedFor ??= 'unavailable';
      return { kind: 'lost', why: prepared.why, isCharged: false };
    case 'failed':
      await end(state, { outcome: 'failed', error: prepared.error }, useOf(state, true));
      return null;
    case 'fenced':
      abort(state, 'fenced');
      return NOT_BEGUN;
    default:
      return NOT_BEGUN;
  }
}

interface Task {
  readonly reservation: Reservation;
  readonly brief: Brief;
}

function work(state: RunState, { reservation, brief }: Task, resolved: ResolvedModel): Promise<PoolEnd> {
  return new Promise((resolve) => {
    state.worker = reservation.start(brief, {
      signals: (batch) => takeSignals(state, batch, resolved),
      ended: resolve,
    });
  });
}

function noModel({ run, choice }: Claim): RunError {
  const wanted = run.model ?? choice.keyModel ?? choice.scenario ?? 'default';
  return { type: 'api_error', message: `The model configuration "${wanted}" does not exist.`, retryable: false };
}

async function finish(state: RunState, workerEnd: PoolEnd): Promise<void> {
  const { parts, claim } = state;
  if (state.abortedFor === 'fenced') return;
  if (state.abortedFor === 'stop') {
    if (workerEnd.kind === 'lost') await tidy(state);
    parts.log.info(logFacts(state, {}), 'run stopped');
    return;
  }
  // The journal refused a part of the run, so its worker's outcome does not count.
  if (workerEnd.kind === 'done' && workerEnd.outcome.status !== 'canceled' && !isRefused(state)) {
    try {
      await keepEnd(state, workerEnd.outcome, workerEnd.untouched);
      return;
    } catch (error) {
      parts.log.error(logFacts(state, { err: error }), 'the end of the run could not be recorded; it is interrupted');
      noteUnavailable(state, error);
    }
  }
  const isLost = workerEnd.kind === 'lost';
  const isCharged = !isLost || workerEnd.isCharged;
  const why = isLost ? workerEnd.why : state.abortedFor;
  const interruption = (state.abortedFor && UNCOUNTED[state.abortedFor]) ?? (isCharged ? 'crash' : 'blameless');
  const facts = { attempt: claim.run.attempt, why, counted: interruption === 'crash' };
  parts.log.warn(logFacts(state, facts), 'the run was interrupted');
  if (isLost) await tidy(state);
  // Another node may be the next one to have it.
  if (state.abortedFor !== 'unavailable') await state.baseline.keep();
  await interrupt(state, interruption);
}

/** What an earlier attempt has done to the workspace is not known. */
const useOf = ({ claim, hasUploads }: RunState, untouched: boolean): WorkspaceUse => ({
  untouched: untouched && claim.run.attempt === 1,
  hasUploads,
});

/** Records the agent's outcome, or what it waits for. */
async function keepEnd(
  state: RunState,
  outcome: Exclude<Outcome, { status: 'canceled' }>,
  untouched: boolean,
): Promise<void> {
  const use = useOf(state, untouched);
  switch (outcome.status) {
    case 'waiting':
      return waitForUser(state, outcome.question);
    case 'completed': {
      const { text, stopReason, structured } = outcome;
      const result = structured === undefined ? {} : { structured };
      return end(state, { outcome: 'completed', answer: text, stopReason, ...result }, use);
    }
    case 'incomplete':
      return end(state, { outcome: 'incomplete', error: outcome.error }, use);
    case 'failed':
      return end(state, { outcome: 'failed', error: outcome.error, call: outcome.call }, use);
    default:
      return outcome satisfies never;
  }
}

/** The run keeps its place in its session, and returns everything else. */
async function waitForUser(state: RunState, { id, name, input }: ToolCall): Promise<void> {
  const { parts, claim } = state;
  const lifetimeMs = parts.settings().userInput.expiresSeconds * 1_000;
  const question = { toolUseId: id, toolName: name, toolInput: input, lifetimeMs };
  await state.baseline.keep();
  if (await parts.store.runs.waitForUser(progressOf(state), question)) {
    parts.log.info({ run_id: claim.run.id, session_id: claim.run.sessionId }, 'the run waits for its user');
  }
}

/** A run that was interrupted only because the storage was locked or away does not count as crashed. */
function noteUnavailable(state: RunState, error: unknown): void {
  if (error instanceof StorageRefusal && error.passes) state.abortedFor ??= 'unavailable';
}

const UNCOUNTED: Readonly<Partial<Record<AbortReason, Interruption>>> = { drain: 'drain', unavailable: 'blameless' };

/** Returns the run to the queue. While the storage refuses, retries each second; the run stays held meanwhile. */
async function interrupt(state: RunState, interruption: Interruption): Promise<void> {
  const { parts, abortedFor } = state;
  await retryEachSecond(
    parts.clock,
    () => parts.store.runs.interrupt(progressOf(state), interruption),
    (error) => {
      if (abortedFor === 'drain' || !(error instanceof StorageRefusal)) throw error;
    },
  );
}

/** Before the run can be claimed again: its thread may have died in the middle of a write. */
async function tidy(state: RunState): Promise<void> {
  const { parts, claim } = state;
  await parts.workspaces.tidy(claim.run.sessionId).catch((error: unknown) => {
    parts.log.error(logFacts(state, { err: error }), 'what the run left half-written could not be removed');
  });
}

async function end(state: RunState, ending: Ending, use: WorkspaceUse): Promise<void> {
  const { parts, claim } = state;
  // False: stopped at the moment when its agent ended.
  if (!(await parts.store.runs.end(progressOf(state), ending, use))) return;
  const facts = { run_id: claim.run.id, session_id: claim.run.sessionId, outcome: ending.outcome };
  if (ending.outcome === 'completed') parts.log.info(facts, 'run completed');
  else parts.log.warn({ ...facts, error: ending.error.message }, `run ${ending.outcome}`);
}
