// Deleting a session on behalf of its owner (E9).
import type { KeyCaller } from '../../domain/user.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import { getOwnSession } from './own-session.ts';

/**
 * Makes the verb, which answers the session's id. What runs is stopped; the files are removed in the background.
 * Throws as `getOwnSession` does, so `not_found` the second time.
 */
export function makeDeleteSession({ store, stopper }: { readonly store: Store; readonly stopper: Stopper }) {
  return async (caller: KeyCaller, sessionId: string): Promise<string> => {
    const session = await getOwnSession(store, caller, sessionId);
    await stopper.deleteSession(session);
    return session.id;
  };
}
