// A restored copy that must not act beside its original: nothing in it is delivered or fires by itself.
import Connection from 'better-sqlite3';

const STATEMENTS = [
  'UPDATE webhooks SET enabled = 0 WHERE enabled = 1',
  'DELETE FROM webhook_subscriptions',
  'UPDATE scheduled_tasks SET enabled = 0, next_fire_at = NULL, look_at = NULL WHERE enabled = 1',
];

/** Disables the webhooks and scheduled tasks of a database that no daemon uses. Their owners can enable them again. */
export function pauseCopy(file: string): void {
  const copy = new Connection(file);
  try {
    copy.transaction(() => {
      for (const sql of STATEMENTS) copy.prepare(sql).run();
    })();
    copy.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    copy.close();
  }
}
