// No pass of a background service takes the main thread for longer than 50 ms at once, whatever is due: each has its largest pass
// here, or is known to do little. Times are those of the processor, and the least of five.
import { randomUUID } from 'node:crypto';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ServiceParts } from '../../src/services/service.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhooks/webhook.ts';
import { filesWithServices, makeHeldServices } from '../support/daemon/held-services.ts';
import { largestDaemon } from '../support/daemon/largest-daemon.ts';
import { openLargeStore } from '../support/store/large-store.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { longestTurnMsOf } from '../support/time/cpu-time.ts';
import { leastOfFive } from '../support/time/machine-speed.ts';

const LONGEST_MS = 50;
const OLD = Date.now() - 400 * 86_400_000;

type LargeStore = ReturnType<typeof openLargeStore>;

const held = makeHeldServices([
  'src/config/live/watch.ts',
  'src/config/live/live-certificate.ts',
  'src/execution/queue/heartbeat.ts',
  'src/operations/audit/keep-anchor.ts',
]);
const { hold } = held;

vi.mock('../../src/services/service.ts', async (original) => {
  const real = await original<typeof import('../../src/services/service.ts')>();
  return { makeService: (parts: ServiceParts) => hold(real.makeService, parts) };
});

const queued = { status: 'queued', schedule_mode: 'background', finished_at: null, started_at: null, outcome: null };

type Due = (store: LargeStore) => unknown;

/** What is due of each before its pass, and what selects a row as long as something of it is left. */
const CASES: Readonly<Record<string, readonly [due: Due, left?: string]>> = {
  'src/execution/queue/scheduler.ts': [
    (store) => {
      const rules = { cron: '* * * * *', timezone: 'Europe/Zurich', target: 'free', enabled: 1, overlap: 'skip' };
      const times = { next_fire_at: OLD, look_at: OLD, counted_at: OLD - 1, created_at: OLD, updated_at: OLD };
      const user_seq = store.owned.user_seq;
      const tasks = store.rows('scheduled_tasks', 200, (no) => ({
        id: randomUUID(),
        user_seq,
        name: `T ${no}`,
        ...rules,
        ...times,
      }));
      store.rows('task_plans', 200, (no) => ({ task_seq: tasks[no]!, prompt: 'ö"'.repeat(50_000), steps: '[]' }));
    },
    `SELECT 1 FROM scheduled_tasks WHERE look_at = ${OLD}`,
  ],
  'src/execution/queue/queue-wait.ts': [
    (store) => {
      for (let run = 0; run < 1_000; run += 1)
        store.run(store.session().seq, { ...queued, artifact_status: 'pending', created_at: OLD });
    },
    `SELECT 1 FROM runs WHERE status = 'queued' AND created_at = ${OLD}`,
  ],
  'src/execution/queue/question-watch.ts': [
    (store) => {
      const { seq: session_seq } = store.session();
      const asked = { tool_name: 'ask_user', tool_input: JSON.stringify({ question: 'ö"'.repeat(10_000) }) };
      store.rows('user_inputs', 600, (no) => ({
        id: randomUUID(),
        tool_use_id: `t${no}`,
        session_seq,
        run_seq: store.run(session_seq, {
          status: 'waiting',
          finished_at: null,
          outcome: null,
          artifact_status: 'pending',
        }).seq,
        ...asked,
        user_seq: store.owned.user_seq,
        status: 'pending',
        created_at: 1,
        expires_at: 2,
      }));
    },
    `SELECT 1 FROM user_inputs WHERE status = 'pending' AND expires_at = 2`,
  ],
  'src/execution/artifacts/collector.ts': [
    (store) => {
      for (let run = 0; run < 60; run += 1) store.run(store.session().seq, { artifact_status: 'pending' });
      // Its directory isn't there: none of the files is there any more.
      const { sessionSeq } = store.workspace(20_000, (no) => `/src/${no}.txt`);
      store.run(sessionSeq, { artifact_status: 'pending' });
    },
    `SELECT 1 FROM runs WHERE artifact_status = 'pending' AND finished_at IS NOT NULL`,
  ],
  'src/execution/artifacts/removal/sweeper.ts': [
    (store) => {
      for (const { sessionId } of [
        store.workspace(20_000, (no) => `/src/${no}.txt`),
        store.conversation(2_500, 'A short text.'),
        store.longRun(200, 'x"'.repeat(20_000)),
      ])
        store.remove(sessionId);
    },
    'SELECT 1 FROM cleanups',
  ],
  'src/publishing/page-sweeper.ts': [
    (store) => {
      const withdrawn = store.page(5_000, (no) => `/site/${no}.html`);
      store.change(
        `UPDATE publish_versions SET withdrawn_at = 1, is_open = 0 WHERE share_code = '${store.shareOf(withdrawn)}'`,
      );
      const deleted = store.page(5_000, (no) => `/site/${no}.html`);
      store.change(`UPDATE publish_pages SET deleted_at = 1 WHERE key = '${deleted}'`);
      for (let no = 0; no < 300; no += 1) store.page(1, () => '/site/index.html');
      store.change('UPDATE publish_versions SET expires_at = 1 WHERE is_open = 1 AND file_count = 1');
    },
    'SELECT 1 FROM publish_versions WHERE has_files = 1 AND withdrawn_at = 1 UNION ALL SELECT 1 FROM publish_pages WHERE deleted_at = 1',
  ],
  'src/publishing/publisher.ts': [
    (store) => {
      const { seq: session_seq } = store.session();
      const { seq: run_seq } = store.run(session_seq);
      store.page(1, () => '/site/index.html');
      store.change(
        `INSERT INTO publish_jobs (page_id, firing_seq, session_seq, run_seq, next_attempt_at, created_at)
       SELECT id, ${run_seq}, ${session_seq}, ${run_seq}, 1, 1 FROM publish_pages ORDER BY id LIMIT 200`,
      );
    },
    'SELECT 1 FROM publish_jobs WHERE next_attempt_at = 1',
  ],
  'src/webhooks/planner.ts': [
    (store) => {
      hooksOf(store);
      const { seq: session_seq } = store.session();
      const runs = Array.from(
        { length: 50 },
        () => store.run(session_seq, { status: 'failed', outcome: 'failed' }).seq,
      );
      const payload = JSON.stringify({ type: 'model_error', message: 'x'.repeat(2_000) });
      const event = { session_seq, stream_seq: 1, type: 'run.failed', payload, created_at: Date.now() };
      store.rows('events', 50, (no) => ({ ...event, run_seq: runs[no]! }));
    },
    `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_type = 'session.failed')`,
  ],
  'src/webhooks/sender.ts': [
    (store) => {
      const hooks = hooksOf(store);
      const body = JSON.stringify({ text: 'ö"'.repeat(5_000) });
      store.rows('webhook_deliveries', 400, (no) => ({
        webhook_id: hooks[no % hooks.length]!,
        owner: 0,
        event_id: randomUUID(),
        event_type: 'session.completed',
        is_test: 0,
        state: 'pending',
        attempts_left: 1,
        next_attempt_at: Date.now(),
        body,
        created_at: Date.now(),
      }));
    },
    `SELECT 1 FROM webhook_deliveries WHERE state = 'pending' AND event_type = 'session.completed'`,
  ],
  'src/webhooks/upkeep.ts': [
    (store) => {
      const [hook] = hooksOf(store);
      const body = JSON.stringify({ text: 'ö"'.repeat(5_000) });
      store.rows('webhook_deliveries', 3_000, (no) => ({
        webhook_id: hook!,
        owner: 0,
        event_id: randomUUID(),
        event_type: 'session.failed',
        is_test: 0,
        body,
        ...(no % 2 === 0
          ? {
              state: 'pending',
              next_attempt_at: 1,
              attempts_left: 1,
            }
          : {
              state: 'failed',
              attempts_left: 0,
              ended_at: 1,
            }),
        created_at: 1,
      }));
    },
    "SELECT 1 FROM webhook_deliveries WHERE ended_at = 1 OR (state = 'pending' AND created_at = 1)",
  ],
  'src/retention/retention.ts': [
    (store) => {
      const made = [store.longRun(200, 'x"'.repeat(20_000)), store.conversation(1_000, 'A short text.')];
      for (const { sessionId } of made)
        store.change(
          `UPDATE runs SET created_at = ${OLD}, started_at = ${OLD}, finished_at = ${OLD} WHERE session_seq = (SELECT seq FROM sessions WHERE id = '${sessionId}')`,
        );
      const { seq: session_seq } = store.session();
      const { seq: run_seq } = store.run(session_seq, { created_at: OLD, started_at: OLD, finished_at: OLD });
      const payload = JSON.stringify({ index: 0, text: 'ö"'.repeat(2_000) });
      store.rows('events', 2_000, (no) => ({
        session_seq,
        run_seq,
        stream_seq: no + 1,
        type: 'content_block_delta',
        payload,
        created_at: OLD,
      }));
    },
  ],
  'src/telemetry/metrics/metrics.ts': [
    (store) => {
      const { seq: session_seq } = store.session();
      const tokens = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 1 };
      const names = { purpose: 'reply', step: 1 };
      store.rows('usage_records', 5_000, (no) => ({
        at: 1,
        session_seq,
        user_seq: store.owned.user_seq,
        model: `m${no % 500}`,
        ...tokens,
        ...names,
      }));
    },
  ],
  'src/execution/artifacts/removal/orphaned-blobs.ts': [() => undefined],
  'src/execution/queue/queue.ts': [
    (store) => {
      for (let run = 0; run < 300; run += 1) {
        const { seq } = store.session();
        store.run(seq, { ...queued, artifact_status: 'pending', created_at: Date.now() });
      }
    },
  ],
  'src/operations/audit/keep-anchor.ts': [() => undefined],
  'src/backups/schedule.ts': [() => undefined],
};

/** They touch a few rows or files. */
const LITTLE: Readonly<Record<string, string>> = {
  'src/config/live/live-certificate.ts': 'reads a certificate and its key',
  'src/config/live/watch.ts': 'sets a watch again',
  'src/daemon/services/looks.ts': 'wakes other services',
  'src/doctor/disk-watch.ts': 'one row an hour',
  'src/execution/artifacts/removal/held-objects.ts': 'a statement for each 64 objects that are held',
  'src/execution/artifacts/removal/left-copies.ts':
    'names of a directory, as they are listed, and a statement for each 64 of them',
  'src/execution/artifacts/recording/lost-workspaces.ts': 'a hundred sessions, a few commits for each',
  'src/execution/artifacts/removal/object-sweeper.ts': 'a commit for each 64 objects of a bucket',
  'src/files/blobs/s3/cache.ts': 'fifty files of a bucket in each turn',
  'src/execution/executor/budget-watch.ts': 'one statement that finds a row or none',
  'src/execution/queue/leases.ts': 'one statement for the runs that execute here',
  'src/execution/queue/heartbeat.ts': 'at most a thousand rows of nodes, which have a case among the verbs',
  'src/telemetry/traces/traces.ts': 'the time lines of a few runs, which end by themselves',
};

function hooksOf(store: LargeStore): number[] {
  const rules = { timeout_ms: 100, retry_count: 0, retry_backoff_ms: 100, enabled: 1, created_at: 1, updated_at: 1 };
  const to = { url: 'http://127.0.0.1:9/', events: JSON.stringify(WEBHOOK_EVENT_TYPES) };
  const hooks = store.rows('webhooks', 100, (no) => ({ name: `Hook ${no}`, ...to, ...rules }));
  store.rows('webhook_subscriptions', 100, (no) => ({
    event_type: 'session.failed',
    user_seq: 0,
    webhook_id: hooks[no]!,
  }));
  return hooks;
}

function isAny(file: string, sql: string): boolean {
  const store = new Connection(file, { readonly: true });
  try {
    return store.prepare(`${sql} LIMIT 1`).get() !== undefined;
  } finally {
    store.close();
  }
}

const SETTINGS = `background: { queue_wait_seconds: 1 }
metrics: { listen: "127.0.0.1:0" }
traces: { otlp_endpoint: "http://127.0.0.1:9" }
retention: { events_days: 1, runs_days: 1, workspaces_idle_days: 1, exports_days: 1 }
`;

test('no pass of a service takes longer than 50 ms at once, and each service has a case or is known to need none', async () => {
  expect([...Object.keys(CASES), ...Object.keys(LITTLE)].toSorted()).toEqual(filesWithServices());
  const { file } = await largestDaemon({ settings: SETTINGS });
  onTestFinished(held.release);
  const longer: [string, number][] = [];
  for (const [name, [due, left]] of Object.entries(CASES)) {
    const least = await leastOfFive(LONGEST_MS, async () => {
      const store = openLargeStore(file);
      due(store);
      store.close();
      return longestTurnMsOf(async () => {
        await held.pass(name);
        await waitFor(() => left === undefined || !isAny(file, left) || void held.pass(name), {
          everyMs: 100,
          // A service that has looked at all there is may look again a minute later.
          timeoutMs: 180_000,
          what: name,
        });
      });
    });
    if (least >= LONGEST_MS) longer.push([name, Math.round(least)]);
  }
  expect(longer).toEqual([]);
}, 600_000);
