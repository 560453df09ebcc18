// The metrics of a daemon: what is counted while it works, and what is measured at each scrape.
import type { Clock } from '../../domain/clock.ts';
import type { CallOutcome } from '../../domain/sessions/model-call.ts';
import { ENDED, SCHEDULE_MODES } from '../../domain/sessions/run.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import { VERSION } from '../../version.ts';
import type { TraceOutcome } from '../traces/outbox.ts';
import { makeBoundedNames } from './bounded-names.ts';
import { type GaugeSources, makeGauges } from './collect-gauges.ts';
import { makeEventCounts } from './count-events.ts';
import { makeUsageCounts } from './count-usage.ts';
import { type Meters, openMeters } from './meters.ts';

export interface MetricsParts {
  readonly store: Pick<
    Store,
    'metrics' | 'runs' | 'webhooks' | 'budgets' | 'figures' | 'watchCommits' | 'onOwnCommitted'
  >;
  readonly clock: Clock;
  readonly log: Log;
}

/** What other rooms report as it happens. Each call costs about a microsecond. */
export interface MetricHooks {
  /** `route` is the pattern of a route; null where none matched. */
  requestEnded(request: {
    readonly route: string | null;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
  modelCalled(call: { readonly endpoint: string; readonly outcome: CallOutcome }): void;
  deliveryAttempted(outcome: 'ok' | 'error'): void;
  traced(outcome: TraceOutcome, runs: number): void;
  /** A request to the bucket of files has ended. */
  bucketAsked(request: {
    readonly verb: string;
    readonly outcome: 'ok' | 'failed';
    readonly seconds: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
  }): void;
}

export interface Metrics {
  readonly hooks: MetricHooks;
  /** Begins to measure states, too. Returns the scrape: all metrics in the text format of Prometheus. */
  begin(sources: Omit<GaugeSources, 'store' | 'clock' | 'teams'>): () => Promise<string>;
  stop(): Promise<void>;
}

/** How often what was counted is moved to the meters when nobody scrapes. */
const FLUSH_MS = 15_000;

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Whether a call with this outcome reached an endpoint that works. */
const SHOWS_LIFE: Readonly<Record<CallOutcome, boolean>> = {
  ok: true,
  rejected: true,
  throttled: true,
  failed: false,
  unreachable: false,
  timeout: false,
};

/** Begins to count events, usage and commits of this process from now on. */
export async function openMetrics({ store, clock, log }: MetricsParts): Promise<Metrics> {
  const meters = await openMeters();
  const events = makeEventCounts(store, meters);
  const names = { models: makeBoundedNames(), teams: makeBoundedNames() };
  const countUsage = makeUsageCounts({ store, meters, ...names }, await store.metrics.newestLine());
  store.onOwnCommitted(events.take);
  store.watchCommits({
    committed: (tookMs) => meters.observe('errand_commit_duration_seconds', {}, tookMs / 1_000),
    refused: () => meters.add('errand_commit_failures_total', {}, 1),
    repeated: () => meters.add('errand_commit_repeats_total', {}, 1),
  });
  beginAtZero(meters);

  async function flush(): Promise<void> {
    await events.flush();
    await countUsage();
  }
  const flusher = makeService({
    work: async () => {
      await flush();
      return FLUSH_MS;
    },
    failure: 'metrics could not be counted',
    clock,
    log,
  });
  let stopGauges = () => {};

  return {
    hooks: makeHooks(meters),
    begin: (sources) => {
      const gauges = makeGauges({ ...sources, store, clock, teams: names.teams }, meters);
      stopGauges = gauges.stop;
      flusher.wake();
      return async () => {
        flusher.wake();
        await flusher.settled();
        await gauges.collect();
        return meters.render();
      };
    },
    stop: async () => {
      stopGauges();
      await flusher.stop();
    },
  };
}

/** A counter that appears with its first event has no increase that Prometheus could see. */
function beginAtZero(meters: Meters): void {
  meters.set('errand_build_info', { version: VERSION, node_version: process.versions.node }, 1);
  for (const status of ENDED) for (const mode of SCHEDULE_MODES) meters.add('errand_runs_total', { status, mode }, 0);
  for (const outcome of ['ok', 'error'] as const) meters.add('errand_webhook_attempts_total', { outcome }, 0);
}

function makeHooks(meters: Meters): MetricHooks {
  const endpoints = makeBoundedNames();
  return {
    requestEnded: ({ route, method, status, durationMs }) => {
      const labels = { route: route ?? 'none', method: METHODS.has(method) ? method : 'other', status };
      meters.add('errand_http_requests_total', labels, 1);
      meters.observe('errand_http_request_duration_seconds', { route: labels.route }, durationMs / 1_000);
    },
    modelCalled: ({ endpoint, outcome }) => {
      const name = endpoints(endpoint);
      meters.add('errand_model_calls_total', { endpoint: name, outcome }, 1);
      meters.set('errand_model_endpoint_up', { endpoint: name }, Number(SHOWS_LIFE[outcome]));
    },
    deliveryAttempted: (outcome) => meters.add('errand_webhook_attempts_total', { outcome }, 1),
    traced: (outcome, runs) => meters.add('errand_traces_total', { outcome }, runs),
    bucketAsked: ({ verb, outcome, seconds, sentBytes, receivedBytes }) => {
      meters.add('errand_bucket_requests_total', { verb, outcome }, 1);
      meters.observe('errand_bucket_request_duration_seconds', { verb }, seconds);
      meters.add('errand_bucket_bytes_total', { direction: 'sent' }, sentBytes);
      meters.add('errand_bucket_bytes_total', { direction: 'received' }, receivedBytes);
    },
  };
}
