// The payload of each event of the journal on the wire (§2.14, G18, G23): its shape, and what it is made from.
import { isoTime } from '../domain/clock.ts';
import { excerptOf } from '../domain/excerpt.ts';
import { INSIGHT_PRIORITIES, INSIGHT_STATUSES } from '../domain/sessions/insight.ts';
import {
  type EventPayloads,
  type EventType,
  type JournalEvent,
  MAX_PREVIEW_BYTES,
} from '../domain/sessions/journal-event.ts';
import { TASK_RUN_STATUSES } from '../domain/schedules/run-status.ts';
import { SCHEDULE_MODES, STOP_REASONS } from '../domain/sessions/run.ts';
import { STOP_CAUSES } from '../domain/sessions/stop.ts';
import type { Usage } from '../domain/sessions/usage.ts';
import { array, json, jsonObject, object } from './shapes/composites.ts';
import { runError } from './run-error.ts';
import { boolean, constant, integer, oneOf, string, time, uuid } from './shapes/scalars.ts';
import { type AnyShape, nullable, optional, type Static } from './shapes/shape.ts';

const count = integer({ from: 0 });

/** Tokens as the model server counted them; `input_tokens` includes the cached ones. */
const usage = object({
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
});

const CALL = { tool_use_id: string };
/** What was cut at 4 KB says so. */
const CUT = { truncated: optional(constant(true)) };
const QUESTION = { request_id: uuid, ...CALL, tool_name: string, expires_at: time };
/** Events of earlier versions don't say until when their question waited. */
const SETTLED = { ...QUESTION, expires_at: nullable(time) };
/** `agent`: the sub-agent that waits, if it is one. */
const ASKED_MODEL = { model: string, agent: nullable(string) };
const COLLECTED = { run_id: uuid, file_count: count };
const FAILED = { run_id: uuid, message: string };
const PAGE = { publish_center_id: integer({ from: 1 }), name: string, publish_key: string };

/** The fields of each event's payload. */
export const PAYLOADS = {
  'run.queued': { schedule_mode: oneOf(SCHEDULE_MODES), prompt_tokens: optional(count) },
  'run.started': { attempt: count, model: string },
  'run.step': { step: count, text_preview: string, calls: array(object({ id: string, name: string })) },
  'run.result': { structured_output: json },
  result_block_start: {},
  result_block_stop: {},
  'run.finalizing': { stop_reason: nullable(oneOf(STOP_REASONS)), usage },
  'run.done': { status: oneOf(['completed']) },
  'run.failed': { error: runError },
  'run.stopped': { reason: oneOf(STOP_CAUSES) },
  'run.resumed': { resumes: count },
  content_block_start: { index: count },
  content_block_delta: { index: count, delta: object({ type: oneOf(['text_delta']), text: string }) },
  content_block_stop: { index: count },
  tool_use: { ...CALL, name: string, input: jsonObject, ...CUT },
  tool_result: { ...CALL, ok: boolean, output: string, ...CUT, duration_ms: count },
  message: { message_id: count, role: oneOf(['assistant']), text_preview: string },
  'user_input.requested': QUESTION,
  'user_input.answered': { ...SETTLED, answers: json },
  'user_input.expired': SETTLED,
  'insight.status_changed': {
    insight_id: uuid,
    title: string,
    summary: string,
    priority: oneOf(INSIGHT_PRIORITIES),
    status: oneOf(INSIGHT_STATUSES),
    previous: nullable(oneOf(INSIGHT_STATUSES)),
    source: oneOf(['agent', 'user', 'api']),
  },
  'run.compacted': { step: count, characters: count },
  'model_wait.started': { ...ASKED_MODEL, message: string, patience_ms: count },
  'model_wait.ended': { ...ASKED_MODEL, answered: boolean, waited_ms: count },
  'artifacts.ready': { ...COLLECTED, total_size: count },
  'artifacts.failed': FAILED,
  'workspace_export.completed': { ...COLLECTED, archive_size: nullable(count) },
  'workspace_export.failed': FAILED,
  'session.deleted': { title: string },
  'scheduled_task.run_status_changed': {
    scheduled_task_id: uuid,
    scheduled_task_step_id: uuid,
    name: string,
    cron: string,
    timezone: string,
    status: oneOf(TASK_RUN_STATUSES),
    previous: nullable(oneOf(TASK_RUN_STATUSES)),
    last_error: nullable(string),
  },
  'publish_page.published': {
    publish_page: object({
      ...PAGE,
      source_type: oneOf(['existing_session', 'scheduled_task']),
      category: nullable(string),
      public_to_board_enabled: boolean,
    }),
    version: object({
      version_no: integer({ from: 1 }),
      entry_path: string,
      share_code: string,
      trigger_type: oneOf(['manual', 'auto']),
      reason: nullable(string),
    }),
  },
  'publish_page.failed': {
    publish_page: object(PAGE),
    job: object({
      job_id: nullable(uuid),
      run_id: nullable(uuid),
      scheduled_task_id: nullable(uuid),
      attempt_count: count,
      max_attempts: count,
      last_error: string,
    }),
  },
} as const satisfies Readonly<Record<EventType, Readonly<Record<string, AnyShape>>>>;

/** The payload of a type of event. */
export type PayloadWire<T extends EventType> = Static<ReturnType<typeof object<(typeof PAYLOADS)[T]>>>;

const same = <P>(payload: P): P => payload;

/** What is made of each. */
const RENDERERS: { readonly [T in EventType]: (payload: EventPayloads[T]) => PayloadWire<T> } = {
  'run.queued': ({ scheduleMode, promptTokens }) => ({
    schedule_mode: scheduleMode,
    ...(promptTokens !== undefined && { prompt_tokens: promptTokens }),
  }),
  'run.started': ({ attempt, model }) => ({ attempt, model }),
  'run.step': ({ step, textPreview, calls }) => ({ step, text_preview: textPreview, calls }),
  'run.result': ({ structuredOutput }) => ({ structured_output: structuredOutput }),
  result_block_start: same,
  result_block_stop: same,
  'run.finalizing': (payload) => ({ stop_reason: payload.stopReason, usage: renderUsage(payload.usage) }),
  'run.done': same,
  'run.failed': ({ error }) => ({ error }),
  'run.stopped': ({ reason }) => ({ reason }),
  'run.resumed': same,
  content_block_start: same,
  content_block_delta: ({ index, text }) => ({ index, delta: { type: 'text_delta', text } }),
  content_block_stop: same,
  tool_use: ({ toolUseId, name, input }) => {
    const { value, isCut } = excerptOf(input, MAX_PREVIEW_BYTES);
    return { tool_use_id: toolUseId, name, input: value, ...(isCut && { truncated: true }) };
  },
  tool_result: ({ toolUseId, ok, output, truncated, durationMs }) => ({
    tool_use_id: toolUseId,
    ok,
    output,
    ...(truncated && { truncated }),
    duration_ms: durationMs,
  }),
  message: ({ messageId, role, textPreview }) => ({ message_id: messageId, role, text_preview: textPreview }),
  'user_input.requested': renderQuestion,
  'user_input.answered': (payload) => ({ ...renderSettled(payload), answers: payload.answers }),
  'user_input.expired': renderSettled,
  'insight.status_changed': ({ runId: _runId, insightId, ...fields }) => ({ insight_id: insightId, ...fields }),
  'run.compacted': same,
  'model_wait.started': ({ patienceMs, ...wait }) => ({ ...wait, patience_ms: patienceMs }),
  'model_wait.ended': ({ waitedMs, ...wait }) => ({ ...wait, waited_ms: waitedMs }),
  'artifacts.ready': ({ totalSize, ...collected }) => ({ ...renderCollected(collected), total_size: totalSize }),
  'artifacts.failed': renderFailed,
  'workspace_export.completed': ({ archiveSize, ...collected }) => ({
    ...renderCollected(collected),
    archive_size: archiveSize,
  }),
  'workspace_export.failed': renderFailed,
  'session.deleted': same,
  'scheduled_task.run_status_changed': ({ runId: _runId, taskId, stepId, lastError, ...fields }) => ({
    scheduled_task_id: taskId,
    scheduled_task_step_id: stepId,
    ...fields,
    last_error: lastError,
  }),
  'publish_page.published': ({ page, version }) => ({
    publish_page: {
      ...renderPage(page),
      source_type: page.origin,
      category: page.category,
      public_to_board_enabled: page.isOnBoard,
    },
    version: {
      version_no: version.no,
      entry_path: version.entryPath,
      share_code: version.shareCode,
      trigger_type: version.trigger,
      reason: version.reason,
    },
  }),
  'publish_page.failed': ({ page, job }) => ({
    publish_page: renderPage(page),
    job: {
      job_id: job.id,
      run_id: job.runId,
      scheduled_task_id: job.scheduledTaskId,
      attempt_count: job.attemptCount,
      max_attempts: job.maxAttempts,
      last_error: job.message,
    },
  }),
};

/** The payload of an event as it is sent. */
export function renderPayload({ type, payload }: Pick<JournalEvent, 'type' | 'payload'>): object {
  return (RENDERERS[type] as (payload: object) => object)(payload);
}

function renderUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Static<typeof usage> {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens,
  };
}

function renderQuestion(payload: EventPayloads['user_input.requested']): PayloadWire<'user_input.requested'> {
  const { requestId, toolUseId, toolName, expiresAt } = payload;
  return { request_id: requestId, tool_use_id: toolUseId, tool_name: toolName, expires_at: isoTime(expiresAt) };
}

function renderSettled({ expiresAt, ...question }: EventPayloads['user_input.expired']) {
  const rendered = renderQuestion({ ...question, expiresAt: expiresAt ?? 0 });
  return { ...rendered, expires_at: expiresAt === null ? null : rendered.expires_at };
}

function renderCollected({ runId, fileCount }: { readonly runId: string; readonly fileCount: number }) {
  return { run_id: runId, file_count: fileCount };
}

function renderFailed({ runId, message }: EventPayloads['artifacts.failed']): PayloadWire<'artifacts.failed'> {
  return { run_id: runId, message };
}

function renderPage({ id, name, key }: EventPayloads['publish_page.failed']['page']) {
  return { publish_center_id: id, name, publish_key: key };
}
