// Runs and the queue as administrators read them.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { reportedStatus } from '../../domain/sessions/run.ts';
import type { QueueEntry, QueueReport } from '../../operations/turns/queue.ts';
import type { RunRecord } from '../../store/runs/run-records.ts';
import type { QueueEntryWire, QueueWire } from '../../wire/sessions/queue.ts';
import type { RunWire } from '../../wire/sessions/run.ts';

export function renderRunRecord(run: RunRecord): RunWire {
  return {
    run_id: run.id,
    session_id: run.sessionId,
    user_id: run.userId,
    username: run.username,
    key_id: run.keyId,
    status: reportedStatus(run.status),
    waiting_for_user: run.status === 'waiting',
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

export function renderQueue({ items, total, open, slots, busy, waitingForUser }: QueueReport): QueueWire {
  return { items: items.map(renderEntry), total, waiting_for_user: waitingForUser, claiming: open, slots, busy };
}

function renderEntry(entry: QueueEntry): QueueEntryWire {
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
