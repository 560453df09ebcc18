// Makes versions: copies the manifest, and publishes it in one commit, with the page if it is new.
import { ErrandError, notFound } from '../../domain/errors.ts';
import { randomCode } from '../../domain/ids.ts';
import { type Page, PAGE_LIMITS, type VersionTrigger } from '../../domain/publishing/page.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { unlistedOf } from '../sessions/cleanups.ts';
import { countOpenIn } from './page-rows.ts';
import { columnsOf, requireRoomIn } from './pages.ts';
import type { VersionPlan } from './plan-version.ts';

/** A page to be made. A task's has `scheduledTaskId`, and no version until its next firing completes. */
export interface NewPage
  extends Pick<
    Page,
    'userSeq' | 'name' | 'description' | 'category' | 'tags' | 'entryPath' | 'isOnBoard' | 'isDistractionFree'
  > {
  readonly source: { readonly sessionSeq: number } | { readonly scheduledTaskId: string };
}

/** Where a version is copied to, a part at a time. Nobody sees it before it is published. */
export interface Draft {
  readonly seq: number | null;
  readonly plan: VersionPlan;
  /** The part that is copied now. */
  readonly files: readonly FileVersion[];
}

/** What becomes of a draft. */
export interface Publication {
  readonly page: NewPage | { readonly id: number };
  readonly trigger: VersionTrigger;
  readonly reason: string | null;
  /** The job that it settles: without it, nothing is published. */
  readonly jobId: number | null;
}

/** What was published. */
export interface Published {
  readonly key: string;
  readonly no: number;
  readonly shareCode: string;
}

const [KEY_LENGTH, CODE_LENGTH] = [16, 22];
/** A draft that nobody has copied to for so long was abandoned. */
const DRAFT_MS = 600_000;

/** The files have changed since they were read, and some may be gone: they are to be read again. */
export class FilesGone extends ErrandError {
  constructor() {
    super('unavailable', 'The files of the session change while they are published. Try again soon.');
  }
}

/** The verbs. */
export function makeVersions(database: Database) {
  const { write } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** Makes a page of a scheduled task. Throws `conflict` when the owner has as many pages as they may have. */
    createPage: (page: NewPage, note?: Note<{ key: string }>): Promise<{ key: string }> =>
      auditedWrite(note, (tx) => insertPage(tx, page)),

    /** Copies a part of a version that is too large for one commit. Returns the draft's `seq`. Throws as `publish` does. */
    copyPart: write((tx: Transaction, draft: Draft): Step<number> => copyIn(tx, draft)),

    /**
     * Copies the last part, or all, and publishes the version. Throws `not_found` when the page was deleted or the job was
     * settled meanwhile, `conflict` when the session was deleted or is another user's, or the owner or the task has too many pages;
     * `FilesGone`, and `unavailable` when the draft was removed, as it had been left for too long.
     */
    publish: (draft: Draft, publication: Publication, note?: Note<Published>): Promise<Published> =>
      auditedWrite(note, (tx) => publishIn(tx, draft, publication)),
  };
}

function* insertPage(tx: Transaction, page: NewPage): Step<{ id: number; key: string }> {
  const { userSeq, source, ...fields } = page;
  yield* requireRoomIn(tx, userSeq);
  if ('scheduledTaskId' in source) yield* requirePlaceOfTask(tx, source.scheduledTaskId);
  const key = randomCode(KEY_LENGTH);
  const ofSession = 'sessionSeq' in source;
  const columns = [
    ['key', key],
    ['user_seq', userSeq],
    ['origin', ofSession ? 'existing_session' : 'scheduled_task'],
    ['session_seq', ofSession ? source.sessionSeq : null],
    ['task_id', ofSession ? null : source.scheduledTaskId],
    ['created_at', tx.now],
    ['updated_at', tx.now],
    ...columnsOf(fields),
  ] as const;
  const id = yield* tx.insert(
    `INSERT INTO publish_pages (${columns.map(([name]) => name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...columns.map(([, value]) => value),
  );
  return { id, key };
}

function* requirePlaceOfTask(tx: Transaction, taskId: string): Step<void> {
  const sql = 'SELECT count(*) AS count FROM publish_pages WHERE task_id = ? AND deleted_at IS NULL';
  const { count } = (yield* tx.get<{ count: number }>(sql, taskId))!;
  if (count >= PAGE_LIMITS.perTask)
    throw new ErrandError('conflict', `The scheduled task already has ${count} pages, which is the maximum.`);
}

function* copyIn(tx: Transaction, { seq, plan, files }: Draft): Step<number> {
  if ((yield* unlistedOf(tx, [...new Set(files.map(({ sha256 }) => sha256))])).length > 0) throw new FilesGone();
  const draft = seq === null ? yield* beginDraft(tx, plan) : yield* continueDraft(tx, seq);
  for (const { path, size, sha256 } of files) {
    const sql = 'INSERT INTO publish_files (version_seq, path, size, sha256) VALUES (?, ?, ?, ?)';
    yield* tx.run(sql, draft, path, size, sha256);
  }
  return draft;
}

// Until its end, a draft is somebody's.
function* beginDraft(tx: Transaction, plan: VersionPlan): Step<number> {
  return yield* tx.insert(
    `INSERT INTO publish_versions (user_seq, session_seq, share_type, entry_path, trigger_type, file_count, total_size, expires_at,
       is_open) VALUES (?, ?, ?, ?, 'manual', ?, ?, ?, 0)`,
    plan.userSeq,
    plan.sessionSeq,
    plan.shareType,
    plan.entryPath,
    plan.files.length,
    plan.totalSize,
    tx.now + DRAFT_MS,
  );
}

function* continueDraft(tx: Transaction, seq: number): Step<number> {
  const sql = 'UPDATE publish_versions SET expires_at = ? WHERE seq = ? AND published_at IS NULL AND has_files = 1';
  if ((yield* tx.count(sql, tx.now + DRAFT_MS, seq)) === 0)
    throw new ErrandError('unavailable', 'The version took too long to be made. Try again.');
  return seq;
}

function* publishIn(tx: Transaction, draft: Draft, publication: Publication): Step<Published> {
  const { plan } = draft;
  const { trigger, reason, jobId } = publication;
  const isThere = 'SELECT 1 FROM sessions WHERE seq = ? AND deleted_at IS NULL';
  if ((yield* tx.get(isThere, plan.sessionSeq)) === undefined) throw sessionGone();
  if (jobId !== null && (yield* tx.count('DELETE FROM publish_jobs WHERE id = ?', jobId)) === 0) throw notFound('Job');
  const { id } = 'id' in publication.page ? publication.page : yield* insertPage(tx, publication.page);
  const page = yield* getPage(tx, id);
  // It may have got another owner while the files were waited for. A job was made when its firing completed, and stays good.
  if (trigger === 'manual' && 'id' in publication.page && page.userSeq !== plan.userSeq) throw ofAnother();
  const seq = yield* copyIn(tx, draft);
  const newest = 'SELECT max(no) AS no FROM publish_versions WHERE page_id = ?';
  const no = ((yield* tx.get<{ no: number | null }>(newest, id))!.no ?? 0) + 1;
  const shareCode = randomCode(CODE_LENGTH);
  yield* tx.run(
    `UPDATE publish_versions SET page_id = ?, no = ?, share_code = ?, published_at = ?, user_seq = ?, trigger_type = ?,
       reason = ?, expires_at = NULL, is_open = 1 WHERE seq = ?`,
    id,
    no,
    shareCode,
    tx.now,
    page.userSeq,
    trigger,
    reason,
    seq,
  );
  yield* countOpenIn(tx, id, 1);
  const { userSeq: _userSeq, isOnBoard, ...named } = page;
  tx.emit(plan.sessionSeq, null, {
    type: 'publish_page.published',
    payload: {
      page: { ...named, isOnBoard: isOnBoard === 1 },
      version: { no, entryPath: plan.entryPath, shareCode, trigger, reason },
    },
  });
  return { key: page.key, no, shareCode };
}

interface PageFacts extends Pick<Page, 'id' | 'key' | 'userSeq' | 'name' | 'origin' | 'category'> {
  readonly isOnBoard: number;
}

function* getPage(tx: Reader, id: number): Step<PageFacts> {
  const page = yield* tx.get<PageFacts>(
    `SELECT id, key, user_seq, name, origin, category, is_on_board FROM publish_pages
     WHERE id = ? AND deleted_at IS NULL`,
    id,
  );
  if (page === undefined) throw notFound('Page');
  return page;
}

/** The refusal of a version of files that are not those of the page's owner. */
export const ofAnother = () =>
  new ErrandError('conflict', 'The page comes from a session of another user: its versions stay as they are.');

/** The refusal of a version whose session is no longer there. */
export const sessionGone = () =>
  new ErrandError('conflict', 'The session of this page was deleted: its versions stay, but there can be no more.');
