// How an administrator sees the conversations of a user: as their owner, or read-only (G14).
import type { Administrator } from '../../domain/people/user.ts';

export type ConversationAccess = 'owner' | 'admin_readonly';

export function conversationAccess(caller: Administrator, userId: string): ConversationAccess {
  return caller.kind !== 'operator' && caller.user.id === userId ? 'owner' : 'admin_readonly';
}
