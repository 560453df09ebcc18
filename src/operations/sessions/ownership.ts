// Whose things they are that people see and move on: their own, and everybody's for administrators.
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Session } from '../../domain/session.ts';
import type { Caller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';

/** The user whose things a caller may see; null: everybody's. */
export function ownerFor(caller: Caller): number | null {
  return caller.kind === 'operator' || caller.user.role === 'admin' ? null : caller.user.seq;
}

/** Throws `forbidden` when the thing is another user's and the caller no administrator. */
export function requireOwner(caller: Caller, userSeq: number, what: string): void {
  const owner = ownerFor(caller);
  if (owner !== null && owner !== userSeq) throw new ErrandError('forbidden', `${what} belongs to another user.`);
}

/** The session that a list is narrowed to. Throws `not_found`, or `forbidden` for another user's. */
export async function getSessionFor(store: Store, caller: Caller, sessionId: string): Promise<Session> {
  const session = await store.sessions.find(sessionId.toLowerCase());
  if (session === undefined || session.deletedAt !== null) throw notFound('Session');
  requireOwner(caller, session.userSeq, 'The session');
  return session;
}
