// Gives back what withdrawn versions, deleted pages and abandoned drafts hold, a bounded number of rows a commit.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { isInUse, REFERENCES } from '../sessions/cleanups.ts';
import { countOpenIn } from './page-rows.ts';

/** Rows of a manifest in one commit: each takes an entry out of the index on contents. */
const FILES_AT_ONCE = 250;
const VERSIONS_AT_ONCE = 50;
const JOBS_AT_ONCE = 500;

/** A version that was not published. */
export interface LeftDraft {
  readonly seq: number;
  /** Epoch ms. */
  readonly copiedUntil: number;
}

const FORGET = 'DELETE FROM publish_removals WHERE sha256 = ?';
const FORGET_USED = `${FORGET} AND (${isInUse('?')})`;

/** The verbs. Those that write are called until they return false, and may be repeated after a crash. */
export function makePageRemovals(database: Database) {
  const { write, read } = database;
  return {
    ...makeDraftRemovals(database),
    /** Closes versions whose end has come. */
    closeEnded: write(function* (tx: Transaction): Step<boolean> {
      const ended = yield* tx.all<{ seq: number; pageId: number }>(
        `SELECT seq, page_id FROM publish_versions WHERE is_open = 1 AND expires_at IS NOT NULL AND expires_at <= ?
         ORDER BY expires_at LIMIT ?`,
        tx.now,
        VERSIONS_AT_ONCE,
      );
      for (const { seq, pageId } of ended) {
        yield* tx.run('UPDATE publish_versions SET is_open = 0 WHERE seq = ?', seq);
        yield* countOpenIn(tx, pageId, -1);
      }
      return ended.length === VERSIONS_AT_ONCE;
    }),

    /** When the next version ends, epoch ms; undefined when none will. */
    nextEndAt: read(function* (tx: Reader): Step<number | undefined> {
      const sql = `SELECT expires_at AS at FROM publish_versions WHERE is_open = 1 AND expires_at IS NOT NULL
        ORDER BY expires_at LIMIT 1`;
      return (yield* tx.get<{ at: number }>(sql))?.at;
    }),

    /** Removes manifests of withdrawn versions. */
    clearWithdrawn: write(function* (tx: Transaction): Step<boolean> {
      const sql = 'SELECT seq FROM publish_versions WHERE withdrawn_at IS NOT NULL AND has_files = 1 LIMIT 1';
      const version = yield* tx.get<{ seq: number }>(sql);
      if (version === undefined) return false;
      if ((yield* clearIn(tx, version.seq, FILES_AT_ONCE)) < FILES_AT_ONCE)
        yield* tx.run('UPDATE publish_versions SET has_files = 0 WHERE seq = ?', version.seq);
      return true;
    }, FREES),

    /** Removes deleted pages with their versions. */
    clearDeleted: write(function* (tx: Transaction): Step<boolean> {
      const page = yield* tx.get<{ id: number }>('SELECT id FROM publish_pages WHERE deleted_at IS NOT NULL LIMIT 1');
      if (page !== undefined) yield* clearPage(tx, page.id);
      return page !== undefined;
    }, FREES),

    /** Blobs that a manifest had, after the given one. */
    listRemovals: read(function* (tx: Reader, afterKey: string, limit: number): Step<string[]> {
      const sql = 'SELECT sha256 FROM publish_removals WHERE sha256 > ? ORDER BY sha256 LIMIT ?';
      return (yield* tx.all<{ sha256: string }>(sql, afterKey, limit)).map(({ sha256 }) => sha256);
    }),

    /** These blobs were removed, and others left as something else refers to them, unless that has ended by now. */
    finishRemovals: write(function* (tx: Transaction, removed: readonly string[], used: readonly string[]): Step<void> {
      for (const key of removed) yield* tx.run(FORGET, key);
      for (const key of used) yield* tx.run(FORGET_USED, key, ...REFERENCES.map(() => key), key);
    }, FREES),
  };
}

function makeDraftRemovals({ write, read }: Database) {
  return {
    /** Drafts after the given one, and until when somebody may be copying to them. */
    listDrafts: read(
      (tx: Reader, afterSeq: number): Step<LeftDraft[]> =>
        tx.all<LeftDraft>(
          `SELECT seq, coalesce(expires_at, 0) AS copied_until FROM publish_versions
           WHERE published_at IS NULL AND seq > ? ORDER BY seq LIMIT ?`,
          afterSeq,
          VERSIONS_AT_ONCE,
        ),
    ),

    /** Removes a draft; leaves it when it was published meanwhile, or, unless `isAlone`, when somebody may be copying to it. */
    clearDraft: write(function* (tx: Transaction, seq: number, isAlone: boolean): Step<boolean> {
      const begun = yield* tx.count(
        `UPDATE publish_versions SET has_files = 0
         WHERE seq = ? AND published_at IS NULL AND (? = 1 OR has_files = 0 OR coalesce(expires_at, 0) <= ?)`,
        seq,
        Number(isAlone),
        tx.now,
      );
      if (begun === 0) return false;
      if ((yield* clearIn(tx, seq, FILES_AT_ONCE)) === FILES_AT_ONCE) return true;
      yield* tx.run('DELETE FROM publish_versions WHERE seq = ?', seq);
      return false;
    }, FREES),
  };
}

/** Takes some files out of a manifest, and notes their blobs. Returns how many. */
function* clearIn(tx: Transaction, versionSeq: number, limit: number): Step<number> {
  const which = 'publish_files WHERE version_seq = ? ORDER BY path LIMIT ?';
  const noted = `INSERT INTO publish_removals (sha256) SELECT sha256 FROM ${which} ON CONFLICT DO NOTHING`;
  yield* tx.run(noted, versionSeq, limit);
  return yield* tx.count(`DELETE FROM ${which}`, versionSeq, limit);
}

/** Removes a part of a deleted page, and its row once nothing else is left. */
function* clearPage(tx: Transaction, pageId: number): Step<void> {
  // A page may have very many small versions.
  for (let room = FILES_AT_ONCE; room > 0; ) {
    const sql = 'SELECT seq FROM publish_versions WHERE page_id = ? LIMIT 1';
    const version = yield* tx.get<{ seq: number }>(sql, pageId);
    if (version === undefined) {
      yield* clearRest(tx, pageId);
      return;
    }
    const cleared = yield* clearIn(tx, version.seq, room);
    if (cleared === room) return;
    yield* tx.run('DELETE FROM publish_versions WHERE seq = ?', version.seq);
    room -= cleared + 1;
  }
}

function* clearRest(tx: Transaction, pageId: number): Step<void> {
  const jobs = 'DELETE FROM publish_jobs WHERE page_id = ? LIMIT ?';
  if ((yield* tx.count(jobs, pageId, JOBS_AT_ONCE)) === JOBS_AT_ONCE) return;
  yield* tx.run('DELETE FROM publish_pages WHERE id = ?', pageId);
}
