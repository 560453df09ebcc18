// The API sessions of a key (§4.6).
import type { Session } from '../../domain/session.ts';
import type { KeyCaller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page } from '../../store/sessions/overview.ts';

/** Makes the verb: a page of the caller's sessions, the one changed last first, and how many there are in all. */
export function makeListSessions({ store }: { readonly store: Store }) {
  return async (caller: KeyCaller, { limit, offset }: Page): Promise<{ items: Session[]; total: number }> =>
    store.sessions.listOfKey(caller.key.seq, limit, offset);
}
