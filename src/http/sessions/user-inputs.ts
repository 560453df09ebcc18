// The handlers of questions to users: for the people themselves, and for the key of the session (§3.4, I2).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { UserInputQuery } from '../../operations/sessions/user-inputs.ts';
import type { answer, questionQuery, sessionQuestionQuery } from '../../wire/sessions/question.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderUserInput } from './user-inputs-wire.ts';

/** JSON can escape each character of an answer as six characters. */
export const MAX_ANSWER_BODY_BYTES = 512 * 1024;

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeUserInputHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Question');
  async function listed(caller: Caller, { limit, offset, ...filter }: UserInputQuery) {
    const list = async (part: Page) => operations.listUserInputs(caller, { ...filter, ...part });
    return renderLongList({ limit, offset, perPart: 4, list, idOf: (one) => one.id }, renderUserInput);
  }
  return {
    list: async ({ query }: Exchange<Static<typeof questionQuery>>, caller: Caller) => {
      const { session_id: sessionId = null, status = null, ...page } = query;
      return ok(await listed(caller, { sessionId, status, ...page }));
    },
    /** The questions of the session in the path. */
    listOfSession: async (exchange: Exchange<Static<typeof sessionQuestionQuery>>, caller: Caller) => {
      const { status = null, ...page } = exchange.query;
      const sessionId = idInPath(exchange, 'Session');
      return ok({ session_id: sessionId, ...(await listed(caller, { sessionId, status, ...page })), ...page });
    },
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderUserInput(await operations.getUserInput(caller, id(exchange)))),
    answer: async (exchange: Exchange<unknown, Static<typeof answer>>, caller: Caller) =>
      ok(renderUserInput(await operations.answerUserInput(caller, id(exchange), exchange.body.answers))),
    expire: async (exchange: Exchange, caller: Caller) =>
      ok(renderUserInput(await operations.expireUserInput(caller, id(exchange)))),
  };
}
