// What everybody reads of versions: which there are, and the files of one.
import type { Listing, Page as ListPage } from '../../domain/listing.ts';
import { TREE_PATH } from '../../domain/publishing/manifest.ts';
import type { PageVersion } from '../../domain/publishing/page.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { conditions } from '../sessions/conditions.ts';
import {
  ENTRY,
  IS_READABLE,
  LATEST_NO,
  READABLE_COLUMNS,
  type ReadableVersion,
  type ReadableVersionRow,
  toReadable,
} from './page-rows.ts';
import { MAX_COUNTED } from './pages.ts';

/** Null leaves a filter out. Published from one moment on and before another, epoch ms. */
export interface VersionFilter extends ListPage {
  readonly pageId: number;
  readonly no: number | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** The blob with the tree of a version's files. */
export type KeptTree = Pick<FileVersion, 'size' | 'sha256'>;

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
export function makeManifests({ write, read }: Database) {
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
      const rows = yield* tx.all<ReadableVersionRow>(
        `SELECT ${READABLE_COLUMNS}, v.no = ${LATEST_NO} AS is_latest FROM ${FROM} JOIN ${ENTRY}
         WHERE v.seq IN (SELECT seq FROM (${newest}) ORDER BY no DESC LIMIT ? OFFSET ?) ORDER BY v.no DESC`,
        now,
        now,
        ...values,
        filter.limit,
        filter.offset,
      );
      return { items: rows.map(toReadable), total };
    }),

    /** The version of a share, whether it can be read or not; undefined for an unknown code, and of a deleted page. */
    findShared: read(function* (tx: Reader, code: string): Step<SharedVersion | undefined> {
      return yield* tx.get<SharedVersion>(
        `SELECT v.seq, p.key AS pageKey, v.page_id AS pageId, v.no, v.share_code AS shareCode, v.share_type AS shareType,
           v.entry_path AS entryPath, v.published_at AS publishedAt, v.expires_at AS expiresAt,
           v.withdrawn_at AS withdrawnAt
         FROM ${FROM} WHERE v.share_code = ? AND p.deleted_at IS NULL`,
        code,
      );
    }),

    /** Up to `limit` files of a version, in the order of their paths, after a path ('/' for the first). */
    listFiles: read(
      (tx: Reader, versionSeq: number, afterPath: string, limit: number): Step<FileVersion[]> =>
        tx.all<FileVersion>(
          'SELECT path, size, sha256 FROM publish_files WHERE version_seq = ? AND path > ? ORDER BY path LIMIT ?',
          versionSeq,
          afterPath,
          limit,
        ),
    ),

    /** The file with exactly this path, or undefined (F4). */
    findFile: read(
      (tx: Reader, versionSeq: number, path: string): Step<FileVersion | undefined> =>
        tx.get<FileVersion>(
          'SELECT path, size, sha256 FROM publish_files WHERE version_seq = ? AND path = ?',
          versionSeq,
          path,
        ),
    ),

    /**
     * Keeps a blob with the tree of a version's files. It goes with the manifest: that of a version which was withdrawn meanwhile is
     * removed at once.
     */
    keepTree: write(function* (tx: Transaction, versionSeq: number, { size, sha256 }: KeptTree): Step<void> {
      const kept = yield* tx.run(
        `INSERT INTO publish_files (version_seq, path, size, sha256)
         SELECT seq, '${TREE_PATH}', ?, ? FROM publish_versions WHERE seq = ? AND is_open = 1
         ON CONFLICT (version_seq, path) DO UPDATE SET size = excluded.size`,
        size,
        sha256,
        versionSeq,
      );
      if (kept === 0) yield* tx.run('INSERT INTO publish_removals (sha256) VALUES (?) ON CONFLICT DO NOTHING', sha256);
    }),
  };
}
