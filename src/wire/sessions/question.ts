// Questions of agents to their users, and the answers (§6.5, I2).
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { MAX_ANSWER_BYTES, USER_INPUT_STATUSES } from '../../domain/sessions/user-input.ts';
import { at, atIndex, json, jsonObject, object } from '../composites.ts';
import { pageFields, pageOf } from '../listing.ts';
import { oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, optional, type Shape, type Static } from '../shape.ts';

/** A question. `answers` and `answered_at` are null until it is answered. */
export const question = named(
  'Question',
  object({
    request_id: uuid,
    session_id: uuid,
    run_id: uuid,
    user_id: uuid,
    username: string,
    tool_use_id: string,
    tool_name: string,
    tool_input: jsonObject,
    status: oneOf(USER_INPUT_STATUSES),
    answers: json,
    created_at: time,
    expires_at: time,
    answered_at: nullable(time),
  }),
);
export type QuestionWire = Static<typeof question>;

/** The questions of one session. */
export const sessionQuestions = named('SessionQuestions', object({ session_id: uuid, ...pageOf(question).fields }));

const pending = { status: optional(oneOf(USER_INPUT_STATUSES)) };
/** What to list of them. */
export const questionQuery = object({ session_id: optional(uuid), ...pending, ...pageFields });
/** What to list of those of one session. */
export const sessionQuestionQuery = object({ ...pending, ...pageFields });

/** Any JSON but null, whose texts can be stored. */
const answers: Shape<JsonValue> = {
  admits: (value) => value !== undefined && value !== null,
  read: (value, path) => {
    if (value === undefined || value === null)
      throw unprocessable(path, 'must be a string, a number, true or false, an array or an object');
    readTexts(value, path);
    if (Buffer.byteLength(JSON.stringify(value)) > MAX_ANSWER_BYTES)
      throw unprocessable(path, `must be at most ${MAX_ANSWER_BYTES} bytes as JSON`);
    return value;
  },
  describe: () => ({ type: ['string', 'number', 'boolean', 'array', 'object'] }),
};

export const answer = named('Answer', object({ answers }));

/** Throws for a text that can't be stored, wherever it is; the body's depth is limited already. */
function readTexts(value: JsonValue, path: string): void {
  if (typeof value === 'string') string.read(value, path);
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) readTexts(item, atIndex(path, index));
  else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      string.read(name, path);
      readTexts(item, at(path, name));
    }
  }
}
