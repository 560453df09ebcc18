// What each event of the journal is on the wire: one table for everything that leaves the daemon event by event.
import { isoTime } from '../domain/clock.ts';
import { INSIGHT_PRIORITIES, INSIGHT_STATUSES } from '../domain/insight.ts';
import type { EventPayloads, EventType, JournalEvent } from '../domain/journal-event.ts';
import { SCHEDULE_MODES, STOP_REASONS } from '../domain/run.ts';
import { STOP_CAUSES } from '../domain/stop.ts';
import type { Usage } from '../domain/usage.ts';
import { json, jsonObject, object, tagged } from './composites.ts';
import { runError } from './run-error.ts';
import { boolean, integer, oneOf, string, time, uuid } from './scalars.ts';
import { named, nullable, optional, type OptionalShape, type Shape, type Static } from './shape.ts';

const count = integer({ from: 0 });
const scheduleMode = oneOf(SCHEDULE_MODES);
const stopReason = oneOf(STOP_REASONS);
const stopCause = oneOf(STOP_CAUSES);

/** Tokens as the model server counted them; `input_tokens` includes the cached ones. */
const usage = object({
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
});

const QUESTION = { request_id: uuid, tool_use_id: string };
const COLLECTED = { run_id: uuid, file_count: count };
const FAILED = { run_id: uuid, message: string };

type SnakeCase<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : S;

/** Names of our own are written in the wire's way; what came from models, tools and users stays as it is. */
type OnWire<P> = { readonly [N in keyof P & string as SnakeCase<N>]: P[N] extends Usage ? OnWire<Usage> : P[N] };

type ShapesOf<W> = { readonly [N in keyof W]-?: undefined extends W[N] ? OptionalShape<W[N]> : Shape<W[N]> };

/** The payload of each event (§2.14). A field that isn't called as in `EventPayloads` doesn't compile. */
const PAYLOADS = {
  'run.queued': { schedule_mode: scheduleMode, prompt_tokens: optional(count) },
  'run.started': { attempt: count, model: string },
  'run.step': { step: count, input_tokens: count, output_tokens: count },
  'run.result': { structured_output: json },
  'run.finalizing': { stop_reason: nullable(stopReason), usage },
  'run.done': { status: oneOf(['completed']) },
  'run.failed': { status: oneOf(['failed', 'incomplete']), error: runError },
  'run.stopped': { reason: stopCause },
  'run.resumed': { resumes: count },
  content_block_start: { index: count },
  content_block_delta: { index: count, text: string },
  content_block_stop: { index: count },
  tool_use: { step: count, tool_use_id: string, name: string, input: jsonObject },
  tool_result: { tool_use_id: string, name: string, ok: boolean, preview: string, duration_ms: count },
  message: { message_id: count, usage, structured_output: optional(json) },
  /** `expires_at` is epoch milliseconds. */
  'user_input.requested': { ...QUESTION, tool_name: string, expires_at: count },
  'user_input.answered': { ...QUESTION, answers: json },
  'user_input.expired': QUESTION,
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
  'artifacts.ready': { ...COLLECTED, total_size: count },
  'artifacts.failed': FAILED,
  'workspace_export.completed': { ...COLLECTED, archive_size: count },
  'workspace_export.failed': FAILED,
  'session.deleted': { title: string },
} as const satisfies { readonly [T in EventType]: ShapesOf<OnWire<EventPayloads[T]>> };

const HEAD = {
  /** The journal's order, and the id of the server-sent event. */
  id: integer({ from: 1 }),
  session_id: uuid,
  run_id: uuid,
  /** Counts the events of one run from 1. */
  stream_seq: nullable(count),
  created_at: time,
};

type Payloads = typeof PAYLOADS;
type EventFields = {
  readonly [T in EventType]: typeof HEAD & { readonly payload: ReturnType<typeof object<Payloads[T]>> };
};

/** An event of a run. */
export const journalEvent = named('JournalEvent', tagged('type', mapPayloads()));

export type JournalEventWire = Static<typeof journalEvent>;

function mapPayloads(): EventFields {
  const variants = Object.entries(PAYLOADS).map(([type, fields]) => [type, { ...HEAD, payload: object(fields) }]);
  return Object.fromEntries(variants) as EventFields;
}

/** An event as it is sent. */
export function renderJournalEvent(
  { id, type, streamSeq, createdAt, payload }: JournalEvent,
  run: { readonly id: string; readonly sessionId: string },
): JournalEventWire {
  return {
    id,
    type,
    session_id: run.sessionId,
    run_id: run.id,
    stream_seq: streamSeq,
    created_at: isoTime(createdAt),
    payload: renderPayload(payload),
  } as JournalEventWire;
}

function renderPayload(payload: JournalEvent['payload']): object {
  const { usage, ...rest } = payload as { readonly usage?: Usage };
  return { ...inSnakeCase(rest), ...(usage !== undefined && { usage: inSnakeCase(usage) }) };
}

function inSnakeCase(fields: object): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCased(name), value as unknown]));
}

const snakeCased = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
