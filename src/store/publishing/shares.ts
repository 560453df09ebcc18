// Shares: the versions of pages as their owners manage them.
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';
import { countOpenIn, VERSION, type VersionRecord, VERSIONS, withStatus } from './page-rows.ts';
import { MAX_COUNTED } from './pages.ts';

export type OwnedShare = Pick<VersionRecord, 'userSeq'>;

/** Null leaves a filter out. */
export interface ShareFilter extends ListPage {
  readonly userSeq: number | null;
  readonly pageId: number | null;
}

/** The version of a share, in a page that is not deleted. */
interface ShareRow {
  seq: number;
  pageId: number;
  isOpen: number;
  withdrawnAt: number | null;
}

const SHARE = `SELECT v.seq, v.page_id, v.is_open, v.withdrawn_at FROM publish_versions v
  CROSS JOIN publish_pages p ON p.id = v.page_id WHERE v.share_code = ? AND p.deleted_at IS NULL`;

/** The verbs. Shares of deleted pages are not there. `now` is epoch ms. */
export function makeShares(database: Database) {
  const { read } = database;
  return {
    ...makeShareEnds(database),

    find: read(function* (tx: Reader, code: string, now: number): Step<VersionRecord | undefined> {
      const sql = `${VERSIONS} WHERE v.share_code = ? AND p.deleted_at IS NULL`;
      const version = yield* tx.rows(VERSION).get(sql, now, code);
      return version && withStatus(version, now);
    }),

    /** Whose it is. */
    findOwned: read(
      (tx: Reader, code: string): Step<OwnedShare | undefined> =>
        tx.get<OwnedShare>(
          `SELECT v.user_seq FROM publish_versions v CROSS JOIN publish_pages p ON p.id = v.page_id
           WHERE v.share_code = ? AND p.deleted_at IS NULL`,
          code,
        ),
    ),

    /** A page of the list, the newest first. */
    list: read(function* (tx: Reader, filter: ShareFilter, now: number): Step<Listing<VersionRecord>> {
      const { where, values } = conditions(['v.published_at IS NOT NULL', 'p.deleted_at IS NULL'], {
        'v.page_id = ?': filter.pageId,
        'v.user_seq = ?': filter.userSeq,
      });
      const { total } = (yield* tx.get<{ total: number }>(
        `SELECT count(*) AS total FROM (SELECT 1 FROM publish_versions v CROSS JOIN publish_pages p ON p.id = v.page_id
           ${where} LIMIT ?)`,
        ...values,
        MAX_COUNTED,
      ))!;
      const versions = yield* tx
        .rows(VERSION)
        .all(
          `${VERSIONS} ${where} ORDER BY ${filter.pageId === null ? 'v.seq' : 'v.no'} DESC LIMIT ? OFFSET ?`,
          now,
          ...values,
          filter.limit,
          filter.offset,
        );
      return { items: versions.map((version) => withStatus(version, now)), total };
    }),
  };
}

/** The verbs that end shares. */
function makeShareEnds(database: Database) {
  const write = makeAuditedWrite(database);
  return {
    /** Sets when it ends, null for never. Throws `not_found`, and `conflict` when it was withdrawn. */
    setEnd: (code: string, expiresAt: number | null, note?: Note<void>): Promise<void> =>
      write(note, function* (tx) {
        const share = yield* getIn(tx, code);
        if (share.withdrawnAt !== null)
          throw new ErrandError('conflict', 'The share was withdrawn for good. Publish a new version instead.');
        const isOpen = Number(expiresAt === null || expiresAt > tx.now);
        const sql = 'UPDATE publish_versions SET expires_at = ?, is_open = ? WHERE seq = ?';
        yield* tx.run(sql, expiresAt, isOpen, share.seq);
        yield* countOpenIn(tx, share.pageId, isOpen - share.isOpen);
      }),

    /** Withdraws it for good; its bytes are removed later. Does nothing the second time. Throws `not_found`. */
    withdraw: (code: string, note?: Note<boolean>): Promise<boolean> =>
      write(
        note,
        function* (tx: Transaction) {
          const share = yield* getIn(tx, code);
          if (share.withdrawnAt !== null) return false;
          const sql = 'UPDATE publish_versions SET withdrawn_at = ?, is_open = 0 WHERE seq = ?';
          yield* tx.run(sql, tx.now, share.seq);
          yield* countOpenIn(tx, share.pageId, -share.isOpen);
          return true;
        },
        FREES,
      ),
  };
}

function* getIn(tx: Reader, code: string): Step<ShareRow> {
  const share = yield* tx.get<ShareRow>(SHARE, code);
  if (share === undefined) throw notFound('Share');
  return share;
}
