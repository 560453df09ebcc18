// What several bodies say of a session and of the run that ended in it (§6.5).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { RunFacts, SessionFacts } from '../../domain/webhooks/event-facts.ts';

/**
 * How often the capability configuration of a session has changed, from 1 (H13). It is fixed when the session is opened,
 * so this is always the first.
 */
export const CAPABILITY_PROFILE_VERSION = 1;

export function sessionFields(session: SessionFacts) {
  return {
    session_id: session.id,
    title: session.title,
    kind: session.kind,
    status: session.status,
    project_id: session.projectId,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

/** `turn_id` is the id of the run's user message, as text (H12). */
export function runFields(run: RunFacts) {
  return {
    run_id: run.id,
    turn_id: String(run.turnId),
    status: run.status,
    schedule_mode: run.scheduleMode,
    scheduled_task_id: run.scheduledTaskId,
    started_at: isoTimeOrNull(run.startedAt),
    finished_at: isoTimeOrNull(run.finishedAt),
  };
}
