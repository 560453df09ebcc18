// The bodies of session.completed, session.failed and session.stopped: one for each run, when it ends.
import type { EventSubjectOf, SessionFacts, SummaryFacts } from '../../domain/webhooks/event-facts.ts';
import { CAPABILITY_PROFILE_VERSION, runFields, sessionFields } from './session-fields.ts';

type End = EventSubjectOf<'session.completed' | 'session.failed' | 'session.stopped'>;

export function completedSession(subject: EventSubjectOf<'session.completed'>, session: SessionFacts) {
  return {
    ...partsOf(subject, session),
    run: runFields(subject.run),
    meta: {
      capability_profile_version: CAPABILITY_PROFILE_VERSION,
      model_stop_reason: subject.run.stopReason ?? 'end_turn',
    },
  };
}

/** The message is in both places (H12). */
export function brokenSession(
  subject: EventSubjectOf<'session.failed'> | EventSubjectOf<'session.stopped'>,
  session: SessionFacts,
) {
  const { run, message, type } = subject;
  return {
    ...partsOf(subject, session),
    run: { ...runFields(run), last_error: message },
    meta: {
      capability_profile_version: CAPABILITY_PROFILE_VERSION,
      model_stop_reason: type === 'session.stopped' ? ('stopped' as const) : ('error' as const),
      error_message: message,
    },
  };
}

/** The session's status is what this run made of it: another may have begun since. */
function partsOf({ run, summary }: Pick<End, 'run' | 'summary'>, session: SessionFacts) {
  return { session: { ...sessionFields(session), status: run.status }, summary: summaryFields(summary) };
}

function summaryFields(summary: SummaryFacts) {
  return {
    has_artifacts: summary.hasArtifacts,
    has_assistant_response: summary.hasAssistantResponse,
    message_count: summary.messageCount,
    assistant_message_count: summary.assistantMessageCount,
    tool_execution_count: summary.toolCount,
    total_cost_usd: summary.costUsd,
    input_tokens: summary.inputTokens,
    output_tokens: summary.outputTokens,
    duration_ms: summary.workedMs,
  };
}
