// What the agents of a session may use (§2.10).
import type { CapabilityConfig } from '../../domain/capability-config.ts';
import type { KeyCaller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';
import { getOwnSession } from '../sessions/own-session.ts';

/** Makes the verb: the configuration that the session was opened with. Throws as `getOwnSession` does. */
export function makeGetCapabilityConfig({ store }: { readonly store: Store }) {
  return async (
    caller: KeyCaller,
    sessionId: string,
  ): Promise<{ readonly sessionId: string; readonly config: CapabilityConfig }> => {
    const session = await getOwnSession(store, caller, sessionId);
    const { capabilityConfig } = await store.sessions.getSetup(session.seq);
    return { sessionId: session.id, config: capabilityConfig };
  };
}
