// Questions of agents to their users: listed, read, answered and expired (§3.4, I2).
import { ErrandError } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { UserInput, UserInputStatus } from '../../domain/sessions/user-input.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../domain/listing.ts';
import { type Access, scopeOf } from '../access.ts';
import { type Audit, ifMoved } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Null means no filter. */
export interface UserInputQuery extends Page {
  readonly sessionId: string | null;
  readonly status: UserInputStatus | null;
}

export interface UserInputOperationParts {
  readonly store: Pick<Store, 'userInputs'>;
  readonly access: Pick<Access, 'question'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session' | 'question'>;
  readonly audit: Pick<Audit, 'change'>;
}

const CLOSED: Readonly<Record<UserInputStatus, string>> = {
  pending: 'The question could not be settled. Try again.',
  answered: 'The question is answered already.',
  expired: 'The question has expired: it was not answered in time, or its run was stopped.',
};

/**
 * The verbs on questions. Those that take an id throw as `Access.question` does; those that settle one throw `conflict` when
 * it is no longer pending.
 */
export function makeUserInputOperations({ store, access, auditedAccess, audit }: UserInputOperationParts) {
  /** The question as it is after a move. */
  async function settled(caller: Caller, { id }: UserInput, held: boolean): Promise<UserInput> {
    const now = await access.question(caller, id);
    if (!held) throw new ErrandError('conflict', CLOSED[now.status]);
    return now;
  }

  return {
    /** The questions within the caller's reach, the newest first. */
    listUserInputs: async (caller: Caller, { sessionId, status, ...page }: UserInputQuery) => {
      const session = sessionId === null ? null : await auditedAccess.session(caller, sessionId);
      const filter = { ...scopeOf(caller), sessionSeq: session?.seq ?? null, status };
      return store.userInputs.list({ ...filter, ...page });
    },

    getUserInput: auditedAccess.question,

    answerUserInput: async (
      caller: Caller,
      id: string,
      { answers }: { readonly answers: JsonValue },
    ): Promise<UserInput> => {
      const question = await access.question(caller, id);
      const note = audit.change(caller, 'question.answer', ifMoved(question));
      return settled(caller, question, await store.userInputs.answer(question.id, answers, note));
    },

    /** Ends the wait: the agent learns that no answer came. */
    expireUserInput: async (caller: Caller, id: string): Promise<UserInput> => {
      const question = await access.question(caller, id);
      const note = audit.change(caller, 'question.expire', ifMoved(question));
      return settled(caller, question, await store.userInputs.expire(question.id, note));
    },
  };
}
