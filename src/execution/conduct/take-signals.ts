// What a worker tells of its run: signals become journal events, commits become acks, requests are served.
import type { ServiceName, Signal } from '../../agent/port/protocol.ts';
import type { Endpoint } from '../../catalog/models.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/journal-event.ts';
import { NO_PRICE, type Price } from '../../domain/usage.ts';
import { type ResolvedModel, resolveModel } from '../brief/resolve-model.ts';
import { abort, callOffUnkept, isRefused, logFacts, type RunState } from './run-state.ts';

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
export function takeSignals(state: RunState, batch: readonly Signal[], { model, endpoint }: ResolvedModel): void {
  const { runs } = state.parts.store;
  if (isRefused(state)) return;
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
  read_document: 'The document could not be read.',
  keep_screenshot: 'The picture could not be kept.',
};

function endpointOf({ parts }: RunState, model: string): Endpoint | undefined {
  return resolveModel(parts.catalog(), model)?.endpoint;
}

function acquirePermit(state: RunState, { name, maxInFlight }: Endpoint): void {
  const grant = () => state.handle?.send({ t: 'permit' });
  if (maxInFlight === null) grant();
  else state.permit = state.parts.permits.acquire(name, maxInFlight, grant);
}

/** Waits for a write, and for the baseline; acks it, or stops the worker when one of them was refused or failed. */
function keep(state: RunState, write: Promise<boolean>, ack?: number): void {
  const answer = async () => {
    if (!(await write)) return abort(state, 'fenced');
    if (ack === undefined) return;
    await state.attendance.baseline();
    state.handle?.send({ t: 'ack', ack });
  };
  answer().catch((error: unknown) => callOffUnkept(state, error));
}
