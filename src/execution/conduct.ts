// Conducting one run from its claim to its end: signals of the worker become journal events, commits become acks.
import type { Brief, Outcome, ServiceName, Signal, ToolCall } from '../agent/protocol.ts';
import type { Catalog, Endpoint } from '../catalog/models.ts';
import type { NewEvent } from '../domain/journal-event.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import type { RunError } from '../domain/run.ts';
import type { Settings } from '../domain/settings.ts';
import type { Log } from '../log.ts';
import { NO_PRICE, type Price } from '../domain/usage.ts';
import type { Claim } from '../store/claim-runs.ts';
import type { Ending } from '../store/end-run.ts';
import type { Fence } from '../store/record-progress.ts';
import { type BriefParts, buildBrief } from './brief.ts';
import type { Attendance } from './attendance.ts';
import type { Admission, Broker } from './broker.ts';
import type { Collector } from './collector.ts';
import type { Permit, Permits } from './permits.ts';
import type { RunHandle, WorkerEnd } from './crew.ts';
import type { Pool } from './pool.ts';
import { type ResolvedModel, resolveModel } from './resolve-model.ts';
import type { RunServices } from './services.ts';

export interface ConductParts extends BriefParts {
  readonly pool: Pool;
  readonly permits: Permits;
  readonly log: Log;
  readonly services: RunServices;
  readonly broker: Pick<Broker, 'admit'>;
  readonly collector: Pick<Collector, 'attend'>;
  settings(): Settings;
  catalog(): Catalog;
}

const RETRY_MS = 1_000;
/** Shorter than a lease, so that the run is given back once only. */
const GIVE_BACK_MS = 50_000;

/** A run under way. */
export interface Conduct {
  readonly runSeq: number;
  readonly sessionSeq: number;
  /** Resolves when the run needs nothing more of this daemon; never rejects. */
  readonly ended: Promise<void>;
  /** Asks the worker to stop. */
  abort(why: AbortReason): void;
}

/**
 * `drain`: the run goes back to the queue and resumes after the next start. `stop`: it was canceled, and its end is
 * committed. `fenced`: another move of the run came first. `journal`: its progress could not be kept.
 */
type AbortReason = 'drain' | 'stop' | 'fenced' | 'journal';

/** Begins to conduct a claimed run. */
export function conductRun(parts: ConductParts, claim: Claim): Conduct {
  const { run } = claim;
  const fence: Fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt };
  const attendance = parts.collector.attend(run);
  const state: RunState = {
    parts,
    claim,
    fence,
    attendance,
    handle: undefined,
    abortedFor: undefined,
    permit: undefined,
  };
  return {
    runSeq: run.seq,
    sessionSeq: run.sessionSeq,
    ended: conduct(state)
      .catch((error: unknown) => {
        // Only the store fails here. The run keeps its row, and its lease brings it back once the store writes again.
        parts.log.error(
          { run_id: run.id, err: error },
          'the run could not be recorded; it resumes when its lease ends',
        );
      })
      .finally(attendance.abort),
    abort: (why) => abort(state, why),
  };
}

interface RunState {
  readonly parts: ConductParts;
  readonly claim: Claim;
  readonly fence: Fence;
  readonly attendance: Attendance;
  handle: RunHandle | undefined;
  abortedFor: AbortReason | undefined;
  permit: Permit | undefined;
}

function abort(state: RunState, why: AbortReason): void {
  // The worker may learn of a stop from a refused write first.
  if (why === 'stop') state.abortedFor = why;
  else state.abortedFor ??= why;
  state.attendance.abort();
  state.handle?.send({ t: 'abort', reason: why });
}

async function conduct(state: RunState): Promise<void> {
  const { parts, claim } = state;
  const resolved = resolveModel(parts.catalog(), claim.run.model);
  if (resolved === undefined) {
    await end(state, { outcome: 'failed', error: noModel(claim) }, false);
    return;
  }
  let workerEnd: WorkerEnd;
  let admission: Admission | undefined;
  try {
    await state.attendance.free();
    const built = await buildBrief(parts, claim.run, resolved, parts.settings());
    if (!built.ok) {
      await end(state, { outcome: 'failed', error: built.error }, false);
      return;
    }
    const { turn, equipment } = built.brief;
    state.attendance.takeBaseline(turn.attachments.length > 0);
    // Tools wait for the baseline, see `keep`; such servers may be at work before any tool is called.
    if (equipment.mcp.some(({ transport }) => transport.kind === 'stdio')) await state.attendance.baseline();
    admission = parts.broker.admit(
      claim.run.seq,
      equipment.connections.map(({ id }) => id),
    );
    const brief: Brief = { ...built.brief, connectorToken: admission.token };
    workerEnd = state.abortedFor === undefined ? await work(state, brief, resolved) : NOT_BEGUN;
  } catch (error) {
    parts.log.error({ run_id: claim.run.id, err: error }, 'the run could not be started');
    workerEnd = { kind: 'lost', why: messageOf(error) };
  } finally {
    admission?.end();
    state.permit?.release();
  }
  await finish(state, workerEnd);
}

const NOT_BEGUN: WorkerEnd = { kind: 'done', outcome: { status: 'canceled' }, touched: false };

function work(state: RunState, brief: Brief, resolved: ResolvedModel): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    state.handle = state.parts.pool.start(brief, {
      signals: (batch) => take(state, batch, resolved),
      ended: resolve,
    });
  });
}

function noModel({ run, choice }: Claim): RunError {
  const wanted = run.model ?? choice.keyModel ?? choice.scenario ?? 'default';
  return { type: 'api_error', message: `The model configuration "${wanted}" does not exist.`, retryable: false };
}

type StreamSignal = Extract<Signal, { t: 'block-start' | 'text' | 'block-stop' }>;

const STREAM_EVENTS: { [T in StreamSignal['t']]: (signal: Extract<StreamSignal, { t: T }>) => NewEvent } = {
  'block-start': ({ index }) => ({ type: 'content_block_start', payload: { index } }),
  text: ({ index, text }) => ({ type: 'content_block_delta', payload: { index, text: text.toWellFormed() } }),
  'block-stop': ({ index }) => ({ type: 'content_block_stop', payload: { index } }),
};

function isStreamSignal(signal: Signal): signal is StreamSignal {
  return Object.hasOwn(STREAM_EVENTS, signal.t);
}

/** Takes a batch of signals in order. Every write of the batch lands in the same commit. */
function take(state: RunState, batch: readonly Signal[], { model, endpoint }: ResolvedModel): void {
  const { runs } = state.parts.store;
  let stream: NewEvent[] = [];
  const flush = () => {
    if (stream.length > 0) keep(state, runs.appendStream(state.fence, stream));
    stream = [];
  };
  for (const signal of batch) {
    if (isStreamSignal(signal)) {
      stream.push(STREAM_EVENTS[signal.t](signal as never));
      continue;
    }
    flush();
    if (signal.t === 'step') keep(state, runs.recordStep(state.fence, signal.reply, model.price), signal.ack);
    else if (signal.t === 'tool-result') {
      const { call, result, step, durationMs } = signal;
      const kept = { step, toolUseId: call.id, name: call.name, ...result, durationMs };
      keep(state, runs.recordToolResult(state.fence, kept), signal.ack);
    } else if (signal.t === 'compaction') {
      const kept = { ...signal.compaction, characters: signal.characters };
      keep(state, state.parts.store.compactions.record(state.fence, kept), signal.ack);
    } else if (signal.t === 'spent')
      keep(state, runs.recordSpent(state.fence, signal.usage, priceOf(state, signal.model)));
    else if (signal.t === 'request') void serve(state, signal);
    else if (signal.t === 'permit-wanted') acquirePermit(state, endpointOf(state, signal.model) ?? endpoint);
    else if (signal.t === 'permit-returned') state.permit?.release();
    else if (signal.t === 'log') state.parts.log[signal.level](logFacts(state, signal.facts), signal.message);
  }
  flush();
}

function priceOf({ parts }: RunState, model: string): Price {
  return parts.catalog().models.get(model)?.price ?? NO_PRICE;
}

/** Does what a tool of the run asks for, and answers it. Failures become words for the model. */
async function serve(state: RunState, { request, service, input }: Extract<Signal, { t: 'request' }>): Promise<void> {
  const { run } = state.claim;
  const served = { ...state.fence, runId: run.id, sessionId: run.sessionId };
  const verb = state.parts.services[service] as (run: typeof served, input: never) => Promise<unknown>;
  const reply = await verb(served, input as never).then(
    (output) => ({ ok: true, output }) as const,
    (error: unknown) => {
      if (!(error instanceof ErrandError)) {
        state.parts.log.error(logFacts(state, { err: error, service }), 'a service of the run failed');
      }
      const message = error instanceof ErrandError ? error.message : WORDS[service];
      return { ok: false, message } as const;
    },
  );
  state.handle?.send({ t: 'reply', request, reply });
}

const WORDS: Readonly<Record<ServiceName, string>> = {
  report_insight: 'The insight could not be kept.',
  connector_request: 'The service could not be called.',
  keep_screenshot: 'The picture could not be kept.',
};

function logFacts({ claim }: RunState, facts: object): object {
  return { run_id: claim.run.id, session_id: claim.run.sessionId, ...facts };
}

function endpointOf({ parts }: RunState, model: string): Endpoint | undefined {
  return resolveModel(parts.catalog(), model)?.endpoint;
}

function acquirePermit(state: RunState, { name, maxInFlight }: Endpoint): void {
  const grant = () => state.handle?.send({ t: 'permit' });
  if (maxInFlight === null) grant();
  else state.permit = state.parts.permits.acquire(name, maxInFlight, grant);
}

/** Waits for a write; acks it, or stops the worker when the write was refused or failed. */
function keep(state: RunState, write: Promise<boolean>, ack?: number): void {
  write.then(
    (held) => {
      if (!held) abort(state, 'fenced');
      else if (ack !== undefined) void state.attendance.baseline().then(() => state.handle?.send({ t: 'ack', ack }));
    },
    (error: unknown) => {
      state.parts.log.error(
        logFacts(state, { err: error }),
        'the journal could not be written; the run is interrupted',
      );
      abort(state, 'journal');
    },
  );
}

const ENDINGS: Readonly<Record<Exclude<Outcome['status'], 'canceled' | 'waiting'>, (outcome: never) => Ending>> = {
  completed: ({ text, ...rest }: Extract<Outcome, { status: 'completed' }>) => {
    const { stopReason, structured } = rest;
    return { outcome: 'completed', answer: text, stopReason, ...(structured === undefined ? {} : { structured }) };
  },
  incomplete: ({ error }: Extract<Outcome, { status: 'incomplete' }>) => ({ outcome: 'incomplete', error }),
  failed: ({ error }: Extract<Outcome, { status: 'failed' }>) => ({ outcome: 'failed', error }),
};

type EndingOutcome = Exclude<Outcome, { status: 'canceled' | 'waiting' }>;

function isEnding(outcome: Outcome): outcome is EndingOutcome {
  return Object.hasOwn(ENDINGS, outcome.status);
}

async function finish(state: RunState, workerEnd: WorkerEnd): Promise<void> {
  const { parts, claim } = state;
  if (state.abortedFor === 'fenced') return;
  if (state.abortedFor === 'stop') {
    if (workerEnd.kind === 'lost') await tidy(state);
    parts.log.info(logFacts(state, {}), 'run stopped');
    return;
  }
  // What the journal refused is missing from the run, whatever its worker says of the end.
  if (workerEnd.kind === 'done' && workerEnd.outcome.status !== 'canceled' && state.abortedFor !== 'journal') {
    try {
      await keepEnd(state, workerEnd.outcome, workerEnd.touched);
      return;
    } catch (error) {
      parts.log.error(logFacts(state, { err: error }), 'the end of the run could not be kept; it is interrupted');
    }
  }
  const why = workerEnd.kind === 'lost' ? workerEnd.why : state.abortedFor;
  parts.log.warn(logFacts(state, { attempt: claim.run.attempt, why }), 'the run was interrupted');
  if (workerEnd.kind === 'lost') await tidy(state);
  await interrupt(state);
}

/** Keeps how the agent ended, or what it waits for. */
async function keepEnd(
  state: RunState,
  outcome: Exclude<Outcome, { status: 'canceled' }>,
  touched: boolean,
): Promise<void> {
  if (isEnding(outcome)) await end(state, ENDINGS[outcome.status](outcome as never), touched);
  else if (outcome.status === 'waiting') await waitForUser(state, outcome.question);
}

/** The run keeps its place in its session, and gives back everything else. */
async function waitForUser({ parts, fence, claim }: RunState, { id, name, input }: ToolCall): Promise<void> {
  const lifetimeMs = parts.settings().userInput.expiresSeconds * 1_000;
  const question = { toolUseId: id, toolName: name, toolInput: input, lifetimeMs };
  if (await parts.store.runs.waitForUser(fence, question)) {
    parts.log.info({ run_id: claim.run.id, session_id: claim.run.sessionId }, 'the run waits for its user');
  }
}

/** Gives the run back. A disk that refuses is asked again each second; at the latest the end of the lease does it. */
async function interrupt({ parts, fence, abortedFor }: RunState): Promise<void> {
  const until = parts.clock.monotonic() + GIVE_BACK_MS;
  for (;;) {
    try {
      await parts.store.runs.interrupt(fence, abortedFor === 'drain' ? 'drain' : 'crash');
      return;
    } catch (error) {
      if (abortedFor === 'drain' || parts.clock.monotonic() > until) throw error;
      await new Promise<void>((resolve) => {
        parts.clock.after(RETRY_MS, resolve);
      });
    }
  }
}

/** Before the run can be claimed anew: its thread may have died in the middle of a write. */
async function tidy(state: RunState): Promise<void> {
  const { parts, claim } = state;
  await parts.workspaces.tidy(claim.run.sessionId).catch((error: unknown) => {
    parts.log.error(logFacts(state, { err: error }), 'what the run left half-written could not be removed');
  });
}

async function end(state: RunState, ending: Ending, touched: boolean): Promise<void> {
  const { parts, fence, claim } = state;
  const untouched = await state.attendance.isUntouched(touched);
  // Both moves are asked for at once, so that they share a commit when nothing stands between them.
  const finalized = parts.store.runs.finalize(fence, ending);
  const settled = parts.store.runs.settle(fence, { untouched });
  const [held] = await Promise.all([finalized, settled]);
  // Stopped in the moment in which its agent ended.
  if (!held) return;
  const facts = { run_id: claim.run.id, session_id: claim.run.sessionId, outcome: ending.outcome };
  if (ending.outcome === 'completed') parts.log.info(facts, 'run completed');
  else parts.log.warn({ ...facts, error: ending.error.message }, `run ${ending.outcome}`);
}
