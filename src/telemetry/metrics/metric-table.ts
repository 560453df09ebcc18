// Every metric of the daemon: its type, its labels, and what it says. Dashboards and alert rules are checked against it.

interface Described<Label extends string> {
  readonly help: string;
  /** Their values come from closed sets, from the routes, or pass `makeBoundedNames`; never from what users write. */
  readonly labels: readonly Label[];
}

export type Metric<Label extends string = string> =
  | ({ readonly type: 'counter' | 'gauge' } & Described<Label>)
  | ({ readonly type: 'histogram'; readonly buckets: readonly number[] } & Described<Label>);

const counter = <Label extends string = never>(help: string, ...labels: Label[]) =>
  ({ type: 'counter', help, labels }) as const;
const gauge = <Label extends string = never>(help: string, ...labels: Label[]) =>
  ({ type: 'gauge', help, labels }) as const;
const histogram = <Label extends string = never>(help: string, buckets: readonly number[], ...labels: Label[]) =>
  ({ type: 'histogram', help, buckets, labels }) as const;

/** Seconds. */
const OF_REQUESTS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];
const OF_RUNS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const OF_FIRST_TOKENS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const OF_COMMITS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];

/** The table. */
export const METRICS = {
  errand_build_info: gauge('The version of the daemon and of Node.js; always 1.', 'version', 'node_version'),
  errand_ready: gauge('1 while GET /readyz replies 200.'),
  errand_part_ok: gauge('1 for each part of GET /readyz that is neither degraded nor failed.', 'part'),

  errand_http_requests_total: counter('Answered requests, by the pattern of their route.', 'route', 'method', 'status'),
  errand_http_request_duration_seconds: histogram(
    'Seconds to answer a request; of streams, and of requests that wait for their run, until their end.',
    OF_REQUESTS,
    'route',
  ),

  errand_events_total: counter('Events that this process has written to the journal, by type.', 'type'),
  errand_runs_total: counter('Runs that have ended, by how they ended and how they were started.', 'status', 'mode'),
  errand_run_duration_seconds: histogram('Seconds from the start of a run to its end.', OF_RUNS),
  errand_tool_calls_total: counter('Tool calls that have ended: ok, or error.', 'outcome'),
  errand_queue_runs: gauge('Runs that have not ended, by state; waiting: for their user.', 'state'),
  errand_queue_oldest_seconds: gauge(
    'Seconds that the oldest run which no worker has started yet has waited; runs behind another one of their session do not count.',
  ),

  errand_model_calls_total: counter('Calls of models, retries included, by how they ended.', 'endpoint', 'outcome'),
  errand_model_endpoint_up: gauge(
    'Whether the newest call of an endpoint got a reply: 0 when it could not be reached, failed or fell silent.',
    'endpoint',
  ),
  errand_first_token_seconds: histogram(
    'Seconds until the first token of a reply, for each call of a model.',
    OF_FIRST_TOKENS,
    'model',
  ),
  errand_tokens_total: counter(
    'Tokens that were used; input without those of the cache. kind: input, output, cache_read, cache_write.',
    'model',
    'team',
    'kind',
  ),
  errand_cost_usd_total: counter('What calls of models cost, in US dollars.', 'model', 'team'),

  errand_team_budget_used_ratio: gauge(
    'Share of the budget of a team that is used in its current period; of the newest 200 budgets. unit: usd, tokens.',
    'team',
    'unit',
    'period',
  ),

  errand_workers_threads: gauge('Live worker threads.'),
  errand_workers_slots: gauge('Runs that can execute at the same time.'),
  errand_workers_busy: gauge('Runs that worker threads execute now.'),
  errand_nodes: gauge(
    'Nodes of the installation, as this one sees them. state: online, draining, drained, offline.',
    'state',
  ),

  errand_bucket_requests_total: counter(
    'Requests to the bucket of files, repeated ones included: ok, or failed. verb: put, get, head, delete, list, multipart.',
    'verb',
    'outcome',
  ),
  errand_bucket_request_duration_seconds: histogram('Seconds of a request to the bucket.', OF_REQUESTS, 'verb'),
  errand_bucket_bytes_total: counter('Bytes of files to and from the bucket: sent, received.', 'direction'),

  errand_webhook_attempts_total: counter('Attempts to deliver an event to a webhook: ok, or error.', 'outcome'),
  errand_webhook_deliveries_pending: gauge('Deliveries that are not made yet, counted up to 100,000.'),
  errand_webhooks_failing: gauge('Webhooks whose newest attempt failed.'),
  errand_webhooks_disabled: gauge('Webhooks that the daemon has disabled because they failed.'),

  errand_traces_total: counter(
    'Runs whose trace was sent, rejected by the collector, or dropped because it could not be reached.',
    'outcome',
  ),

  errand_commit_duration_seconds: histogram('Seconds of one commit, until it is on the disk.', OF_COMMITS),
  errand_commit_failures_total: counter('Commits that the storage refused.'),
  errand_journal_newest_event_id: gauge('The number of the newest event of the journal.'),
  errand_journal_oldest_event_timestamp_seconds: gauge('When the oldest event that is kept was written.'),
  errand_commit_repeats_total: counter(
    'Commits to PostgreSQL that took one more try: another transaction was in the way, or the connection was lost.',
  ),
  errand_database_info: gauge('Always 1. engine: sqlite or postgres.', 'engine', 'version'),
  errand_database_size_bytes: gauge('Size of the database.'),
  errand_database_free_bytes: gauge('Space without rows within the database; 0 on PostgreSQL.'),
  errand_database_wal_bytes: gauge('Size of the write-ahead log of SQLite.'),
  errand_database_connections: gauge('Connections to PostgreSQL. state: busy, idle.', 'state'),
  errand_database_connections_max: gauge('How many of them there may be.'),
  errand_database_waiting: gauge('Reads that wait for one of them.'),
  errand_database_replica_lag_bytes: gauge(
    'How far the slowest standby of PostgreSQL is behind; absent without one, and where the role may not see it.',
  ),
  errand_disk_free_bytes: gauge('Space that is free for the daemon on the disk of the data directory.'),
  errand_disk_size_bytes: gauge('Size of that disk.'),
  errand_disk_free_inodes: gauge('Files that can still be made on that disk; absent where there is no limit.'),
  errand_disk_inodes: gauge('Files that can be on that disk; absent where there is no limit.'),
  errand_backup_newest_timestamp_seconds: gauge(
    'When the newest complete backup was begun; absent without a schedule, and while there is none.',
  ),
  errand_backup_failing: gauge('1 while scheduled backups fail; absent without a schedule.'),
  errand_audit_newest_entry_id: gauge('The number of the newest entry of the audit log.'),

  errand_event_loop_delay_seconds: gauge(
    'How late the event loop of the main thread was since the last scrape. stat: p50, p99, max.',
    'stat',
  ),
  errand_event_loop_busy_seconds_total: counter('Seconds that the event loop of the main thread was not idle.'),
  errand_scrape_failures_total: counter('Parts of a scrape that could not be read, and are left out.', 'part'),

  // Under the names that all clients of Prometheus use.
  process_cpu_seconds_total: counter('Processor time of all threads.'),
  process_resident_memory_bytes: gauge('Resident memory.'),
  process_start_time_seconds: gauge('When the process was started.'),
  process_open_fds: gauge('Open file descriptors.'),
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
/** The names of the metrics of a type. */
export type NameOf<Type extends Metric['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
/** A value for each label of a metric. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string | number>
>;
