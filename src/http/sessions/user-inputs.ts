// The handlers of questions to users: for the people themselves, and for the key of the session (§3.4, I2).
import { USER_INPUT_STATUSES } from '../../domain/user-input.ts';
import type { Caller, KeyCaller } from '../../domain/user.ts';
import type { Log } from '../../log/log.ts';
import type { Operations } from '../../operations/operations.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { makeNoteReader } from '../frame/note-reader.ts';
import { pageInQuery, uuidInQuery, wordInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';
import { parseAnswers, renderUserInput } from './user-inputs-wire.ts';

type UserHandler = (exchange: Exchange, caller: Caller) => Promise<Reply>;
type KeyHandler = (exchange: Exchange, caller: KeyCaller) => Promise<Reply>;

/** An answer as JSON may be written with six characters for each. */
export const MAX_ANSWER_BODY_BYTES = 512 * 1024;

const id = (exchange: Exchange) => idInPath(exchange, 'Question');
const statusIn = (exchange: Exchange) => wordInQuery(exchange, 'status', USER_INPUT_STATUSES);

/** The handlers in the envelope; `routes.ts` says where each stands. */
export function makeUserInputHandlers(operations: Operations, log: Log) {
  const noteReader = makeNoteReader(log);
  return {
    list: async (exchange, caller) => {
      const filter = { sessionId: uuidInQuery(exchange, 'session_id'), status: statusIn(exchange) };
      const { items, total } = await operations.listUserInputs(caller, { ...filter, ...pageInQuery(exchange) });
      const owners = new Map(items.map((question) => [question.userSeq, question]));
      for (const owner of owners.values()) noteReader(caller, owner, { what: 'questions' });
      return ok({ items: items.map(renderUserInput), total });
    },
    get: async (exchange, caller) => {
      const question = await operations.getUserInput(caller, id(exchange));
      noteReader(caller, question, { session_id: question.sessionId, request_id: question.id });
      return ok(renderUserInput(question));
    },
    answer: async (exchange, caller) => {
      const answers = parseAnswers(exchange.body);
      return ok(renderUserInput(await operations.answerUserInput(caller, id(exchange), answers)));
    },
    expire: async (exchange, caller) => ok(renderUserInput(await operations.expireUserInput(caller, id(exchange)))),
  } satisfies Record<string, UserHandler>;
}

/** The handlers for the key of a session. */
export function makeKeyUserInputHandlers(operations: Operations) {
  return {
    list: async (exchange, caller) => {
      const page = pageInQuery(exchange);
      const query = { status: statusIn(exchange), ...page };
      const found = await operations.listUserInputsOfKey(caller, idInPath(exchange, 'Session'), query);
      const { sessionId, items, total } = found;
      return { status: 200, body: { session_id: sessionId, items: items.map(renderUserInput), total, ...page } };
    },
    answer: async (exchange, caller) => {
      const answers = parseAnswers(exchange.body);
      const question = await operations.answerUserInputOfKey(caller, id(exchange), answers);
      return { status: 200, body: renderUserInput(question) };
    },
  } satisfies Record<string, KeyHandler>;
}
