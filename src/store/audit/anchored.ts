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

/** A node, and whether others may share its rows: where none do, another id is no other node. */
export interface AnchoringNode {
  readonly id: string;
  readonly hasPeers: boolean;
}

const HASH_OF = 'SELECT hash FROM audit_entries WHERE id = ?';

/** The verbs. */
export function makeAuditAnchors({ read, write }: Database) {
  return {
    /** Compares the rows that are on the disk: an anchor of them can't be ahead of them after a power failure. */
    compareWithAnchor: read(function* (tx: Reader, had: AuditLink, seal: Seal): Step<AnchoredLog> {
      return { end: yield* endIn(tx, seal), fault: yield* anchorFaultIn(tx, had, seal) };
    }),

    /** Whether a node has never had one on its disk. */
    isAnchorDue: read(isAnchorDueIn),

    /** That of a node is on its disk: from now on, it must be there. */
    anchored: write(function* (tx: Transaction, { id }: AnchoringNode): Step<void> {
      yield* tx.run('DELETE FROM audit_anchor_due WHERE id = 1');
      yield* tx.run('INSERT INTO audit_anchors (node_id) VALUES (?) ON CONFLICT (node_id) DO NOTHING', id);
    }, FREES),
  };
}

/** Whether it has never had an anchor: nobody had one yet, or it came to others. */
export function* isAnchorDueIn(tx: Reader, { id, hasPeers }: AnchoringNode): Step<boolean> {
  if ((yield* tx.get('SELECT 1 FROM audit_anchor_due WHERE id = 1')) !== undefined) return true;
  return hasPeers && (yield* tx.get('SELECT 1 FROM audit_anchors WHERE node_id = ?', id)) === undefined;
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
