// Processes a worker's signals: writes journal events, acknowledges commits, serves requests.
import type { Signal } from '../../agent/port/protocol.ts';
import type { ServiceName, ServiceRequest } from '../../agent/port/services.ts';
import type { Endpoint } from '../../catalog/kinds/models.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/sessions/journal-event.ts';
import type { CallOutcome } from '../../domain/sessions/model-call.ts';
import { piecesOfText } from '../../domain/text-pieces.ts';
import { NO_PRICE } from '../../domain/sessions/usage.ts';
import type { UnkeptCall } from '../../store/lifecycle/record-progress.ts';
import type { PricedModel } from '../../store/budgets/record-usage.ts';
import { type ResolvedModel, resolveModel } from '../brief/resolve-model.ts';
import type { RunServices, ServedRun } from '../run-services.ts';
import { abort, callOffUnkept, isRefused, logFacts, progressOf, type RunState } from './run-state.ts';

/** A server may send its whole reply in one piece. An event has so many characters of it at most. */
const PIECE_CHARACTERS = 65_536;
/** So many are recorded together at most. */
const SHARE_CHARACTERS = 262_144;

/** Processes a batch of signals in order. All writes of the batch share a commit, but for those of long texts. */
export function takeSignals(state: RunState, batch: readonly Signal[], resolved: ResolvedModel): void {
  if (isRefused(state)) return;
  let stream: NewEvent[] = [];
  let characters = 0;
  const takeStream = () => {
    const taken = stream;
    [stream, characters] = [[], 0];
    return taken;
  };
  const flush = () => {
    if (stream.length > 0) keep(state, state.parts.store.runs.appendStream(state.fence, takeStream()));
  };
  const takeText = (index: number, text: string) => {
    stream.push({ type: 'content_block_delta', payload: { index, text } });
    characters += text.length;
    if (characters >= SHARE_CHARACTERS) flush();
  };
  for (const signal of batch) {
    switch (signal.t) {
      case 'block-start':
        stream.push({ type: 'content_block_start', payload: { index: signal.index } });
        break;
      case 'text':
        for (const text of piecesOfText(signal.text.toWellFormed(), PIECE_CHARACTERS)) takeText(signal.index, text);
        break;
      case 'block-stop':
        stream.push({ type: 'content_block_stop', payload: { index: signal.index } });
        break;
      case 'model-wait': {
        const { t: _, ...payload } = signal;
        stream.push({ type: 'model_wait.started', payload });
        break;
      }
      case 'model-wait-over': {
        const { t: _, ...payload } = signal;
        stream.push({ type: 'model_wait.ended', payload });
        break;
      }
      case 'step':
        takeStep(state, signal, takeStream(), resolved);
        break;
      default:
        flush();
        takeSignal(state, signal, resolved);
    }
  }
  flush();
}

type StreamSignal = Extract<
  Signal,
  { t: 'block-start' | 'text' | 'block-stop' | 'model-wait' | 'model-wait-over' | 'step' }
>;

/** Records a reply with the last of its stream, in one verb. */
function takeStep(
  state: RunState,
  { reply, ack }: Taken<'step'>,
  stream: readonly NewEvent[],
  { model, endpoint }: ResolvedModel,
): void {
  count(state, endpoint.name, 'ok');
  state.openCalls = reply.calls.length;
  const { usage, estimated, timing } = reply;
  const recorded = state.parts.store.runs.recordStep(progressOf(state), { ...reply, stream }, model);
  settle(state, recorded, { usage, estimated, timing, purpose: 'reply', agent: null }, model);
  keep(state, recorded, ack);
}

function takeSignal(state: RunState, signal: Exclude<Signal, StreamSignal>, { endpoint }: ResolvedModel): void {
  const { store, log } = state.parts;
  const { fence } = state;
  switch (signal.t) {
    case 'tool-result': {
      const { call, result, step, durationMs } = signal;
      const kept = { step, toolUseId: call.id, name: call.name, ...result, durationMs };
      detail(state, { step, tool: call.name.slice(0, 100), ok: result.ok, duration_ms: durationMs }, 'tool called');
      keep(state, store.runs.recordToolResult(progressOf(state), kept), signal.ack);
      state.openCalls -= 1;
      return state.openCalls === 0 ? state.baseline.stepEnded(step) : undefined;
    }
    case 'changes-workspace':
      return keep(state, state.baseline.take(), signal.ack);
    case 'compaction': {
      const kept = { ...signal.compaction, characters: signal.characters };
      return keep(state, store.compactions.record(fence, kept), signal.ack);
    }
    case 'spent':
      return takeSpent(state, signal, endpoint);
    case 'request':
      return void serve(state, signal);
    case 'permit-wanted':
      return acquirePermit(state, endpointOf(state, signal.model) ?? endpoint);
    case 'permit-returned':
      return state.permit?.release();
    case 'answered':
      return state.parts.endpointAnswered?.(signal.configured);
    case 'discard':
      return discard(state);
    case 'call-failed':
      return takeFailure(state, signal, endpoint);
    case 'tools-listed':
      return state.parts.unusableTools.listed(signal.server, signal);
    case 'log':
      return log[signal.level](logFacts(state, signal.facts), signal.message);
    // Its thread handles the end.
    case 'done':
      return undefined;
    default:
      return signal satisfies never;
  }
}

type Taken<T extends Signal['t']> = Extract<Signal, { t: T }>;

function takeSpent(state: RunState, signal: Taken<'spent'>, endpoint: Endpoint): void {
  count(state, (endpointOf(state, signal.model) ?? endpoint).name, 'ok');
  const model = pricedModel(state, signal.model);
  const recorded = state.parts.store.runs.recordSpent(progressOf(state), signal, model);
  settle(state, recorded, signal, model);
  keep(state, recorded);
}

/** A call without a reply has cost something all the same, unless its server did no work for it. */
function takeFailure(state: RunState, { outcome, used, ...call }: Taken<'call-failed'>, endpoint: Endpoint): void {
  const { store, budgets } = state.parts;
  // A stop says nothing of the endpoint.
  if (outcome !== 'stopped') count(state, (endpointOf(state, call.model) ?? endpoint).name, outcome);
  if (used === null) return budgets.refused(state.fence);
  const unkept = { ...call, ...used, outcome: outcome === 'stopped' ? outcome : 'failed' } as const;
  const recorded = store.runs.recordUnkept(state.fence, unkept, pricedModel(state, call.model));
  budgets.settles(state.fence, recorded);
  keep(state, recorded);
}

function discard(state: RunState): void {
  const discarded = state.parts.store.runs.discardText(state.fence);
  keep(state, discarded);
  discarded.then(() => state.parts.textDiscarded?.()).catch(() => undefined);
}

/** A reply that came too late to be kept, since its run was stopped, is recorded as a call that was stopped. */
function settle(state: RunState, kept: Promise<boolean>, call: Omit<UnkeptCall, 'outcome'>, model: PricedModel): void {
  const { store, budgets, log } = state.parts;
  const settled = kept.then(
    (isKept) => isKept || store.runs.recordUnkept(state.fence, { ...call, outcome: 'stopped' }, model),
  );
  budgets.settles(state.fence, settled);
  settled.catch((error: unknown) => {
    log.warn(logFacts(state, { err: error }), 'what a model call has used could not be recorded');
  });
}

/** Counts a call of a model. Each that brought a reply has one signal, `step` or `spent`. */
function count(state: RunState, endpoint: string, outcome: CallOutcome): void {
  state.parts.modelCalled?.({ endpoint, outcome });
  detail(state, { endpoint, outcome }, 'model called');
}

/** For whoever looks for something: what a run does, without its content. */
function detail(state: RunState, facts: object, words: string): void {
  if (state.parts.log.isLevelEnabled('debug')) state.parts.log.debug(logFacts(state, facts), words);
}

function pricedModel({ parts }: RunState, name: string): PricedModel {
  return { name, price: parts.catalog().models.get(name)?.price ?? NO_PRICE };
}

/** Serves a tool's request, and replies to it. Failures become text for the model. */
async function serve(state: RunState, signal: Extract<Signal, { t: 'request' }>): Promise<void> {
  const { run } = state.claim;
  const { request, service } = signal;
  const { id, sessionId, userSeq } = run;
  const served = { ...state.fence, runId: id, sessionId, userSeq, off: state.off };
  const reply = await callService(state.parts.services, served, signal).then(
    (output) => ({ ok: true, output }) as const,
    (error: unknown) => {
      if (!(error instanceof ErrandError)) {
        state.parts.log.error(logFacts(state, { err: error, service }), 'a service of the run failed');
      }
      const message = error instanceof ErrandError ? error.message : WORDS[service];
      return { ok: false, message } as const;
    },
  );
  state.worker?.send({ t: 'reply', request, reply });
}

async function callService<S extends ServiceName>(
  services: RunServices,
  run: ServedRun,
  { service, input }: ServiceRequest<S>,
): Promise<unknown> {
  return services[service](run, input);
}

const WORDS: Readonly<Record<ServiceName, string>> = {
  report_insight: 'The insight could not be recorded.',
  connector_request: 'The service could not be called.',
  read_document: 'The document could not be read.',
  keep_screenshot: 'The picture could not be stored.',
  hold_budget: 'The budgets of the run could not be read.',
  current_model: 'The configuration of the model could not be read.',
};

function endpointOf({ parts }: RunState, model: string): Endpoint | undefined {
  return resolveModel(parts.catalog(), model)?.endpoint;
}

function acquirePermit(state: RunState, { name, maxInFlight }: Endpoint): void {
  const grant = () => state.worker?.send({ t: 'permit' });
  if (maxInFlight === null) grant();
  else state.permit = state.parts.permits.acquire(name, maxInFlight, grant);
}

/** Waits for a write, then acknowledges it, or stops the worker when one was refused or failed. */
function keep(state: RunState, write: Promise<boolean>, ack?: number): void {
  const answer = async () => {
    if (!(await write)) return abort(state, 'fenced');
    if (ack === undefined) return;
    state.worker?.send({ t: 'ack', ack });
  };
  answer().catch((error: unknown) => callOffUnkept(state, error));
}
