// Withdraws old versions of published pages; the page sweeper gives back what they held.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { countOpenIn } from '../publishing/page-rows.ts';
import { type Batch, LARGE, type Removed } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

/**
 * Versions that are older than the newest open ones of their page. One whose share was given an end stays until then: somebody
 * was promised it.
 */
const OLD_VERSIONS = `SELECT v.seq, v.page_id, v.total_size AS bytes
  FROM publish_pages p CROSS JOIN publish_versions v ON v.page_id = p.id
  WHERE p.open_versions > ? AND p.deleted_at IS NULL AND v.is_open = 1 AND v.expires_at IS NULL
    AND v.no <= (SELECT no FROM publish_versions WHERE page_id = p.id AND is_open = 1 ORDER BY no DESC LIMIT 1 OFFSET ?)
  LIMIT ?`;

/** The verbs. */
export function makeRemoveVersions({ read, write }: Database) {
  return {
    /** Withdraws all but so many of each page. */
    versions: write(function* (tx: Transaction, keep: number, batch: Batch): Step<Removed> {
      for (let rows = 0; ; ) {
        const room = batch.room(LARGE);
        if (room === 0) return { rows, more: true };
        const old = yield* tx.all<{ seq: number; pageId: number }>(OLD_VERSIONS, keep, keep, room);
        for (const { seq, pageId } of old) {
          yield* tx.run('UPDATE publish_versions SET withdrawn_at = ?, is_open = 0 WHERE seq = ?', tx.now, seq);
          yield* countOpenIn(tx, pageId, -1);
        }
        rows += old.length;
        if (old.length < room) return { rows, more: false };
      }
    }, FREES),

    countVersions: read(function* (tx: Reader, keep: number): Step<Amount> {
      const sql = `SELECT count(*) AS rows, coalesce(sum(bytes), 0) AS bytes FROM (${OLD_VERSIONS})`;
      const found = (yield* tx.get<{ rows: number; bytes: number }>(sql, keep, keep, MAX_COUNTED))!;
      return { ...found, isAtLeast: found.rows === MAX_COUNTED };
    }),
  };
}
