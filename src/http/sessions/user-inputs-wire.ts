// Questions to users on the wire, and their answers (§6.5, I2).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { MAX_ANSWER_BYTES, type UserInput } from '../../domain/user-input.ts';
import { readString } from '../frame/fields.ts';

export function renderUserInput(question: UserInput): object {
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

/** The `answers` of a request: any JSON but null, whose texts can be kept. */
export function parseAnswers(body: JsonObject): JsonValue {
  const answers = body['answers'];
  if (answers === undefined || answers === null) {
    throw unprocessable('answers', 'must be a string, a number, true or false, an array or an object');
  }
  readTexts(answers, 'answers');
  if (Buffer.byteLength(JSON.stringify(answers)) > MAX_ANSWER_BYTES) {
    throw unprocessable('answers', `must be at most ${MAX_ANSWER_BYTES} bytes as JSON`);
  }
  return answers;
}

/** Throws for a text that can't be kept, wherever it stands; the body's depth is limited already. */
function readTexts(value: JsonValue, path: string): void {
  if (typeof value === 'string') readString(value, path);
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) readTexts(item, `${path}[${at}]`);
  else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      readString(name, path);
      readTexts(item, `${path}.${name}`);
    }
  }
}
