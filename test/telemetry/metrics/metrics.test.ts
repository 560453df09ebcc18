import { statfsSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { GaugeSources } from '../../../src/telemetry/metrics/collect-gauges.ts';
import { type MetricHooks, openMetrics } from '../../../src/telemetry/metrics/metrics.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import {
  aSpentCall,
  aStep,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
} from '../../support/store/store-fixture.ts';

const PRICED = { name: 'deep', price: { ...FREE.price, inputPerMillionUsd: 2, outputPerMillionUsd: 10 } };
const READY = { ready: true, parts: [{ name: 'store', state: 'ok' as const }] };

/** The values of a scrape, by the text before them. */
function valuesOf(scrape: string): ReadonlyMap<string, number> {
  const lines = scrape.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

async function openMeasured(fixture: StoreFixture, over: Partial<GaugeSources> = {}) {
  const { store, clock } = fixture;
  const metrics = await openMetrics({ store, clock, log: loggedLines().log });
  onTestFinished(metrics.stop);
  const workers = () => ({ threads: 1, slots: 2, busy: 0 });
  const sources = {
    dataDir: '/',
    workers,
    nodes: () => [{ state: 'online' as const }],
    readiness: () => READY,
    backups: () => null,
    leads: () => true,
  };
  const scrape = metrics.begin(Object.assign(sources, over));
  const hooks: MetricHooks = metrics.hooks;
  return { hooks, scrape: async () => valuesOf(await scrape()) };
}

/** A run that has ended; its one step used ten tokens, and four of the reply. */
async function aRun(fixture: StoreFixture, ending: 'completed' | 'failed', model = PRICED): Promise<void> {
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  fixture.clock.advance(3_000);
  await fixture.store.runs.recordStep(fence, aStep(), model);
  const error = { type: 'api_error', message: 'No.', retryable: false } as const;
  await fixture.store.runs.finalize(
    fence,
    ending === 'completed' ? { outcome: ending, answer: '', stopReason: 'end_turn' } : { outcome: ending, error },
  );
  await fixture.store.runs.settle(fence, { untouched: true });
}

test('runs count when they have ended, by how they ended and were started', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  expect((await scrape()).get('errand_runs_total{status="completed",mode="queued"}')).toBe(0);
  await aRun(fixture, 'completed');
  await aRun(fixture, 'failed');
  await fixture.accept();
  const values = await scrape();
  expect(values.get('errand_runs_total{status="completed",mode="queued"}')).toBe(1);
  expect(values.get('errand_runs_total{status="failed",mode="queued"}')).toBe(1);
  expect(values.get('errand_run_duration_seconds_sum')).toBe(6);
  expect(values.get('errand_run_duration_seconds_bucket{le="2.5"}')).toBe(0);
  expect(values.get('errand_run_duration_seconds_bucket{le="5"}')).toBe(2);
  expect(values.get('errand_events_total{type="run.queued"}')).toBe(3);
  expect(values.get('errand_queue_runs{state="queued"}')).toBe(1);
});

test('usage counts from now on, by model and by the name of the team, whatever was used before', async () => {
  const fixture = await storeFixture();
  await aRun(fixture, 'completed');
  const { scrape } = await openMeasured(fixture);
  const team = await fixture.store.teams.create({ name: 'Red "1"', budgetUsd: null });
  await aRun(fixture, 'completed');
  await fixture.store.users.change('mara', { teamId: team.id });
  await aRun(fixture, 'completed');
  await aRun(fixture, 'completed');
  const values = await scrape();
  expect(values.get('errand_tokens_total{model="deep",team="unassigned",kind="input"}')).toBe(10);
  expect(values.get('errand_tokens_total{model="deep",team="Red \\"1\\"",kind="input"}')).toBe(20);
  expect(values.get('errand_tokens_total{model="deep",team="Red \\"1\\"",kind="output"}')).toBe(8);
  expect(values.get('errand_cost_usd_total{model="deep",team="unassigned"}')).toBeCloseTo(0.00006);
  expect(values.get('errand_first_token_seconds_count{model="deep"}')).toBe(3);
  expect(values.get('errand_first_token_seconds_bucket{le="0.1",model="deep"}')).toBe(3);
  // Nothing is counted twice.
  expect((await scrape()).get('errand_tokens_total{model="deep",team="unassigned",kind="input"}')).toBe(10);
});

test('more models than are shown share one series', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  await fixture.accept();
  const [run] = await fixture.claim();
  for (let i = 0; i < 210; i += 1) {
    await fixture.store.runs.recordSpent(fenceOf(run!), aSpentCall(), { ...FREE, name: `m${i}` });
  }
  const values = await scrape();
  const models = [...values.keys()].filter((key) => key.startsWith('errand_cost_usd_total'));
  expect(models).toHaveLength(201);
  expect(values.get('errand_tokens_total{model="other",team="unassigned",kind="input"}')).toBe(100);
});

test('the age of the queue is that of the oldest run that no worker has taken', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  expect((await scrape()).get('errand_queue_oldest_seconds')).toBe(0);
  const first = await fixture.accept();
  fixture.clock.advance(20_000);
  // Behind the first run of their session.
  await fixture.accept({ sessionId: first.sessionId });
  await fixture.accept();
  fixture.clock.advance(5_000);
  expect((await scrape()).get('errand_queue_oldest_seconds')).toBe(25);
  await fixture.claim();
  expect((await scrape()).get('errand_queue_oldest_seconds')).toBe(5);
});

test('what other rooms report counts under names of closed sets', async () => {
  const { hooks, scrape } = await openMeasured(await storeFixture());
  hooks.requestEnded({ route: '/api/v1/users/:ref', method: 'GET', status: 200, durationMs: 30 });
  hooks.requestEnded({ route: null, method: 'PROPFIND', status: 404, durationMs: 1 });
  hooks.modelCalled({ endpoint: 'local', outcome: 'ok' });
  hooks.modelCalled({ endpoint: 'local', outcome: 'unreachable' });
  hooks.modelCalled({ endpoint: 'cloud', outcome: 'throttled' });
  hooks.deliveryAttempted('error');
  hooks.bucketAsked({ verb: 'put', outcome: 'ok', seconds: 0.1, sentBytes: 7, receivedBytes: 0 });
  const values = await scrape();
  expect(values.get('errand_http_requests_total{route="/api/v1/users/:ref",method="GET",status="200"}')).toBe(1);
  expect(values.get('errand_http_requests_total{route="none",method="other",status="404"}')).toBe(1);
  expect(values.get('errand_http_request_duration_seconds_bucket{le="0.025",route="/api/v1/users/:ref"}')).toBe(0);
  expect(values.get('errand_http_request_duration_seconds_bucket{le="0.1",route="/api/v1/users/:ref"}')).toBe(1);
  expect(values.get('errand_model_calls_total{endpoint="local",outcome="ok"}')).toBe(1);
  expect(values.get('errand_model_endpoint_up{endpoint="local"}')).toBe(0);
  expect(values.get('errand_model_endpoint_up{endpoint="cloud"}')).toBe(1);
  expect(values.get('errand_webhook_attempts_total{outcome="error"}')).toBe(1);
  expect(values.get('errand_bucket_requests_total{verb="put",outcome="ok"}')).toBe(1);
  expect(values.get('errand_bucket_bytes_total{direction="sent"}')).toBe(7);
});

test('commits are timed, and the sizes of the database are shown', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  await fixture.accept();
  const values = await scrape();
  expect(values.get('errand_commit_duration_seconds_count')).toBe(1);
  expect(values.get('errand_journal_newest_event_id')).toBe(1);
  expect(values.get('errand_journal_oldest_event_timestamp_seconds')).toBe(fixture.clock.now() / 1_000);
  expect(values.get('errand_database_size_bytes')).toBeGreaterThan(0);
  expect(values.get('errand_database_wal_bytes')).toBeGreaterThan(100_000);
  expect(values.get('errand_disk_free_bytes')).toBeGreaterThan(0);
  expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
});

test('the pool and the standbys of PostgreSQL are shown', async () => {
  const fixture = await storeFixture();
  const pool = { most: 12, open: 5, busy: 3, waiting: 2 };
  const replicas = [4_096, 0].map((lagBytes) => ({ name: 'standby', state: 'streaming', lagBytes }));
  const figures = {
    engine: 'postgres',
    version: '15.18',
    bytes: 9,
    pageBytes: 8_192,
    freeBytes: 0,
    shrinks: true,
    logBytes: null,
  } as const;
  const store = { ...fixture.store, figures: async () => ({ ...figures, pool, replicas }) };
  const { scrape } = await openMeasured({ ...fixture, store });
  const values = await scrape();
  expect(values.get('errand_database_info{engine="postgres",version="15.18"}')).toBe(1);
  expect(values.get('errand_database_size_bytes')).toBe(9);
  expect(values.has('errand_database_wal_bytes')).toBe(false);
  expect(values.get('errand_database_connections{state="busy"}')).toBe(3);
  expect(values.get('errand_database_connections{state="idle"}')).toBe(2);
  expect(values.get('errand_database_connections_max')).toBe(12);
  expect(values.get('errand_database_waiting')).toBe(2);
  expect(values.get('errand_database_replica_lag_bytes')).toBe(4_096);
});

test('a part that fails is left out of the scrape and counted, and its last values are gone; the others are there', async () => {
  const faults = { workers: true };
  const { scrape } = await openMeasured(await storeFixture(), {
    workers: () => {
      if (faults.workers) throw new Error('no pool');
      return { threads: 1, slots: 2, busy: 0 };
    },
  });
  const values = await scrape();
  expect(values.get('errand_scrape_failures_total{part="workers"}')).toBe(1);
  expect(values.has('errand_workers_slots')).toBe(false);
  expect(values.get('errand_ready')).toBe(1);
  expect(values.get('errand_queue_runs{state="running"}')).toBe(0);
  expect(values.has('errand_journal_oldest_event_timestamp_seconds')).toBe(false);
  faults.workers = false;
  expect((await scrape()).get('errand_workers_slots')).toBe(2);
  faults.workers = true;
  expect((await scrape()).has('errand_workers_slots')).toBe(false);
});

test('a part of readiness that no longer exists is gone', async () => {
  const parts = [
    { name: 'store', state: 'ok' as const },
    { name: 'backups', state: 'degraded' as const },
  ];
  const { scrape } = await openMeasured(await storeFixture(), { readiness: () => ({ ready: true, parts }) });
  expect((await scrape()).get('errand_part_ok{part="backups"}')).toBe(0);
  parts.pop();
  const values = await scrape();
  expect(values.get('errand_part_ok{part="store"}')).toBe(1);
  expect(values.has('errand_part_ok{part="backups"}')).toBe(false);
});

test('backups are shown while they are scheduled, and the newest only when there is one', async () => {
  let health: ReturnType<GaugeSources['backups']> = null;
  const { scrape } = await openMeasured(await storeFixture(), { backups: () => health });
  const shown = async () =>
    [...(await scrape())].filter(([name]) => name.startsWith('errand_backup')).map(([, value]) => value);
  expect(await shown()).toEqual([]);
  health = { lastAt: null, failure: 'no space' };
  expect(await shown()).toEqual([1]);
  health = { lastAt: 1_770_000_000_000, failure: null };
  expect(await shown()).toEqual([1_770_000_000, 0]);
  health = null;
  expect(await shown()).toEqual([]);
});

test('the used share of budgets of teams is shown, and of no one else', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  const team = await fixture.store.teams.create({ name: 'Red', budgetUsd: null });
  await fixture.store.users.change('mara', { teamId: team.id });
  const terms = { unit: 'tokens', period: 'day', timeZone: 'UTC', limit: 100 } as const;
  const none = { keySeq: null, userSeq: null, teamId: null };
  await fixture.store.budgets.set(
    { ...terms, subject: 'team', payer: { ...none, teamId: team.id } },
    fixture.clock.now,
  );
  await fixture.store.budgets.set({ ...terms, period: 'all', subject: 'run', payer: none }, fixture.clock.now);
  await aRun(fixture, 'completed');
  const shares = [...(await scrape())].filter(([name]) => name.startsWith('errand_team_budget'));
  expect(shares).toEqual([['errand_team_budget_used_ratio{team="Red",unit="tokens",period="day"}', 0.14]]);
});

test('free inodes are shown where the disk has a limit of them', async () => {
  const { scrape } = await openMeasured(await storeFixture());
  const { files } = statfsSync('/');
  const values = await scrape();
  expect(values.get('errand_disk_inodes')).toBe(files === 0 ? undefined : files);
  expect(values.has('errand_disk_free_inodes')).toBe(files !== 0);
});

test('however many methods, models and endpoints there are, the series stay few', async () => {
  const { hooks, scrape } = await openMeasured(await storeFixture());
  const before = (await scrape()).size;
  for (let i = 0; i < 10_000; i += 1) {
    hooks.requestEnded({ route: null, method: `M${i}`, status: 404, durationMs: 1 });
    hooks.modelCalled({ endpoint: `e${i}`, outcome: 'ok' });
  }
  // Of each endpoint its calls and whether it is up; of requests, one and its histogram.
  expect((await scrape()).size - before).toBe(2 * 201 + 1 + 10);
});

test('runs that ended while the storage could not be read are counted afterwards', async () => {
  const fixture = await storeFixture();
  const { scrape } = await openMeasured(fixture);
  await scrape();
  const { metrics } = fixture.store;
  const read = vi.spyOn(metrics, 'endsOf').mockRejectedValueOnce(new Error('the disk does not answer'));
  await aRun(fixture, 'completed');
  expect((await scrape()).get('errand_runs_total{status="completed",mode="queued"}')).toBe(0);
  expect(read).toHaveBeenCalledOnce();
  expect((await scrape()).get('errand_runs_total{status="completed",mode="queued"}')).toBe(1);
});

test('what is the same at all nodes is measured by the one that leads, what is its own by each', {
  tags: ['L7'],
}, async () => {
  const fixture = await storeFixture();
  let leads = true;
  const { scrape } = await openMeasured(fixture, { leads: () => leads });
  await fixture.accept();
  const OF_ALL = [
    'errand_queue_runs{state="queued"}',
    'errand_queue_oldest_seconds',
    'errand_nodes{state="online"}',
    'errand_webhooks_failing',
    'errand_webhook_deliveries_pending',
    'errand_journal_newest_event_id',
    'errand_database_size_bytes',
    'errand_database_free_bytes',
  ];
  const OF_EACH = ['errand_workers_slots', 'errand_ready', 'errand_disk_free_bytes', 'process_open_fds'];
  const measured = async () => {
    const values = await scrape();
    return [...OF_ALL, ...OF_EACH].filter((name) => values.has(name));
  };
  expect(await measured()).toEqual([...OF_ALL, ...OF_EACH]);
  leads = false;
  expect(await measured()).toEqual(OF_EACH);
});
