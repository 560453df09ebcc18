// Sessions: list, show, read, stop and delete.
import type { CapabilityConfig } from '../../domain/capabilities/capability-config.ts';
import type { Portions } from '../../domain/portions.ts';
import type { Session } from '../../domain/sessions/session.ts';
import type { StopCause, StopResult } from '../../domain/sessions/stop.ts';
import type { Administrator, Caller, KeyCaller } from '../../domain/people/user.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type { Access } from '../access.ts';
import { type Audit, unlessDeleted } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { type ForkParts, makeForkSession } from './fork-session.ts';
import { type HistoryMessage, historyOf } from './history.ts';

/** `user` is a name or an id, `key` a public id; null means no filter. */
export interface SessionQuery extends Page {
  readonly user: string | null;
  readonly key: string | null;
}

export interface SessionOperationParts extends ForkParts {
  readonly store: Pick<Store, 'sessions' | 'history' | 'users' | 'keys'>;
  readonly access: Pick<Access, 'session'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
  readonly stopper: Pick<Stopper, 'stopSession' | 'deleteSession'>;
  readonly audit: Pick<Audit, 'change'>;
}

/** The cause of a stop: its own user, or an administrator. */
export function stopCauseOf(caller: Caller): StopCause {
  return caller.reach === 'all' ? 'operator_requested_stop' : 'user_requested_stop';
}

/** The verbs on sessions. Those that take an id throw as `Access.session` does. */
export function makeSessionOperations(parts: SessionOperationParts) {
  const { store, access, auditedAccess, stopper, audit } = parts;
  return {
    forkSession: makeForkSession(parts),

    /** The API sessions of the caller's key, the last changed first (§4.6). */
    listOwnSessions: async (caller: KeyCaller, { limit, offset }: Page): Promise<Listing<Session>> =>
      store.sessions.listOfKey(caller.key.seq, limit, offset),

    /** All users' sessions, the newest first. Throws `not_found` for a filter with an unknown name. */
    listSessions: async (
      _caller: Administrator,
      { user, key, ...page }: SessionQuery,
    ): Promise<Listing<SessionRecord>> => {
      const [owner, bound] = await Promise.all([
        user === null ? null : store.users.get(user),
        key === null ? null : store.keys.get(key),
      ]);
      // The owner of a key never changes.
      const whose =
        bound === null
          ? { userSeq: owner?.seq ?? null, keySeq: null }
          : { userSeq: owner?.seq ?? bound.userSeq, keySeq: bound.seq };
      return store.sessions.list({ ...whose, ...page });
    },

    getSession: auditedAccess.session,

    /** The whole history of a session (§2.7). */
    listMessages: async (
      caller: Caller,
      id: string,
    ): Promise<{ readonly sessionId: string; readonly messages: Portions<HistoryMessage> }> => {
      const session = await auditedAccess.session(caller, id);
      return { sessionId: session.id, messages: historyOf(store.history, session.seq) };
    },

    /** What the agents of a session may use, as determined when it was opened (§2.10). */
    getCapabilityConfig: async (
      caller: Caller,
      id: string,
    ): Promise<{ readonly sessionId: string; readonly config: CapabilityConfig }> => {
      const session = await auditedAccess.session(caller, id);
      const { capabilityConfig } = await store.sessions.getSetup(session.seq);
      return { sessionId: session.id, config: capabilityConfig };
    },

    /** Stops every unfinished run of a session (§3.3). */
    stopSession: async (caller: Caller, id: string): Promise<StopResult> => {
      const session = await access.session(caller, id);
      const note = audit.change(caller, 'session.stop', unlessDeleted(session));
      return stopper.stopSession(session, stopCauseOf(caller), note);
    },

    /**
     * Returns the session's id (E9). What runs is stopped; the files are removed in the background. A second call does not
     * find the session.
     */
    deleteSession: async (caller: Caller, id: string): Promise<string> => {
      const session = await access.session(caller, id);
      await stopper.deleteSession(session, audit.change(caller, 'session.delete', unlessDeleted(session)));
      return session.id;
    },
  };
}
