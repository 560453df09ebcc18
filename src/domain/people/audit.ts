// The audit log: what administrators read of others and change, in a chain of hashes (G10, G17).
import { createHash } from 'node:crypto';
import { isoTime } from '../clock.ts';

/** Each action, and the type of what it is done to. What is read is another user's; a list of all users' things is of the installation (`house`, as entries have named it since the first). */
export const AUDIT_ACTIONS = {
  'user.create': 'user',
  'user.change': 'user',
  'user.read': 'user',
  'user.leave': 'user',
  'user.set_password': 'user',
  'team.create': 'team',
  'team.change': 'team',
  'budget.set': 'budget',
  'budget.remove': 'budget',
  'key.create': 'key',
  'key.change': 'key',
  'key.revoke': 'key',
  'key.use': 'key',
  'token.rotate': 'signing_key',
  'token.revoke_all': 'signing_key',
  'office_login.create': 'office_login',
  'office_login.end_all': 'house',
  'connection.create': 'connection',
  'connection.revoke': 'connection',
  'connection.check': 'connection',
  'connector.check': 'connector',
  'scheduled_task.list': 'house',
  'scheduled_task.read': 'scheduled_task',
  'scheduled_task.create': 'scheduled_task',
  'scheduled_task.change': 'scheduled_task',
  'scheduled_task.delete': 'scheduled_task',
  'scheduled_task.run': 'scheduled_task',
  'webhook.list': 'house',
  'webhook.read': 'webhook',
  'webhook.create': 'webhook',
  'webhook.change': 'webhook',
  'webhook.delete': 'webhook',
  'webhook.test': 'webhook',
  'webhook.redeliver': 'webhook',
  'delivery.list': 'house',
  'delivery.read': 'delivery',
  'delivery.redeliver': 'delivery',
  'page.list': 'house',
  'page.read': 'page',
  'page.create': 'page',
  'page.change': 'page',
  'page.delete': 'page',
  'page.release': 'page',
  'share.list': 'house',
  'share.read': 'share',
  'share.change': 'share',
  'share.withdraw': 'share',
  'model.check': 'model',
  'mcp_server.check': 'mcp_server',
  'definition.check': 'definition',
  'house.read': 'house',
  'house.follow': 'house',
  'backup.create': 'backup',
  'backup.cancel': 'backup',
  'backup.prune': 'backup',
  'session.list': 'house',
  'session.read': 'session',
  'session.stop': 'session',
  'session.fork': 'session',
  'session.delete': 'session',
  'run.list': 'house',
  'run.read': 'run',
  'run.follow': 'run',
  'run.stop': 'run',
  'question.list': 'house',
  'question.read': 'question',
  'question.answer': 'question',
  'question.expire': 'question',
  'insight.list': 'house',
  'insight.read': 'insight',
  'insight.change': 'insight',
  'audit.remove': 'audit_entry',
  'retention.collect': 'house',
  'node.drain': 'node',
  'node.undrain': 'node',
  'node.remove': 'node',
} as const satisfies Readonly<Record<`${string}.${string}`, string>>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

export const AUDIT_WAYS = ['key', 'token', 'socket'] as const;

/** Who acts, and by which way. The operator behind the control socket has no user, and the username `operator`. */
export interface AuditActor {
  readonly userId: string | null;
  readonly username: string;
  readonly via: (typeof AUDIT_WAYS)[number];
  /** The public id of the key, where one is the way. */
  readonly keyId: string | null;
}

/** An entry that has no place in the log yet. It never has content. */
export interface NewAuditEntry {
  readonly actor: AuditActor;
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly sessionId: string | null;
  /** Of the client; `socket` on the control socket. */
  readonly address: string;
  readonly requestId: string;
}

/** An entry of the log. Ids count up from 1 without a gap, the oldest may be removed by age; `at`, epoch ms, is never before that of the entry before. */
export interface AuditEntry extends NewAuditEntry {
  readonly id: number;
  readonly at: number;
  /** SHA-256 over the hash of the entry before and this entry, in hex. */
  readonly hash: string;
}

/** The previous hash of the first entry. */
export const NO_HASH = '0'.repeat(64);

/** The hash of an entry: of the previous one, a line feed, and the entry's fields in order as a JSON array. */
export function auditHashOf(previous: string, entry: Omit<AuditEntry, 'hash'>): string {
  const { id, at, actor, action, targetType, targetId, sessionId, address, requestId } = entry;
  const who = [actor.userId, actor.username, actor.via, actor.keyId];
  const fields = [id, isoTime(at), ...who, action, targetType, targetId, sessionId, address, requestId];
  return createHash('sha256')
    .update(`${previous}\n${JSON.stringify(fields)}`)
    .digest('hex');
}
