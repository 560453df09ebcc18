// The traces of runs: after a run has ended, its spans are made of its time line and sent to a collector.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type JournalEvent, TERMINAL_EVENTS } from '../../domain/sessions/journal-event.ts';
import { makeService } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import { readTimeline } from '../../store/runs/run-timeline.ts';
import type { OtlpSpan } from './otlp.ts';
import { makeOutbox, type OutboxParts } from './outbox.ts';
import { spansOfRun, traceIdOf } from './run-spans.ts';
import { readTraceParent } from './traceparent.ts';
import { makeWaitingRuns } from './waiting-runs.ts';

/** Of one request. A run has up to some thousand spans. */
const MAX_RUNS = 50;
const MAX_SPANS = 2_000;
/** Later versions of the header may say more behind this. */
const PARENT_LENGTH = 55;
/** How long a run that has ended waits for others. */
const GATHER_MS = 2_000;

export interface TracesParts extends OutboxParts {
  readonly store: Pick<Store, 'runs' | 'onOwnCommitted'>;
}

export interface Traces {
  /** What is to be kept of the header that names the trace of a request; null without one, and while no collector is set. */
  parentOf(header: string | undefined): string | null;
  /** Resolves when nothing more can be sent now. */
  settled(): Promise<void>;
  /** Forgets what was not sent. */
  stop(): Promise<void>;
}

/** Makes it. Nothing is read, kept or sent while no collector is set. */
export function makeTraces(parts: TracesParts): Traces {
  const { store, clock, log, exporter, settings } = parts;
  const waiting = makeWaitingRuns();
  const outbox = makeOutbox(parts);
  const isOn = () => settings().traces.otlpEndpoint !== '';

  function take(events: readonly JournalEvent[]): void {
    if (!isOn()) return;
    let dropped = 0;
    for (const { type, runSeq } of events) {
      if (runSeq === null || !TERMINAL_EVENTS.has(type)) continue;
      dropped += waiting.ended(runSeq);
      if (waiting.size() === 1) clock.after(GATHER_MS, service.wake);
    }
    if (dropped > 0) outbox.dropped(dropped);
  }

  async function work(stopping: AbortSignal): Promise<number | null> {
    if (!isOn()) waiting.clear();
    while (waiting.size() > 0 && !stopping.aborted) {
      const pauseMs = outbox.pauseMs();
      if (pauseMs > 0) return pauseMs;
      const { runs, spans, traced } = await nextBatch(parts, waiting.first(MAX_RUNS));
      const isDone = spans.length === 0 || (await outbox.send(spans, traced, stopping));
      if (isDone) waiting.remove(runs);
    }
    return null;
  }

  const service = makeService({ work, failure: 'traces of runs could not be sent', clock, log });
  // Another process traces the runs that it ends.
  store.onOwnCommitted(take);
  return {
    parentOf: (header) => (isOn() && readTraceParent(header) !== null ? header!.trim().slice(0, PARENT_LENGTH) : null),
    settled: service.settled,
    stop: async () => {
      const stopped = service.stop();
      await exporter.close();
      await stopped;
    },
  };
}

interface Batch {
  /** By number. */
  readonly runs: readonly number[];
  readonly spans: readonly OtlpSpan[];
  /** How many of the runs have spans. */
  readonly traced: number;
}

/** The spans of the first of these runs, until they are enough for a request. */
async function nextBatch(parts: TracesParts, candidates: readonly number[]): Promise<Batch> {
  const runs: number[] = [];
  const spans: OtlpSpan[] = [];
  let traced = 0;
  for (const one of candidates) {
    runs.push(one);
    const own = await spansOf(parts, one);
    spans.push(...own);
    traced += own.length > 0 ? 1 : 0;
    if (spans.length >= MAX_SPANS) break;
  }
  return { runs, spans, traced };
}

async function spansOf({ store, settings, log }: TracesParts, runSeq: number): Promise<OtlpSpan[]> {
  try {
    const run = await store.runs.get(runSeq);
    const parent = readTraceParent((await store.runs.findTraceParent(runSeq)) ?? undefined);
    const isWanted = parent?.isSampled ?? isSampled(run.id, settings().traces.sample);
    return isWanted ? spansOfRun(await readTimeline(store.runs, run, nextTurn), parent) : [];
  } catch (error) {
    log.warn({ err: error }, 'the trace of a run could not be made');
    return [];
  }
}

/** By the random part of the id, so that all who see the trace decide alike. */
function isSampled(runId: string, share: number): boolean {
  return Number.parseInt(traceIdOf(runId).slice(-13), 16) < share * 2 ** 52;
}
