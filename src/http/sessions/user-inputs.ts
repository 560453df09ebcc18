// The handlers of questions to users: for the people themselves, and for the key of the session (§3.4, I2).
import { USER_INPUT_STATUSES } from '../../domain/user-input.ts';
import type { Caller } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { pageInQuery, uuidInQuery, wordInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';
import { parseAnswers, renderUserInput } from './user-inputs-wire.ts';

type Handler = (exchange: Exchange, caller: Caller) => Promise<Reply>;

/** An answer as JSON may be written with six characters for each. */
export const MAX_ANSWER_BODY_BYTES = 512 * 1024;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeUserInputHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Question');
  const statusIn = (exchange: Exchange) => wordInQuery(exchange, 'status', USER_INPUT_STATUSES);
  return {
    list: async (exchange, caller) => {
      const filter = { sessionId: uuidInQuery(exchange, 'session_id'), status: statusIn(exchange) };
      const { items, total } = await operations.listUserInputs(caller, { ...filter, ...pageInQuery(exchange) });
      return ok({ items: items.map(renderUserInput), total });
    },
    /** Those of the session in the path. */
    listOfSession: async (exchange, caller) => {
      const page = pageInQuery(exchange);
      const status = statusIn(exchange);
      const sessionId = idInPath(exchange, 'Session');
      const { items, total } = await operations.listUserInputs(caller, { sessionId, status, ...page });
      return ok({ session_id: sessionId, items: items.map(renderUserInput), total, ...page });
    },
    get: async (exchange, caller) => ok(renderUserInput(await operations.getUserInput(caller, id(exchange)))),
    answer: async (exchange, caller) => {
      const answers = parseAnswers(exchange.body);
      return ok(renderUserInput(await operations.answerUserInput(caller, id(exchange), answers)));
    },
    expire: async (exchange, caller) => ok(renderUserInput(await operations.expireUserInput(caller, id(exchange)))),
  } satisfies Record<string, Handler>;
}
