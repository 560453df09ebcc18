// Which session a turn continues (M1).
import { ErrandError } from '../../domain/errors.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Said } from '../../domain/sessions/history-chain.ts';
import type { Log } from '../../log/log.ts';
import type { ConversationNote } from '../../store/lifecycle/accept-run.ts';
import type { Store } from '../../store/open-store.ts';
import type { FoundContinuation } from '../../store/sessions/continued-sessions.ts';
import type { Access } from '../access.ts';
import type { Conversation, TurnInput } from './turn.ts';

export interface ContinuedParts {
  readonly access: Pick<Access, 'session'>;
  readonly store: { readonly sessions: Pick<Store['sessions'], 'findContinued'> };
  readonly log: Log;
}

/** How many keys are remembered whose requests were logged. */
const MOST_LOGGED = 10_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Where a turn goes on. */
interface Continued {
  /** Null opens a session. */
  readonly sessionId: string | null;
  /** What is kept of the client's conversation; undefined where the key doesn't go by that. */
  readonly note?: ConversationNote;
  /** What a session begins with that its client has had elsewhere. */
  readonly quoted: readonly Said[];
}

/** Makes the look-up of the session that a turn continues which names none. */
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

  return async (
    caller: KeyCaller,
    { sessionId, offeredSession, conversation = null, idempotencyKey }: TurnInput,
  ): Promise<Continued> => {
    if (sessionId !== null) return { sessionId, quoted: [] };
    const own = offeredSession === null ? null : await ownOf(caller, offeredSession);
    if (own !== null || conversation === null) return { sessionId: own, quoted: [] };
    const { name, resent, asked: history, earlier, isSideRequest } = conversation;
    const found = await store.sessions.findContinued(caller.key.seq, name, resent);
    const place = placeOf(found, { isSideRequest, idempotencyKey });
    if (place.sessionId !== null)
      return { ...place, note: { clientName: null, isThrowAway: false, history }, quoted: [] };
    const { isThrowAway } = place;
    return { ...place, note: { clientName: isThrowAway ? null : name, isThrowAway, history }, quoted: earlier };
  };
}

type Place = { readonly sessionId: string } | { readonly sessionId: null; readonly isThrowAway: boolean };

const OPENED: Place = { sessionId: null, isThrowAway: false };
const THROWN_AWAY: Place = { sessionId: null, isThrowAway: true };

/**
 * What is resent says more than a name, which requests beside the conversation have as well. Those never get into a session in progress:
 * nor does a first message under a name whose session is, since nothing tells them apart.
 */
function placeOf(
  { named, resent }: FoundContinuation,
  { isSideRequest, idempotencyKey }: Pick<Conversation, 'isSideRequest'> & Pick<TurnInput, 'idempotencyKey'>,
): Place {
  const repeated =
    idempotencyKey === null ? undefined : [resent, named].find((one) => one?.idempotencyKey === idempotencyKey);
  // The request that opened a session is found by its key where one is opened.
  if (repeated) return repeated.opened ? OPENED : { sessionId: repeated.sessionId };
  if (isSideRequest) return THROWN_AWAY;
  if (resent !== null) return resent.runSeq === resent.newestRunSeq ? { sessionId: resent.sessionId } : OPENED;
  if (named === null) return OPENED;
  return named.isBusy ? THROWN_AWAY : { sessionId: named.sessionId };
}

const NONE_OF_OURS =
  'X-Session-Id named no session of this key, and was ignored; Errand-Session-Id and metadata.session_id continue one';

function nullUnlessFault(error: unknown): null {
  if (error instanceof ErrandError && (error.reason === 'not_found' || error.reason === 'forbidden')) return null;
  throw error;
}
