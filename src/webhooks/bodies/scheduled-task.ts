// The body of scheduled_task.run_status_changed (§3.5).
import type { EventSubjectOf, SessionFacts } from '../../domain/webhooks/event-facts.ts';
import { sessionFields } from './session-fields.ts';

export function movedTaskRun(
  { task, run }: EventSubjectOf<'scheduled_task.run_status_changed'>,
  session: SessionFacts,
) {
  return {
    scheduled_task: { scheduled_task_id: task.id, name: task.name, cron: task.cron, timezone: task.timezone },
    run: {
      run_id: run.id,
      session_id: session.id,
      status: run.status,
      previous_status: run.previousStatus,
      last_error: run.lastError,
    },
    session: sessionFields(session),
  };
}
