// Rows of pages and versions, and what is read of them.
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import {
  type Page,
  type PageOwner,
  type PageVersion,
  type ShareStatus,
  shareStatusOf,
} from '../../domain/publishing/page.ts';
import { flag, json, orNull, plain, rowKind } from '../engine/row.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** A version that can be read, with its entry. */
export interface ReadableVersion extends Omit<PageVersion, 'trigger' | 'reason' | 'withdrawnAt'> {
  /** Whether it is the newest of those that can be read. */
  readonly isLatest: boolean;
  readonly entry: FileVersion;
}

/** A page with its owner, and with what can be read of it now. */
export interface PageRecord extends Page {
  readonly owner: PageOwner;
  /** Versions that can be read. */
  readonly versionCount: number;
  /** The newest of them. */
  readonly latest: ReadableVersion | null;
  /** The newest version, whether it can be read or not; null before the first. */
  readonly lastKnown: KnownVersion | null;
}

/** What stays of a version that can't be read any more. */
export type KnownVersion = Pick<PageVersion, 'shareCode' | 'shareType' | 'entryPath' | 'publishedAt'>;

/** Any version, with the page that it belongs to. */
export interface VersionRecord extends PageVersion {
  readonly seq: number;
  readonly pageKey: string;
  readonly pageName: string;
  readonly userSeq: number;
  readonly isLatest: boolean;
  readonly status: ShareStatus;
}

const OWNER = rowKind<PageOwner>({ account: plain, name: plain, department: plain }, 'owner_');

const ENTRY_FILE = rowKind<FileVersion>({ path: plain, size: plain, sha256: plain }, 'entry_');

export const READABLE = rowKind<ReadableVersion>(
  {
    no: plain,
    shareCode: plain,
    shareType: plain,
    entryPath: plain,
    fileCount: plain,
    totalSize: plain,
    publishedAt: plain,
    expiresAt: plain,
    isLatest: flag,
    entry: ENTRY_FILE,
  },
  'v_',
);

const KNOWN = rowKind<KnownVersion>({ shareCode: plain, shareType: plain, entryPath: plain, publishedAt: plain }, 'l_');

export const PAGE = rowKind<PageRecord>({
  id: plain,
  key: plain,
  userSeq: plain,
  name: plain,
  description: plain,
  category: plain,
  tags: json<string[]>,
  origin: plain,
  sessionId: plain,
  scheduledTaskId: plain,
  entryPath: plain,
  isOnBoard: flag,
  isDistractionFree: flag,
  createdAt: plain,
  updatedAt: plain,
  owner: OWNER,
  versionCount: plain,
  latest: orNull(READABLE, 'no'),
  lastKnown: orNull(KNOWN, 'shareCode'),
});

/** A version `v` is readable at a moment: the parameter. */
export const IS_READABLE = 'v.is_open = 1 AND (v.expires_at IS NULL OR v.expires_at > ?)';
/** The number of the newest version of `p` that is readable at a moment: the parameter. */
export const LATEST_NO = `(SELECT x.no FROM publish_versions x
    WHERE x.page_id = p.id AND x.is_open = 1 AND (x.expires_at IS NULL OR x.expires_at > ?) ORDER BY x.no DESC LIMIT 1)`;
export const READABLE_COLUMNS = `v.no AS v_no, v.share_code AS v_share_code, v.share_type AS v_share_type,
  v.entry_path AS v_entry_path, v.file_count AS v_file_count, v.total_size AS v_total_size,
  v.published_at AS v_published_at, v.expires_at AS v_expires_at, f.size AS v_entry_size, f.sha256 AS v_entry_sha256`;
/** The entry of a version `v`. */
export const ENTRY = 'publish_files f ON f.version_seq = v.seq AND f.path = v.entry_path';

/** The first parameter is now. Ends that have not been noticed yet still count as versions, but for the last. */
export const PAGES = `SELECT p.id, p.key, p.user_seq, p.name, p.description, p.category, p.tags, p.origin,
    CASE p.origin WHEN 'existing_session' THEN s.id END AS session_id, p.task_id AS scheduled_task_id, p.entry_path, p.is_on_board,
    p.is_distraction_free, p.created_at, p.updated_at, u.username AS owner_account, u.full_name AS owner_name,
    u.department AS owner_department, CASE WHEN v.no IS NULL THEN 0 ELSE p.open_versions END AS version_count,
    1 AS v_is_latest, ${READABLE_COLUMNS}, l.share_code AS l_share_code, l.share_type AS l_share_type,
    l.entry_path AS l_entry_path, l.published_at AS l_published_at
  FROM publish_pages p CROSS JOIN users u ON u.seq = p.user_seq LEFT JOIN sessions s ON s.seq = p.session_seq
    LEFT JOIN publish_versions v ON v.page_id = p.id AND v.no = ${LATEST_NO} LEFT JOIN ${ENTRY}
    LEFT JOIN publish_versions l ON l.page_id = p.id
      AND l.no = (SELECT max(y.no) FROM publish_versions y WHERE y.page_id = p.id)`;

type VersionRow = Omit<VersionRecord, 'status'>;

export const VERSION = rowKind<VersionRow>({
  seq: plain,
  no: plain,
  shareCode: plain,
  shareType: plain,
  entryPath: plain,
  trigger: plain,
  reason: plain,
  fileCount: plain,
  totalSize: plain,
  publishedAt: plain,
  expiresAt: plain,
  withdrawnAt: plain,
  userSeq: plain,
  pageKey: plain,
  pageName: plain,
  isLatest: flag,
});

/** Versions of pages that are not deleted. The first parameter is now. */
export const VERSIONS = `SELECT v.seq, v.no, v.share_code, v.share_type, v.entry_path, v.trigger_type AS trigger, v.reason, v.file_count,
    v.total_size, v.published_at, v.expires_at, v.withdrawn_at, v.user_seq, p.key AS page_key, p.name AS page_name,
    v.no = ${LATEST_NO} AS is_latest
  FROM publish_versions v CROSS JOIN publish_pages p ON p.id = v.page_id`;

/** A version as it stands at a moment. */
export const withStatus = (version: VersionRow, now: number): VersionRecord => ({
  ...version,
  status: shareStatusOf(version, now),
});

/** Records on its page that a number of versions were opened, or closed if it is negative. */
export function* countOpenIn(tx: Transaction, pageId: number, change: number): Step<void> {
  if (change === 0) return;
  yield* tx.run(
    `UPDATE publish_pages SET open_versions = open_versions + ?, latest_published_at = (
       SELECT published_at FROM publish_versions WHERE page_id = publish_pages.id AND is_open = 1 ORDER BY no DESC LIMIT 1)
     WHERE id = ?`,
    change,
    pageId,
  );
}
