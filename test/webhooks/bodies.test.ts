// The body of each event type, made of what the store has: literal examples, and each against its shape.
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/domain/json.ts';
import { WEBHOOK_EVENT_TYPES, WEBHOOK_EVENTS, type WebhookEventType } from '../../src/domain/webhooks/webhook.ts';
import { renderBody } from '../../src/webhooks/bodies/render-body.ts';
import { sampleFacts } from '../../src/webhooks/bodies/sample-facts.ts';
import { EVENT_BODIES } from '../../src/wire/webhooks/event-bodies.ts';
import { fitsSchema } from '../support/http/fits-schema.ts';
import { aStep, fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';

const PRICE = {
  inputPerMillionUsd: 1_000,
  outputPerMillionUsd: 1_000,
  cacheReadPerMillionUsd: 0,
  cacheWritePerMillionUsd: 0,
};
const MODEL = { name: 'scripted', price: PRICE };
const QUESTION = { toolUseId: 'q', toolName: 'ask_user', toolInput: { question: 'Which tide?' }, lifetimeMs: 60_000 };
const iso = (at: number) => new Date(at).toISOString();

/** A store with a webhook of its user for every event; `bodies` plans and answers what was sent since, by type. */
async function bodyFixture() {
  const fixture = await storeFixture();
  const events = WEBHOOK_EVENT_TYPES;
  const webhook = await fixture.store.webhooks.create(aWebhook({ userSeq: fixture.user.seq, events }));
  const run = async (turn = {}) => {
    await fixture.accept(turn);
    return (await fixture.claim())[0]!;
  };
  const bodies = async () => {
    while ((await fixture.store.deliveries.plan()).more);
    const pending = await fixture.store.deliveries.listPending(webhook.id, 99);
    return pending.map(({ body, eventType, eventId }) => {
      const value = JSON.parse(body) as JsonObject;
      expect(strictly(eventType, value)).toEqual(value);
      expect(fitsSchema(EVENT_BODIES[eventType], value)).toBe(true);
      expect([value['event_type'], value['event_id']]).toEqual([eventType, eventId]);
      return value;
    });
  };
  return { ...fixture, webhook, run, bodies };
}

/** What the shape reads of a body: the same, when there is nothing that the shape does not have. */
function strictly(type: WebhookEventType, value: JsonValue): unknown {
  return EVENT_BODIES[type].read(value, '');
}

function envelope(
  fixture: StoreFixture & { webhook: { id: number } },
  body: JsonObject | undefined,
  type: WebhookEventType,
) {
  return {
    schema_version: 'v1',
    event_type: type,
    event_id: body?.['event_id'],
    occurred_at: iso(fixture.clock.now()),
    is_test: false,
    user: { user_id: fixture.user.id, username: 'mara', full_name: 'Mara Vogt', department: 'Lab', role: 'admin' },
    webhook: { id: fixture.webhook.id, owner_scope: 'user' },
  };
}

test('session.completed, as a whole', {
  tags: ['§6.3-envelope', '§6.5-session.completed', '§9-schema-version', 'H9', 'H13'],
}, async () => {
  const fixture = await bodyFixture();
  const createdAt = fixture.clock.now();
  const run = await fixture.run();
  fixture.clock.advance(1_000);
  const startedAt = fixture.rows<{ at: number }>('SELECT started_at AS at FROM runs')[0]!.at;
  await fixture.store.runs.recordStep(fenceOf(run), aStep(), MODEL);
  await fixture.store.runs.finalize(fenceOf(run), {
    outcome: 'completed',
    answer: 'Twice a day.',
    stopReason: 'max_tokens',
  });
  await fixture.store.runs.settle(fenceOf(run));
  const files = [{ path: '/tides.md', size: 4, sha256: 'a'.repeat(64) }];
  await fixture.store.artifacts.recordArtifacts(run.seq, { files, skipped: {} });
  const [body, ...others] = await fixture.bodies();
  expect(others).toEqual([]);
  expect(body).toEqual({
    ...envelope(fixture, body, 'session.completed'),
    session: {
      session_id: run.sessionId,
      title: 'Tides',
      kind: 'api',
      status: 'completed',
      project_id: null,
      created_at: iso(createdAt),
      updated_at: iso(fixture.clock.now()),
    },
    run: {
      run_id: run.id,
      turn_id: '1',
      status: 'completed',
      schedule_mode: 'queued',
      scheduled_task_id: null,
      started_at: iso(startedAt),
      finished_at: iso(fixture.clock.now()),
    },
    summary: {
      has_artifacts: true,
      has_assistant_response: true,
      message_count: 2,
      assistant_message_count: 1,
      tool_execution_count: 0,
      total_cost_usd: 0.014,
      input_tokens: 10,
      output_tokens: 4,
      duration_ms: expect.any(Number),
    },
    meta: {
      trigger: 'run_finished',
      source: 'conversation',
      idempotency_key: body?.['event_id'],
      capability_profile_version: 1,
      model_stop_reason: 'max_tokens',
    },
  });
  const { duration_ms } = body!['summary'] as { duration_ms: number };
  expect(duration_ms).toBe(fixture.rows<{ ms: number }>('SELECT worked_ms AS ms FROM session_totals')[0]!.ms);
});

test.each(['failed', 'incomplete'] as const)(
  'a run that ends %s sends session.failed, with its error',
  { tags: ['§6.5-session.failed', 'H12'] },
  async (outcome) => {
    const fixture = await bodyFixture();
    const run = await fixture.run();
    const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
    await fixture.store.runs.finalize(fenceOf(run), { outcome, error });
    await fixture.store.runs.settle(fenceOf(run));
    const [body] = await fixture.bodies();
    expect(body).toMatchObject({
      ...envelope(fixture, body, 'session.failed'),
      session: { status: 'failed' },
      run: { run_id: run.id, status: 'failed', last_error: 'The model is gone.' },
      summary: { has_assistant_response: false, message_count: 1, assistant_message_count: 0 },
      meta: {
        trigger: 'run_failed',
        source: 'conversation',
        model_stop_reason: 'error',
        error_message: 'The model is gone.',
      },
    });
  },
);

test('a stopped run sends session.stopped, and has no files', { tags: ['§6.5-session.stopped', 'H12'] }, async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  await fixture.store.runs.stopSession(run.sessionSeq, 'operator_requested_stop');
  const [body] = await fixture.bodies();
  expect(body).toMatchObject({
    ...envelope(fixture, body, 'session.stopped'),
    session: { status: 'stopped' },
    run: { status: 'stopped', last_error: 'Stopped by the user.' },
    summary: { has_artifacts: false },
    meta: { trigger: 'run_stopped', model_stop_reason: 'stopped', error_message: 'Stopped by the user.' },
  });
});

test('a run that did nothing in its workspace surely left no files', async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run), { untouched: true });
  const bodies = await fixture.bodies();
  const ended = bodies.find(({ event_type: type }) => type === 'session.completed');
  expect(ended).toMatchObject({ summary: { has_artifacts: false } });
  const nothing = {
    status: 'ready',
    files_prefix: null,
    manifest_key: null,
    archive_key: null,
    archive_available: false,
  };
  const exported = bodies.find(({ event_type: type }) => type === 'workspace_export.completed');
  expect(exported).toMatchObject({ workspace_export: nothing, run: { run_id: run.id, turn_id: '1' } });
});

test('the status is what the run made of the session, also when the next one waits already', async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  await fixture.accept({ sessionId: run.sessionId });
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run));
  expect(fixture.rows('SELECT status FROM sessions')).toEqual([{ status: 'pending' }]);
  expect(await fixture.bodies()).toMatchObject([{ session: { status: 'completed' } }]);
});

test('user_input.requested and user_input.answered, as a whole', { tags: ['§6.5-user_input', 'H9'] }, async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  await fixture.store.runs.waitForUser(fenceOf(run), QUESTION);
  const asked = fixture.clock.now();
  const [{ id }] = fixture.rows<{ id: string }>('SELECT id FROM user_inputs') as [{ id: string }];
  fixture.clock.advance(500);
  await fixture.store.userInputs.answer(id, { tide: ['spring', null, 7] });
  const [first, second] = await fixture.bodies();
  const question = {
    request_id: id,
    session_id: run.sessionId,
    tool_name: 'ask_user',
    tool_input: { question: 'Which tide?' },
    expires_at: iso(asked + 60_000),
  };
  const { session } = first as { session: JsonValue };
  // It is shown as it was when it was asked, although it has been answered since.
  expect(first).toEqual({
    ...envelope(fixture, first, 'user_input.requested'),
    occurred_at: iso(asked),
    user_input: { ...question, status: 'pending', answers: null, answered_at: null },
    session,
    meta: { trigger: 'question_asked', source: 'user_input', idempotency_key: first?.['event_id'] },
  });
  expect(second).toEqual({
    ...envelope(fixture, second, 'user_input.answered'),
    user_input: {
      ...question,
      status: 'answered',
      answers: { tide: ['spring', null, 7] },
      answered_at: iso(fixture.clock.now()),
    },
    session,
    meta: { trigger: 'question_answered', source: 'user_input', idempotency_key: second?.['event_id'] },
  });
});

test('workbench.insight_status_changed, as a whole: reported, then moved', {
  tags: ['§6.5-workbench.insight_status_changed', 'H9', 'H14'],
}, async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  const text = { title: 'Low water', summary: 'The pier runs dry.', priority: 'high' } as const;
  const id = await fixture.store.insights.report(fenceOf(run), { callId: 'i', ...text });
  await fixture.store.insights.setStatus(id!, 'acknowledged', 'api');
  const [reported, moved] = await fixture.bodies();
  const source = 'workbench';
  expect(reported).toEqual({
    ...envelope(fixture, reported, 'workbench.insight_status_changed'),
    insight: { insight_id: id, ...text, previous_status: null, status: 'new' },
    meta: {
      trigger: 'insight_reported',
      source,
      idempotency_key: reported?.['event_id'],
      trigger_source: 'agent',
    },
  });
  expect(moved).toMatchObject({
    insight: { insight_id: id, ...text, previous_status: 'new', status: 'acknowledged' },
    meta: { trigger: 'insight_moved', source, trigger_source: 'api' },
  });
});

test.each([
  ['packed after the run', undefined],
  ['to be packed on request', { fileCount: 1, totalBytes: 3 }],
])(
  'workspace_export.completed of an archive %s, as a whole',
  { tags: ['§6.5-workspace_export.completed', 'H9', 'H15'] },
  async (_when, packedOnRequest) => {
    const fixture = await bodyFixture();
    const run = await fixture.run();
    await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await fixture.store.runs.settle(fenceOf(run));
    const files = [{ path: '/tides.csv', size: 3, sha256: 'a' }];
    const limit = packedOnRequest === undefined ? {} : { packedOnRequest };
    await fixture.store.artifacts.recordArtifacts(run.seq, { files, skipped: {}, ...limit });
    await fixture.store.artifacts.finishExport(run.sessionSeq, run.seq, { key: 'b', size: 9 });
    const [ended, exported] = await fixture.bodies();
    const { session, run: endedRun } = ended as { session: JsonValue; run: JsonValue };
    expect(exported).toEqual({
      ...envelope(fixture, exported, 'workspace_export.completed'),
      workspace_export: {
        status: 'ready',
        files_prefix: `sessions/${run.sessionId}/workspace/`,
        manifest_key: `sessions/${run.sessionId}/manifest.json`,
        archive_key: `sessions/${run.sessionId}/workspace.zip`,
        archive_available: true,
      },
      session,
      run: endedRun,
      meta: {
        trigger: 'export_finished',
        source: 'workspace_export',
        idempotency_key: exported?.['event_id'],
        capability_profile_version: 1,
      },
    });
  },
);

test.each(WEBHOOK_EVENT_TYPES)('a made-up %s has the shape of a real one, and says that it is a test', async (type) => {
  const { user, clock } = await storeFixture();
  const facts = sampleFacts(type, { user }, clock.now());
  const body = JSON.parse(renderBody(facts, { id: 7, ownerScope: 'system' })) as JsonObject;
  expect(strictly(type, body)).toEqual(body);
  expect(fitsSchema(EVENT_BODIES[type], body)).toBe(true);
  expect(body).toMatchObject({
    is_test: true,
    event_type: type,
    webhook: { id: 7, owner_scope: 'system' },
    meta: { trigger: 'test', source: WEBHOOK_EVENTS[type].source, idempotency_key: facts.eventId },
  });
  if ('session' in body) expect(body['session']).toMatchObject({ kind: 'chat', project_id: null });
});

test('a test of a real session has what such an event of it would have', async () => {
  const fixture = await bodyFixture();
  const run = await fixture.run();
  await fixture.store.insights.report(fenceOf(run), { callId: 'i', title: 'Low water', summary: '', priority: 'low' });
  await fixture.store.runs.waitForUser(fenceOf(run), QUESTION);
  const [{ id }] = fixture.rows<{ id: string }>('SELECT id FROM user_inputs') as [{ id: string }];
  await fixture.store.userInputs.answer(id, 'spring');
  const [resumed] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(resumed!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(resumed!));
  await fixture.store.artifacts.recordArtifacts(run.seq, {
    files: [{ path: '/a', size: 1, sha256: 'a' }],
    skipped: {},
  });
  await fixture.store.artifacts.finishExport(run.sessionSeq, run.seq, { key: 'b', size: 9 });
  const real = new Map((await fixture.bodies()).map((body) => [body['event_type'], body]));
  for (const type of WEBHOOK_EVENT_TYPES) {
    const facts = await fixture.store.deliveries.findTestFacts(run.sessionSeq, type);
    const rendered = renderBody(sampleFacts(type, facts, fixture.clock.now()), {
      id: fixture.webhook.id,
      ownerScope: 'user',
    });
    const body = JSON.parse(rendered) as JsonObject;
    expect(strictly(type, body)).toEqual(body);
    const { event_id: _, is_test: isTest, meta, session, ...own } = body;
    expect([isTest, (meta as JsonObject)['trigger']]).toEqual([true, 'test']);
    if (session !== undefined) expect(session).toMatchObject({ session_id: run.sessionId });
    const was = real.get(type);
    if (was === undefined) continue;
    expect(own).toEqual(Object.fromEntries(Object.keys(own).map((name) => [name, was[name]])));
  }
  expect(real.size).toBe(5);
});

test('text of every kind is the same after it was sent', async () => {
  const fixture = await bodyFixture();
  const title = 'é 潮 🌊 \u2028 \u0001 </script> "\\" ﷽ a\u0301';
  const run = await fixture.run({ title });
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  const [body] = await fixture.bodies();
  expect(body).toMatchObject({ session: { title } });
});
