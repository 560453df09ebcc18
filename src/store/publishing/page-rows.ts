// Rows of pages and versions, and what is read of them.
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import {
  type Page,
  type PageOrigin,
  type PageOwner,
  type PageVersion,
  type ShareStatus,
  shareStatusOf,
  type ShareType,
  type VersionTrigger,
} from '../../domain/publishing/page.ts';
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

interface OwnerRow {
  username: string;
  full_name: string;
  department: string;
}

interface PageRow {
  id: number;
  key: string;
  user_seq: number;
  name: string;
  description: string | null;
  category: string | null;
  tags: string;
  origin: PageOrigin;
  session_id: string | null;
  task_id: string | null;
  entry_path: string;
  is_on_board: number;
  is_distraction_free: number;
  open_versions: number;
  created_at: number;
  updated_at: number;
}

/** The columns of a version that can be read; of a page without one, they are null. */
interface ReadableRow {
  v_no: number;
  v_share_code: string;
  v_share_type: ShareType;
  v_entry_path: string;
  v_file_count: number;
  v_total_size: number;
  v_published_at: number;
  v_expires_at: number | null;
  v_entry_size: number;
  v_entry_sha256: string;
}

/** Those of the newest version; of a page without one, they are null. */
interface KnownRow {
  l_share_code: string;
  l_share_type: ShareType;
  l_entry_path: string;
  l_published_at: number;
}

type OrNull<Row> = { [C in keyof Row]: Row[C] | null };

export type PageRecordRow = PageRow & OwnerRow & OrNull<ReadableRow> & OrNull<KnownRow>;
export type ReadableVersionRow = ReadableRow & { is_latest: number };

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

/** The first parameter is now. */
export const PAGES = `SELECT p.id, p.key, p.user_seq, p.name, p.description, p.category, p.tags, p.origin,
    CASE p.origin WHEN 'existing_session' THEN s.id END AS session_id, p.task_id, p.entry_path, p.is_on_board,
    p.is_distraction_free, p.open_versions, p.created_at, p.updated_at,
    u.username, u.full_name, u.department, ${READABLE_COLUMNS}, l.share_code AS l_share_code, l.share_type AS l_share_type,
    l.entry_path AS l_entry_path, l.published_at AS l_published_at
  FROM publish_pages p CROSS JOIN users u ON u.seq = p.user_seq LEFT JOIN sessions s ON s.seq = p.session_seq
    LEFT JOIN publish_versions v ON v.page_id = p.id AND v.no = ${LATEST_NO} LEFT JOIN ${ENTRY}
    LEFT JOIN publish_versions l ON l.page_id = p.id
      AND l.no = (SELECT max(y.no) FROM publish_versions y WHERE y.page_id = p.id)`;

export function toPageRecord(row: PageRecordRow): PageRecord {
  const latest = row.v_no === null ? null : toReadable({ ...(row as ReadableRow), is_latest: 1 });
  return {
    id: row.id,
    key: row.key,
    userSeq: row.user_seq,
    name: row.name,
    description: row.description,
    category: row.category,
    tags: JSON.parse(row.tags) as string[],
    origin: row.origin,
    sessionId: row.session_id,
    scheduledTaskId: row.task_id,
    entryPath: row.entry_path,
    isOnBoard: row.is_on_board === 1,
    isDistractionFree: row.is_distraction_free === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    owner: { account: row.username, name: row.full_name, department: row.department },
    // Ends that have not been noticed yet still count, but for the last.
    versionCount: latest === null ? 0 : row.open_versions,
    latest,
    lastKnown: row.l_share_code === null ? null : toKnown(row as KnownRow),
  };
}

function toKnown(row: KnownRow): KnownVersion {
  return {
    shareCode: row.l_share_code,
    shareType: row.l_share_type,
    entryPath: row.l_entry_path,
    publishedAt: row.l_published_at,
  };
}

export function toReadable(row: ReadableVersionRow): ReadableVersion {
  return {
    no: row.v_no,
    shareCode: row.v_share_code,
    shareType: row.v_share_type,
    entryPath: row.v_entry_path,
    fileCount: row.v_file_count,
    totalSize: row.v_total_size,
    publishedAt: row.v_published_at,
    expiresAt: row.v_expires_at,
    isLatest: row.is_latest === 1,
    entry: { path: row.v_entry_path, size: row.v_entry_size, sha256: row.v_entry_sha256 },
  };
}

interface VersionRecordRow {
  seq: number;
  no: number;
  share_code: string;
  share_type: ShareType;
  entry_path: string;
  trigger_type: VersionTrigger;
  reason: string | null;
  file_count: number;
  total_size: number;
  published_at: number;
  expires_at: number | null;
  withdrawn_at: number | null;
  user_seq: number;
  page_key: string;
  page_name: string;
  is_latest: number | null;
}

/** Versions of pages that are not deleted. The first parameter is now. */
export const VERSIONS = `SELECT v.seq, v.no, v.share_code, v.share_type, v.entry_path, v.trigger_type, v.reason, v.file_count,
    v.total_size, v.published_at, v.expires_at, v.withdrawn_at, v.user_seq, p.key AS page_key, p.name AS page_name,
    v.no = ${LATEST_NO} AS is_latest
  FROM publish_versions v CROSS JOIN publish_pages p ON p.id = v.page_id`;

export type { VersionRecordRow };

export function toVersionRecord(row: VersionRecordRow, now: number): VersionRecord {
  const version = {
    seq: row.seq,
    no: row.no,
    shareCode: row.share_code,
    shareType: row.share_type,
    entryPath: row.entry_path,
    trigger: row.trigger_type,
    reason: row.reason,
    fileCount: row.file_count,
    totalSize: row.total_size,
    publishedAt: row.published_at,
    expiresAt: row.expires_at,
    withdrawnAt: row.withdrawn_at,
    userSeq: row.user_seq,
    pageKey: row.page_key,
    pageName: row.page_name,
    isLatest: row.is_latest === 1,
  };
  return { ...version, status: shareStatusOf(version, now) };
}

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
