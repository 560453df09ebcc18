// Compares the audit log with an end that it had: whether it still contains it, and where it ends now.
import { type AnchorFault, type AuditLink, NO_ENTRY } from '../../domain/people/audit-anchor.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { isStartIntact, START, type StartRow } from './audit-start.ts';
import { HEAD, type HeadRow, isIntact, LAST, type Seal } from './record-entry.ts';

/** The log against its anchor. */
export interface AnchoredLog {
  /** Its end now; null when that isn't as the daemon left it. */
  readonly end: AuditLink | null;
  readonly fault: AnchorFault | null;
}

const HASH_OF = 'SELECT hash FROM audit_entries WHERE id = ?';

/** The verbs. */
export function makeAuditAnchors({ read, write }: Database) {
  return {
    /** Compares the rows that are on the disk: an anchor of them can't be ahead of them after a power failure. */
    compareWithAnchor: read(function* (tx: Reader, had: AuditLink, seal: Seal): Step<AnchoredLog> {
      return { end: yield* endIn(tx, seal), fault: yield* anchorFaultIn(tx, had, seal) };
    }),

    /** Whether no anchor was ever on the disk. */
    isAnchorDue: read(isAnchorDueIn),

    /** An anchor is on the disk: from now on, it must be there. */
    anchored: write(function* (tx: Transaction): Step<void> {
      yield* tx.run('DELETE FROM audit_anchor_due WHERE id = 1');
    }, FREES),
  };
}

export function* isAnchorDueIn(tx: Reader): Step<boolean> {
  return (yield* tx.get('SELECT 1 FROM audit_anchor_due WHERE id = 1')) !== undefined;
}

function* endIn(tx: Reader, seal: Seal): Step<AuditLink | null> {
  const head = yield* tx.get<HeadRow>(HEAD);
  const last = yield* tx.get<HeadRow>(LAST);
  if (!isIntact(head, last, seal)) return null;
  return head === undefined ? NO_ENTRY : { id: head.lastId, hash: head.lastHash };
}

/**
 * What is wrong with a log that had an end, if anything. What was removed by age needs no more than the seal of the new start, which
 * isn't verified without a `seal`.
 */
export function* anchorFaultIn(tx: Reader, had: AuditLink, seal: Seal | null): Step<AnchorFault | null> {
  if (had.id === 0) return null;
  const start = yield* tx.get<StartRow>(START);
  if (start !== undefined && start.removedId >= had.id) {
    if (seal !== null && !isStartIntact(start, seal)) return 'entries_missing';
    return start.removedId > had.id || start.removedHash === had.hash ? null : 'entry_changed';
  }
  const row = yield* tx.get<{ hash: string }>(HASH_OF, had.id);
  if (row === undefined) return 'entries_missing';
  return row.hash === had.hash ? null : 'entry_changed';
}
