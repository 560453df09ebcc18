// Questions of agents to their users, and the answers (§6.5, I2).
import { KB } from '../../domain/byte-units.ts';
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { MAX_ANSWER_BYTES, USER_INPUT_STATUSES } from '../../domain/sessions/user-input.ts';
import { at, atIndex, json, jsonObject, object } from '../shapes/composites.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf, pageFields, pageOf } from '../listing.ts';
import { called, record, request } from '../shapes/record.ts';
import { oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo, type Shape } from '../shapes/shape.ts';

/** A question. `answers` and `answered_at` are null until it is answered. */
export const question = named(
  'Question',
  record({
    id: called('request_id', uuid),
    sessionId: uuid,
    runId: uuid,
    userId: uuid,
    username: string,
    toolUseId: string,
    toolName: string,
    toolInput: jsonObject,
    status: oneOf(USER_INPUT_STATUSES),
    answers: json,
    createdAt: time,
    expiresAt: time,
    answeredAt: nullable(time),
  }),
);
export type QuestionWire = JsonOf<typeof question>;

/** The questions of one session. */
const sessionQuestions = named('SessionQuestions', object({ session_id: uuid, ...pageOf(question).fields }));

const filters = { status: orElse(oneOf(USER_INPUT_STATUSES), null), ...pageFields };
const questionQuery = request({ sessionId: orElse(refersTo('sessions', uuid), null), ...filters });
export const sessionQuestionQuery = request(filters);

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

const answer = named('Answer', object({ answers }));
/** JSON can escape each character of an answer as six characters. */
const MAX_ANSWER_BODY_BYTES = 512 * KB;

/** How many questions of the longest kind are read at once. */
export const QUESTIONS_PER_PART = 4;

const params = { id: idOf('Question', 'user-inputs') };
const answering = {
  operation: 'answerUserInput',
  params,
  body: answer,
  maxBodyBytes: MAX_ANSWER_BODY_BYTES,
  reply: question,
} as const;

/** Questions for the people themselves, and for the key of the session. */
// biome-ignore format: a table reads best with one endpoint a line
export const questions = {
  ...endpoints('key', 'bare', {
    listOfSession: { route: 'GET /openapi/v1/sessions/:id/user-inputs', summary: 'List the questions of a session', params: { id: idOf('Session') }, query: sessionQuestionQuery, reply: sessionQuestions },
    answerOwn: { route: 'POST /openapi/v1/user-inputs/:id/answer', summary: 'Answer a question', ...answering },
  }),
  ...endpoints('user', 'envelope', {
    list: { route: 'GET /api/v1/user-inputs', summary: 'List questions', operation: 'listUserInputs', query: questionQuery, reply: listOf(question), perPart: QUESTIONS_PER_PART },
    get: { route: 'GET /api/v1/user-inputs/:id', summary: 'Read a question', operation: 'getUserInput', params, reply: question },
    answer: { route: 'POST /api/v1/user-inputs/:id/answer', summary: 'Answer a question', ...answering },
    expire: { route: 'POST /api/v1/user-inputs/:id/expire', summary: 'Let a question expire', operation: 'expireUserInput', params, reply: question },
  }),
};

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
