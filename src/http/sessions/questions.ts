// The handler of the questions of one session, which repeats what page it is (§3.4).
import type { Page } from '../../domain/listing.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { question, QUESTIONS_PER_PART, type sessionQuestionQuery } from '../../wire/sessions/question.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';

export function makeQuestionsOfSession({ listUserInputs }: Pick<Operations, 'listUserInputs'>) {
  return async ({ query }: Exchange<Static<typeof sessionQuestionQuery>>, caller: KeyCaller, sessionId: string) => {
    const { status, ...page } = query;
    const list = async (part: Page) => listUserInputs(caller, { sessionId, status, ...part });
    const listed = await renderLongList(
      { ...page, perPart: QUESTIONS_PER_PART, list, idOf: ({ id }) => id },
      question.render,
    );
    return ok({ session_id: sessionId, ...listed, ...page });
  };
}
