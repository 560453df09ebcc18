// What other systems observe of the daemon: its metrics, when they have a listener, and traces of its runs.
import type { Server } from 'node:http';
import type { Config } from '../../config/config.ts';
import { parseListen } from '../../config/listen-address.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { WorkerPool } from '../../execution/pool/worker-pool.ts';
import { listen, type Listener, type ListenTarget } from '../../http/server/listen.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { GaugeSources } from '../../telemetry/metrics/collect-gauges.ts';
import { makeMetricsServer } from '../../telemetry/metrics/metrics-server.ts';
import { type MetricHooks, openMetrics } from '../../telemetry/metrics/metrics.ts';
import { makeExporter } from '../../telemetry/traces/exporter.ts';
import { readHeadersFile } from '../../telemetry/traces/headers-file.ts';
import { makeTraces, type Traces } from '../../telemetry/traces/traces.ts';
import type { Closer } from '../closers.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

export interface TelemetryParts {
  readonly config: Config;
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly log: Log;
  readonly closers: Closer[];
}

/** Whose states are measured. */
interface MeasuredParts {
  readonly config: Config;
  readonly pool: WorkerPool;
  readonly node: { list: GaugeSources['nodes'] };
  readonly readiness: GaugeSources['readiness'];
  readonly backups: { health: GaugeSources['backups'] };
  readonly singles: { leads: GaugeSources['leads'] };
}

export interface Telemetry {
  /** What other rooms call. `hooks` is null when nothing is measured. */
  readonly watching: { readonly hooks: MetricHooks | null; readonly traceParentOf: Traces['parentOf'] };
  /** Opens the listener of the metrics. Returns its address; null when nothing is measured. */
  open(sources: MeasuredParts): Promise<string | null>;
}

/** Who has no business with the daemon can't open the socket: metrics ask for no credential. */
const SOCKET_MODE = 0o660;

/** Begins to measure, if the metrics have an address to be read at, and to trace, if there is a collector. */
export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const { live, store, log, closers } = parts;
  const target = parseListen(live.settings().metrics.listen);
  const metrics = target === null ? null : await openMetrics({ store, clock, log });
  const hooks = metrics?.hooks ?? null;
  const { parentOf: traceParentOf } = openTraces(parts, hooks);
  const watching = { hooks, traceParentOf };
  if (target === null || metrics === null) return { watching, open: async () => null };
  closers.push(metrics.stop);
  return {
    watching,
    open: async ({ config, pool, node, readiness, backups, singles }) => {
      const { dataDir } = config.locations;
      const workers = () => ({ ...pool.load(), slots: pool.slots() });
      const measured = { dataDir, workers, nodes: node.list, readiness, backups: backups.health, leads: singles.leads };
      const scrape = metrics.begin(measured);
      const listener = await listenFor(makeMetricsServer({ scrape, clock, log }), target);
      closers.push(listener.close);
      return listener.address;
    },
  };
}

/** A failure names the setting: the daemon has other listeners, too. */
async function listenFor(server: Server, target: ListenTarget): Promise<Listener> {
  try {
    return await listen(server, target.kind === 'unix' ? { ...target, mode: SOCKET_MODE } : target);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    throw new ErrandError(error.reason, `metrics.listen: ${error.message}`, { cause: error });
  }
}

function openTraces({ config, live, store, log, closers }: TelemetryParts, hooks: MetricHooks | null): Traces {
  const { settings } = live;
  const headers = () => readHeadersFile(settings().traces.headersFile, config.locations);
  const counted = hooks?.traced;
  const traces = makeTraces({ store, clock, log, exporter: makeExporter(), settings, headers, counted });
  closers.push(traces.stop);
  return traces;
}
