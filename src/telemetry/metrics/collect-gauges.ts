// What is measured at each scrape: everything that has a state now, in parts that fail one by one.
import { readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Clock } from '../../domain/clock.ts';
import { countNodes, type KnownNode } from '../../domain/nodes/node.ts';
import type { EngineFigures } from '../../store/engine/database.ts';
import type { Store } from '../../store/open-store.ts';
import { type BoundedName, OTHER } from './bounded-names.ts';
import type { Meters } from './meters.ts';
import type { NameOf } from './metric-table.ts';

/** A part of what the daemon consists of, as readiness reports it. */
interface PartState {
  readonly name: string;
  readonly state: 'ok' | 'degraded' | 'failed';
}

/** Where states are read. */
export interface GaugeSources {
  readonly store: Pick<Store, 'metrics' | 'runs' | 'webhooks' | 'budgets' | 'figures'>;
  readonly clock: Clock;
  readonly teams: BoundedName;
  readonly dataDir: string;
  workers(): { readonly threads: number; readonly slots: number; readonly busy: number };
  readiness(): { readonly ready: boolean; readonly parts: readonly PartState[] };
  nodes(): readonly Pick<KnownNode, 'state'>[];
  /** How scheduled backups are doing; null without a schedule. */
  backups(): { readonly lastAt: number | null; readonly failure: string | null } | null;
  /** Whether this node measures what is the same at all nodes: otherwise a sum over them would have it several times. */
  leads(): boolean;
}

export interface Gauges {
  /** Measures everything. Parts that fail are counted, and left out. */
  collect(): Promise<void>;
  stop(): void;
}

interface Part {
  /** What it measures, which is left out when it fails. */
  readonly gauges: readonly NameOf<'gauge'>[];
  /** Whether all of it is the same at all nodes. */
  readonly isOfInstallation?: true;
  measure(sources: GaugeSources, meters: Meters): Promise<void> | void;
}

/** Each part by its name in `errand_scrape_failures_total`. */
const PARTS: Readonly<Record<string, Part>> = {
  readiness: {
    gauges: ['errand_ready', 'errand_part_ok'],
    measure: ({ readiness }, meters) => {
      const { ready, parts } = readiness();
      meters.set('errand_ready', {}, Number(ready));
      for (const { name, state } of parts) meters.set('errand_part_ok', { part: name }, Number(state === 'ok'));
    },
  },
  queue: {
    gauges: ['errand_queue_runs'],
    isOfInstallation: true,
    measure: async ({ store }, meters) => {
      const counts = await store.runs.countUnfinished();
      for (const [state, runs] of Object.entries(counts)) meters.set('errand_queue_runs', { state }, runs);
    },
  },
  workers: {
    gauges: ['errand_workers_threads', 'errand_workers_slots', 'errand_workers_busy'],
    measure: ({ workers }, meters) => {
      const { threads, slots, busy } = workers();
      meters.set('errand_workers_threads', {}, threads);
      meters.set('errand_workers_slots', {}, slots);
      meters.set('errand_workers_busy', {}, busy);
    },
  },
  nodes: {
    gauges: ['errand_nodes'],
    isOfInstallation: true,
    measure: ({ nodes }, meters) => {
      for (const [state, count] of Object.entries(countNodes(nodes()))) meters.set('errand_nodes', { state }, count);
    },
  },
  webhooks: {
    gauges: ['errand_webhooks_failing', 'errand_webhooks_disabled'],
    isOfInstallation: true,
    measure: async ({ store }, meters) => {
      const { failing, disabled } = await store.webhooks.trouble(0);
      meters.set('errand_webhooks_failing', {}, failing);
      meters.set('errand_webhooks_disabled', {}, disabled);
    },
  },
  database: {
    gauges: [
      'errand_queue_oldest_seconds',
      'errand_webhook_deliveries_pending',
      'errand_journal_newest_event_id',
      'errand_journal_oldest_event_timestamp_seconds',
      'errand_audit_newest_entry_id',
    ],
    isOfInstallation: true,
    measure: setDepths,
  },
  engine: {
    gauges: [
      'errand_database_info',
      'errand_database_size_bytes',
      'errand_database_free_bytes',
      'errand_database_wal_bytes',
      'errand_database_connections',
      'errand_database_connections_max',
      'errand_database_waiting',
      'errand_database_replica_lag_bytes',
    ],
    measure: setEngine,
  },
  disk: {
    gauges: ['errand_disk_free_bytes', 'errand_disk_size_bytes', 'errand_disk_free_inodes', 'errand_disk_inodes'],
    measure: setDisk,
  },
  backups: {
    gauges: ['errand_backup_newest_timestamp_seconds', 'errand_backup_failing'],
    measure: ({ backups }, meters) => {
      const health = backups();
      if (health === null) return;
      meters.set('errand_backup_failing', {}, Number(health.failure !== null));
      if (health.lastAt !== null) meters.set('errand_backup_newest_timestamp_seconds', {}, health.lastAt / 1_000);
    },
  },
  budgets: { gauges: ['errand_team_budget_used_ratio'], isOfInstallation: true, measure: setBudgets },
  process: {
    gauges: ['process_resident_memory_bytes', 'process_open_fds'],
    measure: (_, meters) => {
      meters.set('process_resident_memory_bytes', {}, process.memoryUsage.rss());
      meters.set('process_open_fds', {}, readdirSync(join('/proc', String(process.pid), 'fd')).length);
    },
  },
};

function setDisk({ dataDir }: GaugeSources, meters: Meters): void {
  const { bavail, blocks, bsize, files, ffree } = statfsSync(dataDir);
  meters.set('errand_disk_free_bytes', {}, bavail * bsize);
  meters.set('errand_disk_size_bytes', {}, blocks * bsize);
  // File systems that make inodes as they need them report none.
  if (files === 0) return;
  meters.set('errand_disk_free_inodes', {}, ffree);
  meters.set('errand_disk_inodes', {}, files);
}

const NEWEST_BUDGETS = {
  subject: 'team',
  payer: { keySeq: null, userSeq: null, teamId: null },
  limit: 200,
  offset: 0,
} as const;

/** Teams that share a series have none here: their shares can't be added. */
async function setBudgets({ store, clock, teams }: GaugeSources, meters: Meters): Promise<void> {
  const { items } = await store.budgets.list(NEWEST_BUDGETS, clock.now());
  for (const { subjectName, unit, period, limit, spent } of items) {
    const team = teams(subjectName ?? '');
    if (team === OTHER) continue;
    meters.set('errand_team_budget_used_ratio', { team, unit, period }, limit === 0 ? 1 : spent / limit);
  }
}

async function setDepths({ store, clock }: GaugeSources, meters: Meters): Promise<void> {
  const depths = await store.metrics.depths();
  const { oldestQueuedAt, oldestEventAt } = depths;
  const waitedMs = oldestQueuedAt === null ? 0 : Math.max(0, clock.now() - oldestQueuedAt);
  meters.set('errand_queue_oldest_seconds', {}, waitedMs / 1_000);
  meters.set('errand_webhook_deliveries_pending', {}, depths.pendingDeliveries);
  meters.set('errand_journal_newest_event_id', {}, depths.newestEventId);
  if (oldestEventAt !== null) meters.set('errand_journal_oldest_event_timestamp_seconds', {}, oldestEventAt / 1_000);
  meters.set('errand_audit_newest_entry_id', {}, depths.newestAuditId);
}

async function setEngine({ store, leads }: GaugeSources, meters: Meters): Promise<void> {
  const { engine, version, pool, ...ofAll } = await store.figures();
  meters.set('errand_database_info', { engine, version }, 1);
  if (leads()) setSizes(ofAll, meters);
  if (pool === null) return;
  meters.set('errand_database_connections', { state: 'busy' }, pool.busy);
  meters.set('errand_database_connections', { state: 'idle' }, pool.open - pool.busy);
  meters.set('errand_database_connections_max', {}, pool.most);
  meters.set('errand_database_waiting', {}, pool.waiting);
}

type Sizes = Pick<EngineFigures, 'bytes' | 'freeBytes' | 'logBytes' | 'replicas'>;

function setSizes({ bytes, freeBytes, logBytes, replicas }: Sizes, meters: Meters): void {
  meters.set('errand_database_size_bytes', {}, bytes);
  meters.set('errand_database_free_bytes', {}, freeBytes);
  if (logBytes !== null) meters.set('errand_database_wal_bytes', {}, logBytes);
  const lags = replicas.map(({ lagBytes }) => lagBytes);
  if (lags.length > 0) meters.set('errand_database_replica_lag_bytes', {}, Math.max(...lags));
}

/** Each sample wakes the process: at 20 ms that took most of what metrics cost. What holds the loop for longer is always seen. */
const RESOLUTION_MS = 100;

/** Starts to watch the event loop. */
export function makeGauges(sources: GaugeSources, meters: Meters): Gauges {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  meters.set('process_start_time_seconds', {}, performance.timeOrigin / 1_000);
  let before = { loop: performance.eventLoopUtilization(), cpu: process.cpuUsage() };

  function measureProcess(): void {
    const now = { loop: performance.eventLoopUtilization(), cpu: process.cpuUsage() };
    addLoop(meters, delay, now.loop.active - before.loop.active);
    const cpuMicroseconds = now.cpu.user + now.cpu.system - before.cpu.user - before.cpu.system;
    meters.add('process_cpu_seconds_total', {}, Math.max(0, cpuMicroseconds) / 1_000_000);
    before = now;
  }

  return {
    collect: async () => {
      measureProcess();
      for (const [part, { gauges, isOfInstallation, measure }] of Object.entries(PARTS)) {
        for (const name of gauges) meters.clear(name);
        if (isOfInstallation && !sources.leads()) continue;
        try {
          await measure(sources, meters);
        } catch {
          // Readiness and the log report what is wrong with the storage.
          meters.add('errand_scrape_failures_total', { part }, 1);
        }
      }
    },
    stop: () => void delay.disable(),
  };
}

type LoopDelay = ReturnType<typeof monitorEventLoopDelay>;

/** The histogram counts the whole interval between its samples; what exceeds the resolution is the delay. */
function addLoop(meters: Meters, delay: LoopDelay, activeMs: number): void {
  const stats = { p50: delay.percentile(50), p99: delay.percentile(99), max: delay.max };
  for (const [stat, nanoseconds] of Object.entries(stats)) {
    const lateMs = delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1_000_000 - RESOLUTION_MS);
    meters.set('errand_event_loop_delay_seconds', { stat }, lateMs / 1_000);
  }
  delay.reset();
  meters.add('errand_event_loop_busy_seconds_total', {}, Math.max(0, activeMs) / 1_000);
}
