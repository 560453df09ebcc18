// What other systems observe of the daemon: its metrics, when they have a listener.
import type { Config } from '../config/config.ts';
import { parseListen } from '../config/listen-address.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { systemClock as clock } from '../domain/clock.ts';
import type { Bus } from '../events/bus.ts';
import type { WorkerPool } from '../execution/executor/worker-pool.ts';
import { listen } from '../http/server/listen.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import type { GaugeSources } from '../telemetry/metrics/collect-gauges.ts';
import { makeMetricsServer } from '../telemetry/metrics/metrics-server.ts';
import { type MetricHooks, openMetrics } from '../telemetry/metrics/metrics.ts';
import type { Closer } from './closers.ts';
import { databaseOf } from './foundations.ts';

export interface TelemetryParts {
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  readonly closers: Closer[];
}

/** Whose states are measured. */
interface MeasuredParts {
  readonly config: Config;
  readonly pool: WorkerPool;
  readonly readiness: GaugeSources['readiness'];
}

export interface Telemetry {
  /** Null when nothing is measured. */
  readonly hooks: MetricHooks | null;
  /** Opens the listener of the metrics. Returns its address; null when nothing is measured. */
  open(sources: MeasuredParts): Promise<string | null>;
}

/** Who has no business with the daemon can't open the socket: metrics ask for no credential. */
const SOCKET_MODE = 0o660;

/** Begins to measure, if the metrics have an address to be read at. */
export async function openTelemetry({ live, store, bus, log, closers }: TelemetryParts): Promise<Telemetry> {
  const target = parseListen(live.settings().metrics.listen);
  if (target === null) return { hooks: null, open: async () => null };
  const metrics = await openMetrics({ store, bus, clock, log });
  closers.push(metrics.stop);
  return {
    hooks: metrics.hooks,
    open: async ({ config, pool, readiness }) => {
      const { dataDir } = config.places;
      const workers = () => ({ ...pool.load(), slots: pool.slots() });
      const scrape = metrics.begin({ dataDir, databaseFile: databaseOf(config), workers, readiness });
      const server = makeMetricsServer({ scrape, clock, log });
      const listener = await listen(server, target.kind === 'unix' ? { ...target, mode: SOCKET_MODE } : target);
      closers.push(listener.close);
      return listener.address;
    },
  };
}
