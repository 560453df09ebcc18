// Takes the oldest entries out of the audit log. The chain continues from the last of them, which is kept under the seal, and
// the removal is an entry itself.
import { AUDIT_ACTIONS, auditHashOf, type NewAuditEntry, NO_HASH } from '../../domain/people/audit.ts';
import { type AuditRow, toEntry } from '../audit/audit-entries.ts';
import { isStartIntact, sealOfStart, START, type StartRow } from '../audit/audit-start.ts';
import { LAST, recordIn, type Seal } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import type { Batch, Removed } from './batch.ts';

/** A row of the log costs as much as several of the journal: it has five indexes. */
const WEIGHT = 2;
/** So that the entry about a removal doesn't cause the next one soon. */
const SLACK_MS = 86_400_000;

const OLDEST = 'SELECT at FROM audit_entries ORDER BY id LIMIT 1';
const LAST_BEFORE = 'SELECT id FROM audit_entries WHERE at < ? ORDER BY at DESC, id DESC LIMIT 1';

/** The verb, which is called until nothing is left. */
export function makeRemoveAudit({ write }: Database) {
  return {
    /**
     * Removes entries before a moment, unless none of them is a day older. The last entry always stays, and so does all from
     * the first entry on that isn't as it was written.
     */
    auditEntries: write(function* (tx: Transaction, before: number, batch: Batch, seal: Seal): Step<Removed> {
      const start = yield* tx.get<StartRow>(START);
      const isBegun = start !== undefined && start.removed_at > tx.now - SLACK_MS;
      const oldest = yield* tx.get<{ at: number }>(OLDEST);
      if (oldest === undefined || oldest.at >= before - (isBegun ? 0 : SLACK_MS)) return NONE;
      if (!isStartIntact(start, seal)) return NONE;
      const last = (yield* tx.get<{ last_id: number }>(LAST))!.last_id;
      const upTo = Math.min((yield* tx.get<{ id: number }>(LAST_BEFORE, before))?.id ?? 0, last - 1);
      const from = { id: start?.removed_id ?? 0, hash: start?.removed_hash ?? NO_HASH };
      const rows = yield* tx.all<AuditRow>(ENTRIES, from.id, upTo, batch.room(WEIGHT));
      const end = lastIntact(rows, from);
      if (end.id === from.id) return NONE;
      yield* moveStartIn(tx, end, seal);
      const removed = yield* tx.run('DELETE FROM audit_entries WHERE id <= ?', end.id);
      yield* recordIn(tx, entryOf(from.id + 1, end.id), seal);
      return { rows: removed, more: end.id < upTo };
    }, 'free'),
  };
}

const NONE: Removed = { rows: 0, more: false };
const ENTRIES = 'SELECT * FROM audit_entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?';

interface Link {
  readonly id: number;
  readonly hash: string;
}

/** How far the chain holds. */
function lastIntact(rows: readonly AuditRow[], from: Link): Link {
  let last = from;
  for (const row of rows) {
    if (row.id !== last.id + 1 || row.hash !== auditHashOf(last.hash, toEntry(row))) break;
    last = row;
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
    sealOfStart({ removed_id: id, removed_hash: hash, removed_at: tx.now }, seal),
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
