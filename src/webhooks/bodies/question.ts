// The bodies of user_input.requested and user_input.answered.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { QuestionFacts, SessionFacts } from '../../domain/webhooks/event-facts.ts';
import { sessionFields } from './session-fields.ts';

export function askedQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  return {
    user_input: { ...questionFields(question, session), status: 'pending' as const },
    session: sessionFields(session),
  };
}

export function answeredQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  return {
    user_input: { ...questionFields(question, session), status: 'answered' as const },
    session: sessionFields(session),
  };
}

function questionFields(question: QuestionFacts, session: SessionFacts) {
  return {
    request_id: question.id,
    session_id: session.id,
    tool_name: question.toolName,
    tool_input: question.toolInput,
    answers: question.answers,
    expires_at: isoTime(question.expiresAt),
    answered_at: isoTimeOrNull(question.answeredAt),
  };
}
