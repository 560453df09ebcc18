// Records what administrators read of others, and what they change (G10, G17).
import { createHmac } from 'node:crypto';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry, type NewAuditEntry } from '../../domain/people/audit.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Administrator, Caller } from '../../domain/people/user.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Log } from '../../log/log.ts';
import type { Note, Seal } from '../../store/audit/record-entry.ts';
import type { Store } from '../../store/open-store.ts';
import type { StopCommit } from '../../store/runs/stop-runs.ts';
import { makeRecentReads } from './recent-reads.ts';

/** Something that is acted on, and its session where it is in one. */
export interface AuditTarget {
  readonly id: string;
  readonly sessionId?: string;
}

/** The target of a verb that results in it. */
export const itself = ({ id }: { readonly id: string }): AuditTarget => ({ id });

/** The target of a stop: what is deleted can't be stopped. */
export function unlessDeleted(target: AuditTarget) {
  return ({ kind }: StopCommit): AuditTarget | undefined => (kind === 'gone' ? undefined : target);
}

/** The target of a move that was made, or came too late. */
export function ifMoved(target: AuditTarget) {
  return (moved: boolean): AuditTarget | undefined => (moved ? target : undefined);
}

/** A thing that belongs to a person. */
export interface OwnedTarget extends AuditTarget {
  readonly userId: string;
}

/** What is recorded, and how. Of callers who reach only their own things, nothing is. */
export interface Audit {
  /**
   * Records a read before its answer is given. Of the caller's own things it records nothing, and of the same read by the
   * same caller one entry in ten minutes. Throws as a write does: what can't be recorded isn't read.
   */
  read(caller: Caller, action: AuditAction, thing: OwnedTarget): Promise<void>;
  /** Records the read of a list, for each of the people whose things are on it. */
  readList(caller: Caller, action: AuditAction, items: readonly Pick<OwnedTarget, 'userId'>[]): Promise<void>;
  /** Records what changes no row, before it is done. */
  act(caller: Administrator, action: AuditAction, targetId: string): Promise<void>;
  /** The note that a verb of the store records in its own commit; `targetOf` finds none where nothing was changed. */
  change<Result>(
    caller: Caller,
    action: AuditAction,
    targetOf: (result: Result) => AuditTarget | undefined,
  ): Note<Result> | undefined;
}

export interface AuditParts {
  readonly store: Pick<Store, 'audit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly deriveKey: DeriveKey;
}

/** The seal of the log's end. */
export function makeSeal(deriveKey: DeriveKey): Seal {
  const key = deriveKey('audit-log', Buffer.alloc(0));
  return (text) => createHmac('sha256', key).update(text).digest('hex');
}

/** Makes the recorder. */
export function makeAudit({ store, clock, log, deriveKey }: AuditParts): Audit {
  const seal = makeSeal(deriveKey);
  const recentReads = makeRecentReads(clock);

  function noteOf<Result>(entryOf: (result: Result) => NewAuditEntry | undefined): Note<Result> {
    return { seal, entryOf, recorded: (entry) => logEntry(log, entry) };
  }

  const record = (entry: NewAuditEntry) => store.audit.record(noteOf(() => entry));

  const read: Audit['read'] = async (caller, action, thing) => {
    if (caller.reach !== 'all') return;
    if (caller.kind !== 'operator' && caller.user.id === thing.userId) return;
    const entry = entryOf(caller, action, thing);
    const { actor, address, targetId } = entry;
    const same = [actor.userId, actor.via, actor.keyId, address, action, targetId];
    await recentReads(JSON.stringify(same), () => record(entry));
  };

  return {
    read,
    readList: async (caller, action, items) => {
      const owners = new Set(items.map(({ userId }) => userId));
      await Promise.all([...owners].map((userId) => read(caller, action, { id: userId, userId })));
    },
    act: (caller, action, targetId) => record(entryOf(caller, action, { id: targetId })),
    change: (caller, action, targetOf) => {
      if (caller.reach !== 'all') return undefined;
      return noteOf((result) => {
        const target = targetOf(result);
        return target && entryOf(caller, action, target);
      });
    },
  };
}

function entryOf(caller: Administrator, action: AuditAction, { id, sessionId }: AuditTarget): NewAuditEntry {
  const targetType = AUDIT_ACTIONS[action];
  return {
    actor: {
      userId: caller.kind === 'operator' ? null : caller.user.id,
      username: caller.kind === 'operator' ? 'operator' : caller.user.username,
      via: caller.kind === 'operator' ? 'socket' : caller.kind,
      keyId: caller.kind === 'key' ? caller.key.id : null,
    },
    action,
    targetType,
    targetId: id,
    sessionId: targetType === 'session' ? id : (sessionId ?? null),
    ...caller.origin,
  };
}

/** A second copy of the chain: where the log is kept elsewhere, it shows what was cut off here. */
function logEntry(log: Log, { id, actor, action, targetId, sessionId, requestId, hash }: AuditEntry): void {
  const facts = { audit_id: id, action, actor: actor.username, target_id: targetId, session_id: sessionId };
  log.info({ ...facts, request_id: requestId, hash }, 'audited');
}
