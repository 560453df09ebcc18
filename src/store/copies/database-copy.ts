// What a copy of the database contains: its blobs and sessions, for those who copy or verify their files. Read on a connection of
// its own, which nobody else has: here whole tables may be read.
import Connection from 'better-sqlite3';
import type { AnchorFault, AuditLink } from '../../domain/people/audit-anchor.ts';
import { auditHashOf, NO_HASH } from '../../domain/people/audit.ts';
import { AUDIT_ENTRY } from '../audit/audit-entries.ts';
import { anchorFaultIn } from '../audit/anchored.ts';
import { iterateOn, readOn } from '../engine/sqlite/execute.ts';
import { MANIFEST_FILES, REFERENCES } from '../sessions/cleanups.ts';

/** A blob that must exist, and the size that its rows say. */
export interface NamedBlob {
  readonly key: string;
  readonly size: number | null;
  /** Bytes of its row; null when it is none. */
  readonly rowSize: number | null;
}

export interface DatabaseCopy {
  readonly schemaVersion: number;
  /** Sorted by key. The schema must be this code's, as for what follows. */
  blobs(): IterableIterator<NamedBlob>;
  /** The bytes of one that is a row. */
  bytesOf(key: string): Buffer;
  /** Those that are files. */
  countBlobFiles(): number;
  /** The bucket that has the bytes of others; null without one. */
  bucket(): string | null;
  /** Ids of the sessions that are not deleted, sorted. */
  sessions(): IterableIterator<string>;
  countSessions(): number;
  /** Null when there is no entry, or the schema has no audit log yet. */
  auditEnd(): AuditLink | null;
  /** What is wrong with the audit log, if it had an end. The schema must be this code's. */
  auditFault(had: AuditLink): AnchorFault | null;
  /** What SQLite finds wrong with it, and the first broken entry of the audit log. */
  faults(): string[];
  close(): void;
}

const BLOBS = [
  ...REFERENCES.map(
    ({ key, size, from, session }) =>
      `SELECT ${key} AS key, ${size} AS size FROM ${from} JOIN sessions s ON s.seq = ${session}
       WHERE ${key} IS NOT NULL AND s.deleted_at IS NULL`,
  ),
  `SELECT sha256 AS key, size FROM ${MANIFEST_FILES}`,
].join(' UNION ALL ');
const ROW_SIZE = '(SELECT length(bytes) FROM small_blobs s WHERE s.key = named.key)';
const EACH_BLOB = `SELECT key, max(size) AS size, ${ROW_SIZE} AS rowSize FROM (${BLOBS}) AS named GROUP BY key ORDER BY key`;
const SESSIONS = 'FROM sessions WHERE deleted_at IS NULL';

/** Opens a copy for reading. */
export function openCopy(file: string): DatabaseCopy {
  const copy = new Connection(file, { readonly: true });
  const numberOf = (sql: string) => (copy.prepare(sql).get() as { total: number }).total;
  const hasTable = (name: string) => copy.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(name) !== undefined;
  return {
    schemaVersion: copy.pragma('user_version', { simple: true }) as number,
    blobs: () => copy.prepare<[], NamedBlob>(EACH_BLOB).iterate(),
    bytesOf: (key) => copy.prepare<[string], Buffer>('SELECT bytes FROM small_blobs WHERE key = ?').pluck().get(key)!,
    countBlobFiles: () =>
      numberOf(`SELECT count(DISTINCT key) AS total FROM (${BLOBS}) WHERE key NOT IN (SELECT key FROM small_blobs)`),
    bucket: () => {
      if (!hasTable('blob_location')) return null;
      return copy.prepare<[], string>('SELECT name FROM blob_location').pluck().get() ?? null;
    },
    sessions: () => copy.prepare<[], string>(`SELECT id ${SESSIONS} ORDER BY id`).pluck().iterate(),
    countSessions: () => numberOf(`SELECT count(*) AS total ${SESSIONS}`),
    auditEnd: () => {
      if (!hasTable('audit_head')) return null;
      return readOn(copy, (tx) => tx.get<AuditLink>('SELECT last_id AS id, last_hash AS hash FROM audit_head')) ?? null;
    },
    auditFault: (had) => readOn(copy, (tx) => anchorFaultIn(tx, had, null)),
    faults: () => [...faultsOfFile(copy), ...faultOfAudit(copy)],
    close: () => void copy.close(),
  };
}

const MAX_FAULTS = 20;

function faultsOfFile(copy: Connection.Database): string[] {
  const rows = copy.pragma(`integrity_check(${MAX_FAULTS})`) as { integrity_check: string }[];
  const found = rows.map((row) => row.integrity_check).filter((words) => words !== 'ok');
  const broken = (copy.pragma('foreign_key_check') as { table: string; rowid: number }[]).slice(0, MAX_FAULTS);
  return [
    ...found.map((words) => `The database is damaged: ${words}`),
    ...broken.map(({ table, rowid }) => `Row ${rowid} of ${table} refers to no row.`),
  ];
}

/** The chain from the first entry that is there. */
function faultOfAudit(copy: Connection.Database): string[] {
  let last: { id: number; hash: string } | undefined;
  for (const entry of iterateOn(copy, AUDIT_ENTRY, 'SELECT * FROM audit_entries ORDER BY id')) {
    const before = last?.hash ?? (entry.id === 1 ? NO_HASH : undefined);
    const isNext = last === undefined || entry.id === last.id + 1;
    if (!isNext || (before !== undefined && entry.hash !== auditHashOf(before, entry)))
      return [`The audit log is broken at entry ${entry.id}.`];
    last = entry;
  }
  return [];
}
