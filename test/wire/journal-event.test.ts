// Every event of the journal has its place on the wire, and what is sent reads back as it was.
import { expect, test } from 'vitest';
import { isoTime } from '../../src/domain/clock.ts';
import type { EventPayloads, EventType, JournalEvent } from '../../src/domain/journal-event.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import { journalEvent, renderJournalEvent } from '../../src/wire/journal-event.ts';

const ID = '0198c0de-0000-7000-8000-000000000001';
const RUN = { id: ID, sessionId: ID.replace('1', '2') };
const USAGE = { inputTokens: 4, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 1 };

const PAYLOADS: { readonly [T in EventType]: EventPayloads[T] } = {
  'run.queued': { scheduleMode: 'immediate', promptTokens: 7 },
  'run.started': { attempt: 1, model: 'm' },
  'run.step': { step: 1, inputTokens: 2, outputTokens: 3 },
  'run.result': { structuredOutput: { camelCase: 1 } },
  'run.finalizing': { stopReason: null, usage: USAGE },
  'run.done': { status: 'completed' },
  'run.failed': { status: 'incomplete', error: { type: 'structured_output_error', message: 'No.', retryable: true } },
  'run.stopped': { reason: 'session_deleted' },
  'run.resumed': { resumes: 1 },
  content_block_start: { index: 0 },
  content_block_delta: { index: 0, text: 'Hi' },
  content_block_stop: { index: 0 },
  tool_use: { step: 1, toolUseId: 'a', name: 'shell', input: { camelCase: 'date' } },
  tool_result: { toolUseId: 'a', name: 'shell', ok: true, preview: 'x', durationMs: 5 },
  message: { messageId: 9, usage: USAGE, structuredOutput: null },
  'user_input.requested': { requestId: ID, toolUseId: 'a', toolName: 'ask_user', expiresAt: 1_000 },
  'user_input.answered': { requestId: ID, toolUseId: 'a', answers: { camelCase: 'yes' } },
  'user_input.expired': { requestId: ID, toolUseId: 'a' },
  'insight.status_changed': {
    insightId: ID,
    title: 't',
    summary: 's',
    priority: 'high',
    status: 'resolved',
    previous: 'new',
    source: 'api',
  },
  'run.compacted': { step: 1, characters: 2 },
  'artifacts.ready': { runId: ID, fileCount: 1, totalSize: 2 },
  'artifacts.failed': { runId: ID, message: 'No.' },
  'workspace_export.completed': { runId: ID, fileCount: 1, archiveSize: 2 },
  'workspace_export.failed': { runId: ID, message: 'No.' },
  'session.deleted': { title: 't' },
};

const sent = (type: EventType, payload: object): JsonValue => {
  const event = { id: 5, sessionSeq: 1, runSeq: 2, streamSeq: 3, createdAt: 0, type, payload } as JournalEvent;
  return JSON.parse(JSON.stringify(renderJournalEvent(event, RUN))) as JsonValue;
};

test.each(Object.entries(PAYLOADS))('%s is sent with all that it carries', (type, payload) => {
  const event = sent(type as EventType, payload);
  // A reader drops what its shape doesn't have, and refuses what lacks a field.
  expect(journalEvent.read(event, '')).toEqual(event);
});

test('names of our own are in snake case, the words of models, tools and users as they are', () => {
  expect(sent('tool_use', PAYLOADS.tool_use)).toEqual({
    id: 5,
    type: 'tool_use',
    session_id: RUN.sessionId,
    run_id: RUN.id,
    stream_seq: 3,
    created_at: isoTime(0),
    payload: { step: 1, tool_use_id: 'a', name: 'shell', input: { camelCase: 'date' } },
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
