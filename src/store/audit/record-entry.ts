// Adds entries to the audit log, in the commit of the action they record (G17).
import { type AuditEntry, auditHashOf, type NewAuditEntry, NO_HASH } from '../../domain/people/audit.ts';
import { type Database, FREES, type WriteOptions } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** A MAC of a text that only the daemon can compute: it needs the master key. */
export type Seal = (text: string) => string;

/** What the audit log records of a verb. */
export interface Note<Result> {
  readonly seal: Seal;
  /** The entry, given the verb's result; undefined when there is nothing to record. */
  entryOf(result: Result): NewAuditEntry | undefined;
  /** Called after the commit. */
  recorded(entry: AuditEntry): void;
}

/** The last entry that the daemon has written, under its seal. */
export interface HeadRow {
  lastId: number;
  lastAt: number;
  lastHash: string;
  doubtfulUntil: number | null;
  seal: string;
}

type Last = Pick<HeadRow, 'lastId' | 'lastAt' | 'lastHash'>;

export const HEAD = 'SELECT last_id, last_at, last_hash, doubtful_until, seal FROM audit_head';
export const LAST =
  'SELECT id AS last_id, at AS last_at, hash AS last_hash FROM audit_entries ORDER BY id DESC LIMIT 1';

/** The text that is sealed. */
function sealedText({ lastId, lastAt, lastHash, doubtfulUntil }: Omit<HeadRow, 'seal'>): string {
  return JSON.stringify([lastId, lastAt, lastHash, doubtfulUntil]);
}

/** Whether the end of the log is as the daemon wrote it. */
export function isIntact(head: HeadRow | undefined, last: Last | undefined, seal: Seal): boolean {
  if (head === undefined || last === undefined) return head === undefined && last === undefined;
  const isSealed = seal(sealedText(head)) === head.seal;
  return isSealed && head.lastId === last.lastId && head.lastHash === last.lastHash;
}

/**
 * Makes the `write` for verbs whose caller may give a note: entry and verb are in one commit, or neither is kept. These
 * verbs are rare, so each call may make its own generator.
 */
export function makeAuditedWrite({ write }: Pick<Database, 'write'>) {
  const [audited, freeing] = [write(auditIn), write(auditIn, FREES)];
  return async <Result>(
    note: Note<Result> | undefined,
    verb: (tx: Transaction) => Step<Result>,
    { frees = false }: Pick<WriteOptions, 'frees'> = {},
  ): Promise<Result> => {
    const { result, entry } = await (frees ? freeing : audited)(note, verb);
    if (entry !== undefined) note?.recorded(entry);
    return result as Result;
  };
}

/** A verb, and the entry of its note. */
function* auditIn(
  tx: Transaction,
  note: Note<unknown> | undefined,
  verb: (tx: Transaction) => Step<unknown>,
): Step<{ result: unknown; entry: AuditEntry | undefined }> {
  const result = yield* verb(tx);
  const fresh = note?.entryOf(result);
  return { result, entry: fresh && (yield* recordIn(tx, fresh, note!.seal)) };
}

/** Adds an entry. */
export function* recordIn(tx: Transaction, fresh: NewAuditEntry, seal: Seal): Step<AuditEntry> {
  const head = yield* tx.get<HeadRow>(HEAD);
  const last = yield* tx.get<Last>(LAST);
  // When the log was cut short, the head still has the old end, so the gap stays visible.
  const before = head !== undefined && head.lastId >= (last?.lastId ?? 0) ? head : last;
  const numbered = { ...fresh, id: (before?.lastId ?? 0) + 1, at: Math.max(tx.now, before?.lastAt ?? 0) };
  const entry = { ...numbered, hash: auditHashOf(before?.lastHash ?? NO_HASH, numbered) };
  yield* insert(tx, entry);
  const doubtful = isIntact(head, last, seal) ? (head?.doubtfulUntil ?? null) : entry.id - 1;
  const end = { lastId: entry.id, lastAt: entry.at, lastHash: entry.hash, doubtfulUntil: doubtful };
  yield* tx.run(
    `INSERT INTO audit_head (id, last_id, last_at, last_hash, doubtful_until, seal) VALUES (1, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET last_id = excluded.last_id, last_at = excluded.last_at, last_hash = excluded.last_hash,
       doubtful_until = excluded.doubtful_until, seal = excluded.seal`,
    end.lastId,
    end.lastAt,
    end.lastHash,
    end.doubtfulUntil,
    seal(sealedText(end)),
  );
  return entry;
}

function* insert(tx: Transaction, { actor, ...entry }: AuditEntry): Step<void> {
  yield* tx.run(
    `INSERT INTO audit_entries (id, at, user_id, username, via, key_id, action, target_type, target_id, session_id, address,
       request_id, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    entry.id,
    entry.at,
    actor.userId,
    actor.username,
    actor.via,
    actor.keyId,
    entry.action,
    entry.targetType,
    entry.targetId,
    entry.sessionId,
    entry.address,
    entry.requestId,
    entry.hash,
  );
}
