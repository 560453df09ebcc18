// How an administrator sees the conversations of a user: as their owner, or read-only (G14).
import type { Administrator } from '../../domain/people/user.ts';
import type { OfficeRun } from '../../domain/sessions/office-run.ts';

export type ConversationAccess = 'owner' | 'admin_readonly';

export function conversationAccess(caller: Administrator, userId: string): ConversationAccess {
  return caller.kind !== 'operator' && caller.user.id === userId ? 'owner' : 'admin_readonly';
}

/** A run that an administrator has read at `at`. */
export interface SeenRun extends OfficeRun {
  readonly access: ConversationAccess;
  readonly at: number;
}

export function seen(run: OfficeRun, caller: Administrator, at: number): SeenRun {
  return { ...run, access: conversationAccess(caller, run.userId), at };
}
