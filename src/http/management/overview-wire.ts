// Sessions, runs and the queue as administrators read them, and the journal's events as they are.
import { isoTime } from '../../domain/clock.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import type { Run } from '../../domain/run.ts';
import type { QueueEntry, QueueReport } from '../../operations/sessions/oversee.ts';
import type { RunRecord, SessionRecord } from '../../store/sessions/overview.ts';
import { frameOf, type WireEvent } from '../conversations/event-frame.ts';
import { type ErrorFacts, errorBody } from '../frame/render-error.ts';

export function renderSessionRecord(session: SessionRecord): object {
  return {
    session_id: session.id,
    title: session.title,
    status: session.status,
    kind: session.kind,
    user_id: session.userId,
    username: session.username,
    key_id: session.keyId,
    project_id: session.projectId,
    stop:
      session.stop === null
        ? null
        : {
            termination_reason: session.stop.cause,
            requested_at: isoTime(session.stop.requestedAt),
            confirmed_at: isoTimeOrNull(session.stop.confirmedAt),
          },
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

export function renderRunRecord(run: RunRecord): object {
  return {
    run_id: run.id,
    session_id: run.sessionId,
    user_id: run.userId,
    username: run.username,
    key_id: run.keyId,
    status: run.status,
    waiting_for_user: run.waiting,
    protocol: run.protocol,
    schedule_mode: run.scheduleMode,
    model: run.model,
    attempt: run.attempt,
    resumes: run.resumes,
    input_tokens: run.usage.inputTokens,
    output_tokens: run.usage.outputTokens,
    cost_usd: run.costUsd,
    stop_reason: run.stopReason,
    error: run.error,
    created_at: isoTime(run.createdAt),
    started_at: isoTimeOrNull(run.startedAt),
    finished_at: isoTimeOrNull(run.finishedAt),
  };
}

export function renderQueue({ items, total, open, slots, busy, waitingForUser }: QueueReport): object {
  return { items: items.map(renderEntry), total, waiting_for_user: waitingForUser, claiming: open, slots, busy };
}

function renderEntry(entry: QueueEntry): object {
  return {
    run_id: entry.runId,
    session_id: entry.sessionId,
    username: entry.username,
    key_id: entry.keyId,
    schedule_mode: entry.scheduleMode,
    reason: entry.reason,
    behind_run_id: entry.behindRunId,
    waiting_ms: entry.waitingMs,
    created_at: isoTime(entry.createdAt),
  };
}

const rendered = new WeakMap<JournalEvent, Buffer>();

/** An event of a run as it stands in the journal, made once however many readers there are. */
export function renderJournalEvent(event: JournalEvent, run: Run): Buffer {
  const known = rendered.get(event);
  if (known !== undefined) return known;
  const frame = frameOf(journalEvent(event, run), event.id);
  rendered.set(event, frame);
  return frame;
}

function journalEvent(event: JournalEvent, run: Run): WireEvent {
  return {
    name: event.type,
    data: {
      id: event.id,
      type: event.type,
      session_id: run.sessionId,
      run_id: run.id,
      stream_seq: event.streamSeq,
      created_at: isoTime(event.createdAt),
      payload: renderPayload(event.payload),
    },
  };
}

/** Ends a stream of such events early, while the run goes on. */
export function journalError(facts: ErrorFacts): WireEvent {
  return { name: 'error', data: errorBody(facts, 'envelope') };
}

/** Names of our own are written in the wire's way; what came from models, tools and users stays as it is. */
function renderPayload(payload: JournalEvent['payload']): object {
  const { usage, ...rest } = payload as { readonly usage?: object };
  return { ...inSnakeCase(rest), ...(usage !== undefined && { usage: inSnakeCase(usage) }) };
}

function inSnakeCase(fields: object): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCased(name), value as unknown]));
}

const snakeCased = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
