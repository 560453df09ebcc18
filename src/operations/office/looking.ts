// How an administrator opens a session: audited, as its owner or read-only (G10, G14).
import type { Administrator } from '../../domain/people/user.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';

export interface LookingParts {
  readonly access: Pick<Access, 'session'>;
  readonly audit: Pick<Audit, 'read'>;
}

/** Opens a session for an administrator. Throws as `Access.session` does. */
export type LookInto = (caller: Administrator, id: string) => Promise<SessionRecord>;

export function makeLookInto({ access, audit }: LookingParts): LookInto {
  return async (caller, id) => {
    const session = await access.session(caller, id);
    await audit.read(caller, 'session.read', session);
    return session;
  };
}

export type ConversationAccess = 'owner' | 'admin_readonly';

/** How the caller sees the conversations of a user (G14). */
export function conversationAccess(caller: Administrator, userId: string): ConversationAccess {
  return caller.kind !== 'operator' && caller.user.id === userId ? 'owner' : 'admin_readonly';
}
