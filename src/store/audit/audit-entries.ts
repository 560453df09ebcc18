// Reads the audit log: a page of it, and its end.
import type { AuditActor, AuditEntry } from '../../domain/people/audit.ts';
import type { Listing } from '../../domain/listing.ts';
import { type Database, FREES } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';
import { isStartIntact, START, type StartRow } from './audit-start.ts';
import { HEAD, type HeadRow, isIntact, LAST, makeAuditedWrite, type Note, type Seal } from './record-entry.ts';

/** Null means no filter. */
export interface AuditFilter {
  /** A user's id, or `operator` for the one behind the control socket. */
  readonly actor: string | null;
  readonly action: string | null;
  readonly targetId: string | null;
  readonly sessionId: string | null;
  /** Epoch ms; the first is inclusive, the second exclusive. */
  readonly fromAt: number | null;
  readonly toAt: number | null;
}

/** A page: the newest entries before an id, or, of a given `afterId`, the oldest after it. */
export interface AuditPage {
  readonly beforeId: number | null;
  readonly afterId: number | null;
  readonly limit: number;
}

/** The end of the log. */
export interface AuditHead {
  /** 0 and null while there are no entries. */
  readonly lastId: number;
  readonly lastHash: string | null;
  /** Whether the seal of the last entry holds. */
  readonly isSealed: boolean;
  /** When it once did not, the last entry of that time: this entry and all before it may have been altered. */
  readonly doubtfulUntil: number | null;
  /** The last entry that was removed by age, which the chain continues from; 0 and null when none was. */
  readonly removedId: number;
  readonly removedHash: string | null;
  /** Whether the seal of that entry holds. */
  readonly isStartSealed: boolean;
}

const ACTOR = rowKind<AuditActor>({ userId: plain, username: plain, via: plain, keyId: plain });

export const AUDIT_ENTRY = rowKind<AuditEntry>({
  id: plain,
  at: plain,
  actor: ACTOR,
  action: plain,
  targetType: plain,
  targetId: plain,
  sessionId: plain,
  address: plain,
  requestId: plain,
  hash: plain,
});

/** Matching entries are counted up to this number. */
export const MAX_COUNTED = 10_000;

/** The verbs on the audit log. */
export function makeAuditEntries(database: Database) {
  const { read } = database;
  const write = makeAuditedWrite(database);
  return {
    /** Records an action that no other verb of the store carries out. */
    record: (note: Note<void>): Promise<void> => write(note, nothingElse),

    /** The same on a full disk, too, as long as the reserve lasts. */
    recordWithReserve: (note: Note<void>): Promise<void> => write(note, nothingElse, FREES),

    /** A page of the matching entries, and the total number of matches, up to `MAX_COUNTED`. */
    list: read(function* (tx: Reader, filter: AuditFilter, page: AuditPage): Step<Listing<AuditEntry>> {
      const { after, upTo } = yield* idsOf(tx, filter);
      const { always, found } = equalitiesOf(filter);
      const isFiltered = always.length > 0 || Object.values(found).some((value) => value !== null);
      const whole = conditions(always, { ...found, 'id > ?': after, 'id <= ?': upTo });
      const total = isFiltered ? yield* countUpTo(tx, whole) : Math.max(0, upTo - after);
      const from = Math.max(after, page.afterId ?? 0);
      const to = Math.min(upTo, (page.beforeId ?? Number.MAX_SAFE_INTEGER) - 1);
      const { where, values } = conditions(always, { ...found, 'id > ?': from, 'id <= ?': to });
      const order = page.afterId === null ? 'DESC' : 'ASC';
      const sql = `SELECT * FROM audit_entries ${where} ORDER BY id ${order} LIMIT ?`;
      return { items: yield* tx.rows(AUDIT_ENTRY).all(sql, ...values, page.limit), total };
    }),

    /** The end of the log, verified with the daemon's seal. */
    getHead: read(function* (tx: Reader, seal: Seal): Step<AuditHead> {
      const head = yield* tx.get<HeadRow>(HEAD);
      const last = yield* tx.get<HeadRow>(LAST);
      const start = yield* tx.get<StartRow>(START);
      return {
        removedId: start?.removedId ?? 0,
        removedHash: start?.removedHash ?? null,
        isStartSealed: isStartIntact(start, seal),
        lastId: head?.lastId ?? last?.lastId ?? 0,
        lastHash: head?.lastHash ?? last?.lastHash ?? null,
        isSealed: isIntact(head, last, seal),
        doubtfulUntil: head?.doubtfulUntil ?? null,
      };
    }),
  };
}

// oxlint-disable-next-line require-yield
function* nothingElse(): Step<void> {
  // Only the entry is written.
}

/** The ids of a time range: times never decrease from one entry to the next. */
function* idsOf(tx: Reader, { fromAt, toAt }: AuditFilter): Step<{ after: number; upTo: number }> {
  const lastBefore = 'SELECT id FROM audit_entries WHERE at < ? ORDER BY at DESC, id DESC LIMIT 1';
  const last = toAt === null ? yield* tx.get<{ lastId: number }>(LAST) : undefined;
  const removed = (yield* tx.get<StartRow>(START))?.removedId ?? 0;
  return {
    after: fromAt === null ? removed : ((yield* tx.get<{ id: number }>(lastBefore, fromAt))?.id ?? removed),
    upTo: toAt === null ? (last?.lastId ?? 0) : ((yield* tx.get<{ id: number }>(lastBefore, toAt))?.id ?? 0),
  };
}

function equalitiesOf({ actor, action, targetId, sessionId }: AuditFilter) {
  const isOperator = actor === 'operator';
  return {
    always: isOperator ? ['user_id IS NULL'] : [],
    found: {
      'user_id = ?': isOperator ? null : actor,
      'action = ?': action,
      'target_id = ?': targetId,
      'session_id = ?': sessionId,
    },
  };
}

function* countUpTo(tx: Reader, { where, values }: ReturnType<typeof conditions>): Step<number> {
  const sql = `SELECT count(*) AS total FROM (SELECT 1 FROM audit_entries ${where} LIMIT ?)`;
  return (yield* tx.get<{ total: number }>(sql, ...values, MAX_COUNTED))!.total;
}
