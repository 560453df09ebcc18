// Stopping a session on behalf of its owner (§3.3).
import type { StopResult } from '../../domain/stop.ts';
import type { KeyCaller } from '../../domain/user.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import { getOwnSession } from './own-session.ts';

/** Makes the verb. Throws `not_found` for an unknown or deleted session, `forbidden` for another user's or key's. */
export function makeStopSession({ store, stopper }: { readonly store: Store; readonly stopper: Stopper }) {
  return async (caller: KeyCaller, sessionId: string): Promise<StopResult> =>
    stopper.stopSession(await getOwnSession(store, caller, sessionId), 'user_requested_stop');
}
