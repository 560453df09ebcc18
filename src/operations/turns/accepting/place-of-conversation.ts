// Which session a client's conversation goes on in, by its name and by what is resent of it (M1).
import type { FoundContinuation } from '../../../store/sessions/continued-sessions.ts';
import type { Conversation, TurnInput } from '../turn.ts';

/** A session of the key, behind a run of it or its newest one, or a new one. */
export type PlaceOfConversation =
  | { readonly sessionId: string; readonly afterRunSeq: number | null }
  | { readonly sessionId: null; readonly isThrowAway: boolean };

const OPENED: PlaceOfConversation = { sessionId: null, isThrowAway: false };
const THROWN_AWAY: PlaceOfConversation = { sessionId: null, isThrowAway: true };

/**
 * What is resent says more than a name, which requests beside the conversation have as well. Those never get into a session in progress:
 * nor does a first message under a name whose session is, since nothing tells them apart. A client that has left its conversation in the
 * middle forks it there.
 */
export function placeOfConversation(
  { named, resent }: FoundContinuation,
  { isSideRequest, idempotencyKey }: Pick<Conversation, 'isSideRequest'> & Pick<TurnInput, 'idempotencyKey'>,
): PlaceOfConversation {
  const repeated =
    idempotencyKey === null ? undefined : [resent, named].find((one) => one?.idempotencyKey === idempotencyKey);
  // The request that opened a session is found by its key where one is opened.
  if (repeated) return repeated.opened ? OPENED : { sessionId: repeated.sessionId, afterRunSeq: null };
  if (isSideRequest) return THROWN_AWAY;
  if (resent !== null) return { sessionId: resent.sessionId, afterRunSeq: resent.runSeq };
  if (named === null) return OPENED;
  return named.isBusy ? THROWN_AWAY : { sessionId: named.sessionId, afterRunSeq: null };
}
