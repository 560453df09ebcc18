// The bodies of user_input.requested and user_input.answered.
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { QuestionFacts, SessionFacts } from '../../domain/webhooks/event-facts.ts';
import { sessionFields } from './session-fields.ts';

export function askedQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  const open = { status: 'pending', answers: null, answered_at: null } as const;
  return { user_input: { ...questionFields(question, session), ...open }, session: sessionFields(session) };
}

export function answeredQuestion({ question }: { readonly question: QuestionFacts }, session: SessionFacts) {
  const settled = {
    status: 'answered' as const,
    answers: question.answers,
    answered_at: isoTimeOrNull(question.answeredAt),
  };
  return { user_input: { ...questionFields(question, session), ...settled }, session: sessionFields(session) };
}

function questionFields(question: QuestionFacts, session: SessionFacts) {
  return {
    request_id: question.id,
    session_id: session.id,
    tool_name: question.toolName,
    tool_input: question.toolInput,
    expires_at: isoTime(question.expiresAt),
  };
}
