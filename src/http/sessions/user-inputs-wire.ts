// Questions to users on the wire (§6.5, I2).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { UserInput } from '../../domain/sessions/user-input.ts';
import type { QuestionWire } from '../../wire/sessions/question.ts';

export function renderUserInput(question: UserInput): QuestionWire {
  return {
    request_id: question.id,
    session_id: question.sessionId,
    run_id: question.runId,
    user_id: question.userId,
    username: question.username,
    tool_use_id: question.toolUseId,
    tool_name: question.toolName,
    tool_input: question.toolInput,
    status: question.status,
    answers: question.answers,
    created_at: isoTime(question.createdAt),
    expires_at: isoTime(question.expiresAt),
    answered_at: isoTimeOrNull(question.answeredAt),
  };
}
