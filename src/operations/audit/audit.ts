// Records what administrators read of others, and what they change (G10, G17).
import { createHmac } from 'node:crypto';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry, type NewAuditEntry } from '../../domain/people/audit.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Administrator, Caller } from '../../domain/people/user.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Log } from '../../log/log.ts';
import type { Note, Seal } from '../../store/audit/record-entry.ts';
import type { Store } from '../../store/open-store.ts';
import type { DeleteCommit } from '../../store/lifecycle/delete-session.ts';
import { makeRecentReads } from './recent-reads.ts';

/** The target of an action, and its session if it is in one. */
export interface AuditTarget {
  readonly id: string;
  readonly sessionId?: string;
}

/** The target of a verb that returns it. */
export const itself = ({ id }: { readonly id: string }): AuditTarget => ({ id });

/** The target of a stop or a deletion; undefined for a session that was deleted before, or left as it is. */
export function unlessDeleted(target: AuditTarget) {
  return ({ kind }: DeleteCommit): AuditTarget | undefined =>
    kind === 'gone' || kind === 'shared' ? undefined : target;
}

/** The target of a move; undefined when it came too late. */
export function ifMoved(target: AuditTarget) {
  return (moved: boolean): AuditTarget | undefined => (moved ? target : undefined);
}

/** Whose a thing is: a user's id or `seq`; null for what is system-wide, the administrators' own. */
export type Owned = { readonly userId: string } | { readonly userSeq: number | null };

export type OwnedTarget = AuditTarget & Owned;

/** The same read of a thing within this time is recorded once. */
export const SAME_READ_MS = 10 * 60_000;
/** The same for a list: it may be polled, and what is on it changes. */
export const SAME_LIST_MS = 60_000;
/** The target of a list of all users' things. */
export const INSTALLATION: AuditTarget = { id: 'house' };

/** What is recorded, and how. Nothing is recorded of callers who reach only their own things. */
export interface Audit {
  /**
   * Records a read before its result is returned. Reads of the caller's own things are not recorded, and the same read by
   * the same caller only once in ten minutes. Throws as a write does: what can't be recorded can't be read.
   */
  read(caller: Caller, action: AuditAction, thing: OwnedTarget): Promise<void>;
  /** Records the read of a list with things of others, once a minute for a reader, however many things and owners are on it. */
  readList(caller: Caller, action: AuditAction, items: readonly Owned[]): Promise<void>;
  /** Records an action that changes no row, before it is carried out. */
  act(caller: Administrator, action: AuditAction, targetId: string): Promise<void>;
  /** The note that a verb of the store records in its own commit; `targetOf` returns undefined when nothing was changed. */
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
  /** Called after each entry. */
  recorded?(): void;
}

/** The seal of the log's end. */
export function makeSeal(deriveKey: DeriveKey): Seal {
  const key = deriveKey('audit-log', Buffer.alloc(0));
  return (text) => createHmac('sha256', key).update(text).digest('hex');
}

/** Makes the recorder. */
export function makeAudit({ store, clock, log, deriveKey, recorded }: AuditParts): Audit {
  const seal = makeSeal(deriveKey);
  const recentReads = makeRecentReads(clock, SAME_READ_MS);
  const recentLists = makeRecentReads(clock, SAME_LIST_MS);

  function noteOf<Result>(entryOf: (result: Result) => NewAuditEntry | undefined): Note<Result> {
    return {
      seal,
      entryOf,
      recorded: (entry) => {
        logEntry(log, entry);
        recorded?.();
      },
    };
  }

  const record = (entry: NewAuditEntry) => store.audit.record(noteOf(() => entry));
  // Whoever frees a full disk finds by lists what to delete.
  const recordList = (entry: NewAuditEntry) => store.audit.recordWithReserve(noteOf(() => entry));

  return {
    read: async (caller, action, thing) => {
      if (caller.reach !== 'all' || isOwn(caller, thing)) return;
      const entry = entryOf(caller, action, thing);
      await recentReads(sameAs(entry), () => record(entry));
    },
    readList: async (caller, action, items) => {
      if (caller.reach !== 'all' || items.every((item) => isOwn(caller, item))) return;
      const entry = entryOf(caller, action, INSTALLATION);
      await recentLists(sameAs(entry), () => recordList(entry));
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

/** Whether a thing is nothing of others for this administrator. */
function isOwn(caller: Administrator, thing: Owned): boolean {
  if ('userSeq' in thing && thing.userSeq === null) return true;
  if (caller.kind === 'operator') return false;
  return 'userId' in thing ? thing.userId === caller.user.id : thing.userSeq === caller.user.seq;
}

/** The same for the reads that leave one entry: of one reader, from one address, of one target. */
function sameAs({ actor, address, action, targetId }: NewAuditEntry): string {
  return JSON.stringify([actor.userId, actor.via, actor.keyId, address, action, targetId]);
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

/** A second copy of the chain: a log that is stored elsewhere shows what was cut off here. */
function logEntry(log: Log, { id, actor, action, targetId, sessionId, requestId, hash }: AuditEntry): void {
  const facts = { audit_id: id, action, actor: actor.username, target_id: targetId, session_id: sessionId };
  log.info({ ...facts, request_id: requestId, hash }, 'audited');
}
