// Where a turn continues (M1, M3).
import { ErrandError, unprocessable } from '../../../domain/errors.ts';
import type { KeyCaller } from '../../../domain/people/user.ts';
import type { Said } from '../../../domain/sessions/continued/history-chain.ts';
import type { Log } from '../../../log/log.ts';
import type { ConversationNote } from '../../../store/lifecycle/accept-run.ts';
import type { Store } from '../../../store/open-store.ts';
import type { Access } from '../../access.ts';
import { placeOfConversation } from './place-of-conversation.ts';
import type { Conversation, TurnInput } from '../turn.ts';

export interface ContinuedParts {
  readonly access: Pick<Access, 'session' | 'response'>;
  readonly store: { readonly sessions: Pick<Store['sessions'], 'findContinued'> };
  readonly log: Log;
}

/** A session, and the run of it that the turn follows; null: the turn opens a session, or follows whatever is there. */
export interface Place {
  readonly sessionId: string | null;
  readonly afterRunSeq: number | null;
  /** What is kept of the client's conversation; absent where the key doesn't go by that. */
  readonly note?: ConversationNote;
  /** What its client has had elsewhere: before the session, or since the run that the turn follows. */
  readonly quoted: readonly Said[];
  /** Whether what is resent is known there, or quoted. */
  readonly historyTaken: boolean;
}

/** How many keys are remembered whose requests were logged. */
const MOST_LOGGED = 10_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Makes the look-up. Throws as `Access.response` does. */
export function makeContinuedSession({ access, store, log }: ContinuedParts) {
  const logged = new Set<number>();

  /** Other programs use the name of its header for ids of their own. */
  async function ownOf(caller: KeyCaller, offered: string): Promise<string | null> {
    const session = UUID.test(offered) ? await access.session(caller, offered).catch(nullUnlessFault) : null;
    if (session === null && !logged.has(caller.key.seq)) {
      if (logged.size >= MOST_LOGGED) logged.clear();
      logged.add(caller.key.seq);
      log.info({ key: caller.key.id }, NONE_OF_OURS);
    }
    return session?.id ?? null;
  }

  /** Behind a response, in its session. */
  async function behind(caller: KeyCaller, previousRunId: string, sessionId: string | null): Promise<Place> {
    const previous = await access.response(caller, previousRunId);
    if (sessionId !== null && sessionId !== previous.sessionId)
      throw unprocessable('previous_response_id', 'must be a response of the session that the request names');
    return { sessionId: previous.sessionId, afterRunSeq: previous.seq, quoted: [], historyTaken: false };
  }

  /** By what the client says of its conversation. */
  async function ofConversation(
    { key }: KeyCaller,
    conversation: Conversation,
    idempotencyKey: string | null,
  ): Promise<Place> {
    const { name, resent, asked: history, earlier, isSideRequest } = conversation;
    const found = await store.sessions.findContinued(key.seq, name, resent);
    const place = placeOfConversation(found, { isSideRequest, idempotencyKey });
    if (place.sessionId !== null) {
      const known = place.sessionId === found.resent?.sessionId ? found.resent : null;
      // What was said elsewhere since, or was edited.
      const quoted = known === null || known.after === 0 ? [] : earlier.slice(-known.after);
      return {
        ...place,
        quoted,
        historyTaken: known !== null,
        note: { clientName: name, isThrowAway: false, history },
      };
    }
    const { sessionId, isThrowAway } = place;
    const note = { clientName: isThrowAway ? null : name, isThrowAway, history };
    return {
      sessionId,
      afterRunSeq: null,
      note,
      quoted: earlier,
      historyTaken: earlier.some(({ text }) => text !== ''),
    };
  }

  return async (caller: KeyCaller, asked: TurnInput): Promise<Place> => {
    const { sessionId, offeredSession, response, conversation = null } = asked;
    if (response?.previousRunId) return behind(caller, response.previousRunId, sessionId);
    const named = sessionId ?? (offeredSession === null ? null : await ownOf(caller, offeredSession));
    if (named !== null || conversation === null) return { sessionId: named, ...ANYWHERE };
    return ofConversation(caller, conversation, asked.idempotencyKey);
  };
}

const ANYWHERE = { afterRunSeq: null, quoted: [], historyTaken: false } as const;

const NONE_OF_OURS =
  'X-Session-Id named no session of this key, and was ignored; Errand-Session-Id and metadata.session_id continue one';

function nullUnlessFault(error: unknown): null {
  if (error instanceof ErrandError && (error.reason === 'not_found' || error.reason === 'forbidden')) return null;
  throw error;
}
