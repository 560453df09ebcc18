// Gives pages to another user, with their versions. Their addresses stay.
import { notFound } from '../../domain/errors.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { requireRoomIn } from './pages.ts';

/** From whom to whom. What is no longer the former one's is not found: another one may have got it meanwhile. */
export interface HandOver {
  readonly from: number;
  readonly to: number;
}

/** Versions in one commit. */
const MOVED_AT_ONCE = 250;

const PAGE_OF = 'SELECT 1 FROM publish_pages WHERE id = ? AND user_seq = ? AND deleted_at IS NULL';

/** The verbs. */
export function makePageHandOver(database: Database) {
  const { write } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** Gives versions of a page to another user, so many a commit. Returns whether there are more; the page goes last. Throws as that does. */
    handOverVersions: write(function* (tx: Transaction, id: number, { from, to }: HandOver): Step<boolean> {
      if ((yield* tx.get(PAGE_OF, id, from)) === undefined) throw notFound('Page');
      // Before: they must not be in the heir's hands while the page isn't.
      yield* requireRoomIn(tx, to);
      const some = 'SELECT seq FROM publish_versions WHERE page_id = ? AND user_seq <> ? LIMIT ?';
      const sql = `UPDATE publish_versions SET user_seq = ? WHERE seq IN (${some})`;
      return (yield* tx.count(sql, to, id, to, MOVED_AT_ONCE)) === MOVED_AT_ONCE;
    }),

    /** Gives a page to another user. Throws `not_found`, and `conflict` when that user has as many as they may have. */
    handOver: (id: number, { from, to }: HandOver, note?: Note<void>): Promise<void> =>
      auditedWrite(note, function* (tx) {
        yield* requireRoomIn(tx, to);
        const sql =
          'UPDATE publish_pages SET user_seq = ?, updated_at = ? WHERE id = ? AND user_seq = ? AND deleted_at IS NULL';
        if ((yield* tx.count(sql, to, tx.now, id, from)) === 0) throw notFound('Page');
        // One that was published meanwhile.
        yield* tx.run('UPDATE publish_versions SET user_seq = ? WHERE page_id = ? AND user_seq <> ?', to, id, to);
      }),
  };
}
