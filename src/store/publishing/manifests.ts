// What everybody reads of versions.
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import type { PageVersion } from '../../domain/publishing/page.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';
import { ENTRY, IS_READABLE, LATEST_NO, READABLE_COLUMNS, type ReadableVersion, READABLE } from './page-rows.ts';
import { MAX_COUNTED } from './pages.ts';

/** Null leaves a filter out. Published from one moment on and before another, epoch ms. */
export interface VersionFilter extends ListPage {
  readonly pageId: number;
  readonly no: number | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** A version as its share opens it. */
export interface SharedVersion
  extends Pick<
    PageVersion,
    'no' | 'shareCode' | 'shareType' | 'entryPath' | 'publishedAt' | 'expiresAt' | 'withdrawnAt'
  > {
  readonly seq: number;
  readonly pageId: number;
  readonly pageKey: string;
}

const FROM = 'publish_versions v CROSS JOIN publish_pages p ON p.id = v.page_id';

/** The verbs. Only versions that can be read at `now`, epoch ms, are there. */
export function makeManifests({ read }: Database) {
  return {
    /** A page of the list, the newest first; those after the newest 10,000 are found by their days, or by number. */
    listReadable: read(function* (tx: Reader, filter: VersionFilter, now: number): Step<Listing<ReadableVersion>> {
      const { where, values } = conditions([IS_READABLE], {
        'v.page_id = ?': filter.pageId,
        'v.no = ?': filter.no,
        'v.published_at >= ?': filter.from,
        'v.published_at < ?': filter.to,
      });
      const hasDays = filter.from !== null || filter.to !== null;
      // In the order of the index: nothing more is looked at.
      const newest = `SELECT v.seq, v.no FROM publish_versions v ${where}
        ORDER BY ${hasDays ? 'v.published_at DESC, v.no DESC' : 'v.no DESC'} LIMIT ${MAX_COUNTED}`;
      const sql = `SELECT count(*) AS total FROM (${newest})`;
      const { total } = (yield* tx.get<{ total: number }>(sql, now, ...values))!;
      const items = yield* tx.rows(READABLE).all(
        `SELECT ${READABLE_COLUMNS}, v.no = ${LATEST_NO} AS v_is_latest FROM ${FROM} JOIN ${ENTRY}
         WHERE v.seq IN (SELECT seq FROM (${newest}) ORDER BY no DESC LIMIT ? OFFSET ?) ORDER BY v.no DESC`,
        now,
        now,
        ...values,
        filter.limit,
        filter.offset,
      );
      return { items, total };
    }),

    /** The version of a share, whether it can be read or not; undefined for an unknown code, and of a page that is deleted or whose owner is disabled. */
    findShared: read(function* (tx: Reader, code: string): Step<SharedVersion | undefined> {
      return yield* tx.get<SharedVersion>(
        `SELECT v.seq, p.key AS pageKey, v.page_id, v.no, v.share_code, v.share_type,
           v.entry_path, v.published_at, v.expires_at,
           v.withdrawn_at
         FROM ${FROM} CROSS JOIN users u ON u.seq = p.user_seq
         WHERE v.share_code = ? AND p.deleted_at IS NULL AND u.disabled = 0`,
        code,
      );
    }),
  };
}
