// The bodies of scheduled tasks and of published pages: made of their event alone, whatever has become of both since.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { EventPayloads } from '../../src/domain/sessions/journal-event.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhooks/webhook.ts';
import { EVENT_BODIES } from '../../src/wire/webhooks/event-bodies.ts';
import { fitsSchema } from '../support/http/fits-schema.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';

type ResultType = 'scheduled_task.run_status_changed' | 'publish_page.published' | 'publish_page.failed';
const ID = '0198c0de-0000-7000-8000-000000000001';

/** The body that a webhook gets for an event of a session in the journal. */
async function bodyOf<T extends ResultType>(type: T, payload: EventPayloads[T]) {
  const fixture = await storeFixture();
  const webhook = await fixture.store.webhooks.create(
    aWebhook({ userSeq: fixture.user.seq, events: WEBHOOK_EVENT_TYPES }),
  );
  const run = await fixture.accept();
  const connection = new Connection(fixture.file);
  onTestFinished(() => void connection.close());
  connection
    .prepare(
      'INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at) VALUES (?, NULL, NULL, ?, ?, ?)',
    )
    .run(run.sessionSeq, type, JSON.stringify(payload), fixture.clock.now());
  while ((await fixture.store.deliveries.plan()).more);
  const [delivery, ...others] = await fixture.store.deliveries.listPending(webhook.id, 9);
  expect([delivery?.eventType, others]).toEqual([type, []]);
  const body = JSON.parse(delivery!.body) as JsonObject;
  expect(EVENT_BODIES[type].read(body, '')).toEqual(body);
  expect(fitsSchema(EVENT_BODIES[type], body)).toBe(true);
  const envelope = {
    schema_version: 'v1',
    event_type: type,
    event_id: delivery!.eventId,
    occurred_at: new Date(fixture.clock.now()).toISOString(),
    is_test: false,
    user: { user_id: fixture.user.id, username: 'mara', full_name: 'Mara Vogt', department: 'Lab', role: 'admin' },
    webhook: { id: webhook.id, owner_scope: 'user' },
  };
  return { body, envelope, eventId: delivery!.eventId, sessionId: run.sessionId };
}

test.each([
  ['pending', null, null],
  ['running', 'pending', null],
  ['completed', 'running', null],
  ['failed', 'running', 'The model is gone.'],
  ['stopped', 'pending', 'Stopped by the user.'],
] as const)(
  'scheduled_task.run_status_changed, as a whole: %s after %s',
  { tags: ['§6.5-scheduled_task.run_status_changed'] },
  async (status, previous, lastError) => {
    const task = { taskId: ID, stepId: ID, name: 'Tides', cron: '0 7 * * 1-5', timezone: 'Europe/Zurich' };
    const payload = { ...task, runId: ID, status, previous, lastError };
    const { body, envelope, eventId, sessionId } = await bodyOf('scheduled_task.run_status_changed', payload);
    expect(body).toEqual({
      ...envelope,
      scheduled_task: { scheduled_task_id: ID, name: 'Tides', cron: '0 7 * * 1-5', timezone: 'Europe/Zurich' },
      run: { run_id: ID, session_id: sessionId, status, previous_status: previous, last_error: lastError },
      session: {
        session_id: sessionId,
        title: 'Tides',
        kind: 'api',
        status: 'pending',
        project_id: null,
        created_at: envelope.occurred_at,
        updated_at: envelope.occurred_at,
      },
      meta: { trigger: 'run_status_changed', source: 'scheduled_task', idempotency_key: eventId },
    });
  },
);

test.each([
  {
    origin: 'existing_session',
    trigger: 'manual',
    category: 'Harbour',
    reason: 'The pier was missing.',
    isOnBoard: true,
  },
  { origin: 'scheduled_task', trigger: 'auto', category: null, reason: null, isOnBoard: false },
] as const)(
  'publish_page.published, as a whole: of $origin',
  { tags: ['§6.5-publish_page.published', 'F8-keys'] },
  async (made) => {
    const { origin, trigger, category, reason, isOnBoard } = made;
    const { body, envelope, eventId, sessionId } = await bodyOf('publish_page.published', {
      page: { id: 7, name: 'Tide tables', key: 'Tq3mB81nRZk0wXyd', origin, category, isOnBoard },
      version: { no: 3, entryPath: '/site/index.html', shareCode: '4mZr0cPq8sVb2LhXn7KdWy', trigger, reason },
    });
    expect(body).toEqual({
      ...envelope,
      publish_page: {
        publish_center_id: 7,
        name: 'Tide tables',
        publish_key: 'Tq3mB81nRZk0wXyd',
        source_type: origin,
        category,
        public_to_board_enabled: isOnBoard,
      },
      version: {
        version_no: 3,
        session_id: sessionId,
        entry_path: '/site/index.html',
        share_code: '4mZr0cPq8sVb2LhXn7KdWy',
        published_url: '/share/p/Tq3mB81nRZk0wXyd',
        trigger_type: trigger,
        reason,
      },
      session: { session_id: sessionId, title: 'Tides', kind: 'api', project_id: null },
      meta: { trigger: 'version_published', source: 'publish_center', idempotency_key: eventId },
    });
  },
);

test.each([
  [ID, ID, ID],
  [null, null, null],
] as const)(
  'publish_page.failed, as a whole: job %s',
  { tags: ['§6.5-publish_page.failed'] },
  async (id, runId, scheduledTaskId) => {
    const { body, envelope, eventId, sessionId } = await bodyOf('publish_page.failed', {
      page: { id: 7, name: 'Tide tables', key: 'Tq3mB81nRZk0wXyd' },
      job: { id, runId, scheduledTaskId, attemptCount: 3, maxAttempts: 3, message: 'There is no /index.html.' },
    });
    expect(body).toEqual({
      ...envelope,
      publish_page: { publish_center_id: 7, name: 'Tide tables', publish_key: 'Tq3mB81nRZk0wXyd' },
      job: {
        job_id: id,
        run_id: runId,
        scheduled_task_id: scheduledTaskId,
        status: 'failed',
        attempt_count: 3,
        max_attempts: 3,
        last_error: 'There is no /index.html.',
      },
      error: { message: 'There is no /index.html.' },
      session: { session_id: sessionId, title: 'Tides', kind: 'api', project_id: null },
      meta: { trigger: 'publishing_failed', source: 'publish_center', idempotency_key: eventId },
    });
  },
);
