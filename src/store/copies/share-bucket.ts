// Restored rows beside those that were backed up: both may list the objects of one bucket, so this copy removes none.
import Connection from 'better-sqlite3';

/** Marks the bucket of a database that no daemon uses as shared, if it has one. */
export function shareBucket(file: string): void {
  const copy = new Connection(file);
  try {
    if (copy.prepare("SELECT 1 FROM sqlite_master WHERE name = 'blob_location'").get() === undefined) return;
    copy.prepare('UPDATE blob_location SET is_shared = 1').run();
    copy.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    copy.close();
  }
}
