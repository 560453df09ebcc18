// The bodies of user_input.requested and user_input.answered.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { QuestionFacts, SessionFacts } from '../../domain/webhooks/event-facts.ts';
import { sessionFields } from './session-fields.ts';

export function askedQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  const user_input = {
    ...askedFields(question, session),
    status: 'pending' as const,
    answers: null,
    expires_at: isoTime(question.expiresAt),
    answered_at: null,
  };
  return { user_input, session: sessionFields(session) };
}

export function answeredQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  const user_input = {
    ...askedFields(question, session),
    status: 'answered' as const,
    answers: question.answers,
    expires_at: isoTime(question.expiresAt),
    answered_at: isoTimeOrNull(question.answeredAt),
  };
  return { user_input, session: sessionFields(session) };
}

/** What was asked. */
function askedFields({ id, toolName, toolInput }: QuestionFacts, session: SessionFacts) {
  return { request_id: id, session_id: session.id, tool_name: toolName, tool_input: toolInput };
}
