// Takes the oldest entries out of the audit log. The chain continues from the last of them, which is kept under the seal, and
// the removal is an entry itself.
import { AUDIT_ACTIONS, auditHashOf, type NewAuditEntry, NO_HASH } from '../../domain/people/audit.ts';
import { AUDIT_ENTRY } from '../audit/audit-entries.ts';
import { isStartIntact, sealOfStart, START, type StartRow } from '../audit/audit-start.ts';
import { LAST, recordIn, type Seal } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Batch, Removed } from './batch.ts';
import type { Amount } from './estimate.ts';

/** A row of the log costs as much as several of the journal: it has five indexes. */
const WEIGHT = 2;
/** So that the entry about a removal doesn't cause the next one soon. */
const SLACK_MS = 86_400_000;

const OLDEST = 'SELECT at FROM audit_entries ORDER BY id LIMIT 1';
const LAST_BEFORE = 'SELECT id FROM audit_entries WHERE at < ? ORDER BY at DESC, id DESC LIMIT 1';

/** What one entry takes with its indexes. */
const ENTRY_BYTES = 600;

/** The verbs; what removes is called until nothing is left. */
export function makeRemoveAudit({ read, write }: Database) {
  return {
    /** Ids count up without a gap, so nothing has to be counted. */
    countAuditEntries: read(function* (tx: Reader, before: number): Step<Amount> {
      const removed = (yield* tx.get<StartRow>(START))?.removedId ?? 0;
      const rows = (yield* isDue(tx, before - SLACK_MS)) ? Math.max(0, (yield* lastBefore(tx, before)) - removed) : 0;
      return { rows, bytes: rows * ENTRY_BYTES, isAtLeast: false };
    }),

    /**
     * Removes entries before a moment, unless none of them is a day older. The last entry always stays, and so does all from
     * the first entry on that isn't as it was written.
     */
    auditEntries: write(function* (tx: Transaction, before: number, batch: Batch, seal: Seal): Step<Removed> {
      const start = yield* tx.get<StartRow>(START);
      const isBegun = start !== undefined && start.removedAt > tx.now - SLACK_MS;
      if (!(yield* isDue(tx, before - (isBegun ? 0 : SLACK_MS)))) return NONE;
      if (!isStartIntact(start, seal)) return NONE;
      const upTo = yield* lastBefore(tx, before);
      const from = { id: start?.removedId ?? 0, hash: start?.removedHash ?? NO_HASH };
      const end = yield* lastIntactIn(tx, batch, { from, upTo });
      if (end.id === from.id) return NONE;
      yield* moveStartIn(tx, end, seal);
      const rows = yield* tx.count('DELETE FROM audit_entries WHERE id <= ?', end.id);
      yield* recordIn(tx, entryOf(from.id + 1, end.id), seal);
      return { rows, more: end.id < upTo };
    }, FREES),
  };
}

function* isDue(tx: Reader, before: number): Step<boolean> {
  const oldest = yield* tx.get<{ at: number }>(OLDEST);
  return oldest !== undefined && oldest.at < before;
}

/** The last entry that may go; 0 for none. */
function* lastBefore(tx: Reader, before: number): Step<number> {
  const last = (yield* tx.get<{ lastId: number }>(LAST))?.lastId ?? 0;
  return Math.min((yield* tx.get<{ id: number }>(LAST_BEFORE, before))?.id ?? 0, last - 1);
}

const NONE: Removed = { rows: 0, more: false };
const ENTRIES = 'SELECT * FROM audit_entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?';

interface Link {
  readonly id: number;
  readonly hash: string;
}

/** How far the chain holds, of as many entries as a commit may remove. */
function* lastIntactIn(tx: Reader, batch: Batch, { from, upTo }: { from: Link; upTo: number }): Step<Link> {
  let last = from;
  for (let room = batch.room(WEIGHT); room > 0 && last.id < upTo; room = batch.room(WEIGHT)) {
    for (const row of yield* tx.rows(AUDIT_ENTRY).all(ENTRIES, last.id, upTo, room)) {
      if (row.id !== last.id + 1 || row.hash !== auditHashOf(last.hash, row)) return last;
      last = row;
    }
  }
  return last;
}

/** Moves the start of the log behind an entry. */
function* moveStartIn(tx: Transaction, { id, hash }: Link, seal: Seal): Step<void> {
  yield* tx.run(
    `INSERT INTO audit_start (id, removed_id, removed_hash, removed_at, seal) VALUES (1, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET removed_id = excluded.removed_id, removed_hash = excluded.removed_hash,
       removed_at = excluded.removed_at, seal = excluded.seal`,
    id,
    hash,
    tx.now,
    sealOfStart({ removedId: id, removedHash: hash, removedAt: tx.now }, seal),
  );
}

function entryOf(from: number, to: number): NewAuditEntry {
  return {
    actor: { userId: null, username: 'retention', via: 'socket', keyId: null },
    action: 'audit.remove',
    targetType: AUDIT_ACTIONS['audit.remove'],
    targetId: `${from}-${to}`,
    sessionId: null,
    address: 'daemon',
    requestId: '',
  };
}
