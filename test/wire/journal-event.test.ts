// Every event of the journal has its place on the wire, and what is sent reads back as it was.
import { expect, test } from 'vitest';
import { isoTime } from '../../src/domain/clock.ts';
import type { EventPayloads, EventType, JournalEvent } from '../../src/domain/sessions/journal-event.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import { journalEvent, renderJournalEvent, renderOfficeEvent } from '../../src/wire/journal-event.ts';

const ID = '0198c0de-0000-7000-8000-000000000001';
const RUN = { runId: ID, sessionId: ID.replace('1', '2') };
const QUESTION = { requestId: ID, toolUseId: 'a', toolName: 'ask_user', expiresAt: 1_000 };
const USAGE = { inputTokens: 4, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 1 };

const PAYLOADS: { readonly [T in EventType]: EventPayloads[T] } = {
  'run.queued': { scheduleMode: 'immediate', promptTokens: 7 },
  'run.started': { attempt: 1, model: 'm' },
  'run.step': { step: 1, inputTokens: 2, outputTokens: 3, textPreview: 'Hi', calls: [{ id: 'a', name: 'shell' }] },
  'run.result': { structuredOutput: { camelCase: 1 } },
  result_block_start: {},
  result_block_stop: {},
  'run.finalizing': { stopReason: null, usage: USAGE },
  'run.done': { status: 'completed' },
  'run.failed': { status: 'incomplete', error: { type: 'structured_output_error', message: 'No.', retryable: true } },
  'run.stopped': { reason: 'session_deleted' },
  'run.resumed': { resumes: 1 },
  content_block_start: { index: 0 },
  content_block_delta: { index: 0, text: 'Hi' },
  content_block_stop: { index: 0 },
  tool_use: { step: 1, toolUseId: 'a', name: 'shell', input: { camelCase: 'date' } },
  tool_result: { toolUseId: 'a', name: 'shell', ok: true, output: 'x', durationMs: 5 },
  message: { messageId: 9, role: 'assistant', textPreview: 'Hi', usage: USAGE, structuredOutput: null },
  'user_input.requested': QUESTION,
  'user_input.answered': { ...QUESTION, answers: { camelCase: 'yes' } },
  'user_input.expired': { ...QUESTION, expiresAt: null },
  'insight.status_changed': {
    runId: ID,
    insightId: ID,
    title: 't',
    summary: 's',
    priority: 'high',
    status: 'resolved',
    previous: 'new',
    source: 'api',
  },
  'run.compacted': { step: 1, characters: 2 },
  'model_wait.started': { model: 'm', agent: null, message: 'It is down.', patienceMs: 120_000 },
  'model_wait.ended': { model: 'm', agent: 'scout', answered: true, waitedMs: 7 },
  'artifacts.ready': { runId: ID, fileCount: 1, totalSize: 2 },
  'artifacts.failed': { runId: ID, message: 'No.' },
  'workspace_export.completed': { runId: ID, fileCount: 1, archiveSize: 2 },
  'workspace_export.failed': { runId: ID, message: 'No.' },
  'session.deleted': { title: 't' },
  'scheduled_task.run_status_changed': {
    runId: ID,
    taskId: ID,
    stepId: ID,
    name: 'Tides',
    cron: '0 7 * * *',
    timezone: 'Europe/Zurich',
    status: 'failed',
    previous: 'running',
    lastError: 'No.',
  },
  'publish_page.published': {
    page: { id: 7, name: 'Tides', key: 'k', origin: 'scheduled_task', category: null, isOnBoard: true },
    version: { no: 2, entryPath: '/index.html', shareCode: 's', trigger: 'auto', reason: null },
  },
  'publish_page.failed': {
    page: { id: 7, name: 'Tides', key: 'k' },
    job: { id: ID, runId: ID, scheduledTaskId: ID, attemptCount: 3, maxAttempts: 3, message: 'No.' },
  },
};

const sent = (type: EventType, payload: object): JsonValue => {
  const event = { id: 5, sessionSeq: 1, runSeq: 2, streamSeq: 3, createdAt: 0, type, payload } as JournalEvent;
  return JSON.parse(JSON.stringify(renderJournalEvent(event, RUN))) as JsonValue;
};

test.each(Object.entries(PAYLOADS))('%s is sent with all that it carries', { tags: ['G8'] }, (type, payload) => {
  const event = sent(type as EventType, payload);
  // A reader drops what its shape doesn't have, and refuses what lacks a field.
  expect(journalEvent.read(event, '')).toEqual(event);
});

test('names of our own are in snake case, the words of models, tools and users as they are', () => {
  expect(sent('tool_use', PAYLOADS.tool_use)).toEqual({
    id: 5,
    type: 'tool_use',
    session_id: RUN.sessionId,
    run_id: RUN.runId,
    stream_seq: 3,
    created_at: isoTime(0),
    payload: { tool_use_id: 'a', name: 'shell', input: { camelCase: 'date' } },
  });
  expect(sent('run.finalizing', PAYLOADS['run.finalizing'])).toMatchObject({
    payload: {
      stop_reason: null,
      usage: { input_tokens: 4, output_tokens: 3, cache_read_tokens: 2, cache_write_tokens: 1 },
    },
  });
  expect(sent('user_input.answered', PAYLOADS['user_input.answered'])).toMatchObject({
    payload: { answers: { camelCase: 'yes' } },
  });
});

const payloadOf = (type: EventType, payload: object) => (sent(type, payload) as { readonly payload: object }).payload;

test.each<[EventType, object]>([
  ['run.step', { step: 1, text_preview: 'Hi', calls: [{ id: 'a', name: 'shell' }] }],
  ['message', { message_id: 9, role: 'assistant', text_preview: 'Hi' }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }],
  ['tool_result', { tool_use_id: 'a', ok: true, output: 'x', duration_ms: 5 }],
  ['run.failed', { error: { type: 'structured_output_error', message: 'No.', retryable: true } }],
  ['run.stopped', { reason: 'session_deleted' }],
  ['user_input.requested', { request_id: ID, tool_use_id: 'a', tool_name: 'ask_user', expires_at: isoTime(1_000) }],
  [
    'user_input.answered',
    {
      request_id: ID,
      tool_use_id: 'a',
      tool_name: 'ask_user',
      expires_at: isoTime(1_000),
      answers: { camelCase: 'yes' },
    },
  ],
  [
    'scheduled_task.run_status_changed',
    {
      scheduled_task_id: ID,
      scheduled_task_step_id: ID,
      name: 'Tides',
      cron: '0 7 * * *',
      timezone: 'Europe/Zurich',
      status: 'failed',
      previous: 'running',
      last_error: 'No.',
    },
  ],
  [
    'publish_page.published',
    {
      publish_page: {
        publish_center_id: 7,
        name: 'Tides',
        publish_key: 'k',
        source_type: 'scheduled_task',
        category: null,
        public_to_board_enabled: true,
      },
      version: { version_no: 2, entry_path: '/index.html', share_code: 's', trigger_type: 'auto', reason: null },
    },
  ],
  [
    'publish_page.failed',
    {
      publish_page: { publish_center_id: 7, name: 'Tides', publish_key: 'k' },
      job: {
        job_id: ID,
        run_id: ID,
        scheduled_task_id: ID,
        attempt_count: 3,
        max_attempts: 3,
        last_error: 'No.',
      },
    },
  ],
])('the payload of %s is as promised, and nothing more (G18, G23)', { tags: ['G18'] }, (type, payload) => {
  expect(payloadOf(type, PAYLOADS[type])).toEqual(payload);
});

test('a large input of a tool is cut at 4 KB, and says so (G18)', { tags: ['G18'] }, () => {
  const input = { path: 'a.md', content: 'ä'.repeat(10_000) };
  const { input: cut, truncated } = payloadOf('tool_use', { ...PAYLOADS.tool_use, input }) as {
    readonly input: typeof input;
    readonly truncated?: true;
  };
  expect(truncated).toBe(true);
  expect(cut.path).toBe('a.md');
  expect(cut.content).toMatch(/^ä+$/);
  const size = Buffer.byteLength(JSON.stringify(cut));
  expect(size).toBeGreaterThan(4_090);
  expect(size).toBeLessThanOrEqual(4_096);
});

test('an event of the session names its run, and has no place in the sequence of the run (G22)', {
  tags: ['G22'],
}, () => {
  const event = { id: 5, sessionSeq: 1, runSeq: null, streamSeq: null, createdAt: 0 };
  const place = { sessionId: RUN.sessionId, runId: null };
  const artifacts = { ...event, type: 'artifacts.ready', payload: PAYLOADS['artifacts.ready'] } as const;
  expect(renderOfficeEvent(artifacts, place)).toEqual({
    id: 5,
    type: 'artifacts.ready',
    session_id: RUN.sessionId,
    run_id: ID,
    stream_seq: null,
    payload: { run_id: ID, file_count: 1, total_size: 2 },
  });
  const deleted = { ...event, type: 'session.deleted', payload: { title: 't' } } as const;
  expect(renderOfficeEvent(deleted, place)).toMatchObject({ run_id: null, stream_seq: null });
});
