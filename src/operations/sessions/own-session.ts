// Whose session it is: the one rule of §1 rule 7 and §5 rule 3.
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Session } from '../../domain/session.ts';
import type { KeyCaller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';

/**
 * The session of an id, if it is this key's. Throws `not_found` for an unknown or deleted one, `forbidden` for one of
 * another user or of another key, even of the same user.
 */
export async function getOwnSession(store: Store, caller: KeyCaller, sessionId: string): Promise<Session> {
  const session = await store.sessions.find(sessionId.toLowerCase());
  if (session === undefined || session.deletedAt !== null) throw notFound('Session');
  if (session.userSeq !== caller.user.seq) throw new ErrandError('forbidden', 'The session belongs to another user.');
  if (session.keySeq !== caller.key.seq) {
    throw new ErrandError('forbidden', 'The session is bound to another API key.');
  }
  return session;
}
