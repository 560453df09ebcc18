// A copy of the database without its archives: they are packed again when they are asked for.
import Connection from 'better-sqlite3';
import { isInUse } from '../sessions/cleanups.ts';

const TABLES = ['run_artifacts', 'workspace_exports'];
const STATEMENTS = [
  `CREATE TEMP TABLE left_out AS ${TABLES.map((table) => `SELECT archive_key AS key FROM ${table} WHERE archive_key IS NOT NULL`).join(' UNION ')}`,
  ...TABLES.map((table) => `UPDATE ${table} SET archive_key = NULL, archived_at = NULL WHERE archive_key IS NOT NULL`),
  `DELETE FROM small_blobs WHERE key IN (SELECT key FROM left_out) AND NOT (${isInUse('small_blobs.key')})`,
];

/** Has the rows of a copy, which nobody else has open, name no archive, as if all had been removed by age. */
export function leaveOutArchives(file: string): void {
  const copy = new Connection(file);
  try {
    // Synced with the backup: one that is interrupted leaves no copy.
    copy.pragma('synchronous = OFF');
    copy.transaction(() => {
      for (const sql of STATEMENTS) copy.prepare(sql).run();
    })();
    copy.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    copy.close();
  }
}
