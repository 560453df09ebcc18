// Questions of agents to their users: who sees them, who answers, and what follows (§3.4, I2).
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { UserInput, UserInputStatus } from '../../domain/user-input.ts';
import type { Caller, KeyCaller } from '../../domain/user.ts';
import type { Queue } from '../../execution/queue/queue.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../store/sessions/overview.ts';
import { getOwnSession } from './own-session.ts';
import { getSessionFor, ownerFor, requireOwner } from './ownership.ts';

/** Null leaves a filter out. */
export interface UserInputQuery extends Page {
  readonly sessionId: string | null;
  readonly status: UserInputStatus | null;
}

interface UserInputParts {
  readonly store: Store;
  readonly queue: Pick<Queue, 'wake'>;
}

const CLOSED: Readonly<Record<UserInputStatus, string>> = {
  pending: 'The question could not be settled. Try again.',
  answered: 'The question is answered already.',
  expired: 'The question has expired: nobody answered in time, or its run was stopped.',
};

/**
 * The verbs on questions. Those that take an id throw `not_found` for an unknown one, `forbidden` for another user's;
 * those that settle one throw `conflict` when it is not pending any more.
 */
export function makeUserInputOperations({ store, queue }: UserInputParts) {
  async function find(id: string): Promise<UserInput> {
    const found = await store.userInputs.find(id.toLowerCase());
    if (found === undefined) throw notFound('Question');
    return found;
  }

  async function get(caller: Caller, id: string): Promise<UserInput> {
    const found = await find(id);
    requireOwner(caller, found.userSeq, 'The question');
    return found;
  }

  /** The question as it is after a move; the run may be claimed then. */
  async function settled({ id }: UserInput, held: boolean): Promise<UserInput> {
    const now = await find(id);
    if (!held) throw new ErrandError('conflict', CLOSED[now.status]);
    queue.wake();
    return now;
  }

  const answer = async (question: UserInput, answers: JsonValue) =>
    settled(question, await store.userInputs.answer(question.id, answers));

  return {
    /** The caller's questions; everybody's for an administrator. */
    listUserInputs: async (caller: Caller, { sessionId, status, ...page }: UserInputQuery) => {
      const session = sessionId === null ? null : await getSessionFor(store, caller, sessionId);
      const filter = { userSeq: ownerFor(caller), sessionSeq: session?.seq ?? null, status };
      return store.userInputs.list({ ...filter, ...page });
    },

    getUserInput: get,

    answerUserInput: async (caller: Caller, id: string, answers: JsonValue): Promise<UserInput> =>
      answer(await get(caller, id), answers),

    /** Ends the wait: the agent is told that no answer came. */
    expireUserInput: async (caller: Caller, id: string): Promise<UserInput> => {
      const question = await get(caller, id);
      return settled(question, await store.userInputs.expire(question.id));
    },

    /** The questions of a session of this key. Throws as `getOwnSession` does. */
    listUserInputsOfKey: async (caller: KeyCaller, sessionId: string, query: Omit<UserInputQuery, 'sessionId'>) => {
      const session = await getOwnSession(store, caller, sessionId);
      const found = await store.userInputs.list({ userSeq: null, sessionSeq: session.seq, ...query });
      return { sessionId: session.id, ...found };
    },

    /** Answers a question of a session of this key. Throws `forbidden` for one of another key, too. */
    answerUserInputOfKey: async (caller: KeyCaller, id: string, answers: JsonValue): Promise<UserInput> => {
      const question = await find(id);
      await getOwnSession(store, caller, question.sessionId);
      return answer(question, answers);
    },
  };
}
