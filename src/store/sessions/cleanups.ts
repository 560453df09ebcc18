// Which files deleted sessions leave, and which blobs are in use: the durable list of clean-ups (E9).
import type { Database } from '../engine/database.ts';
import { type Reader, type Step, together } from '../engine/statement.ts';

/** A deleted session whose files still exist. */
export interface Cleanup {
  readonly sessionSeq: number;
  readonly sessionId: string;
}

const OF_MESSAGE = { from: 'attachments a JOIN messages m ON m.id = a.message_id', session: 'm.session_seq' };
const ofRun = (table: string, as: string) => ({
  from: `${table} ${as} JOIN runs r ON r.seq = ${as}.run_seq`,
  session: 'r.session_seq',
});

/** Where a row of a session refers to a blob, the size that the row says, and how to find its session from there. */
export const REFERENCES = [
  { key: 'a.sha256', size: 'a.size', ...OF_MESSAGE },
  { key: 'f.sha256', size: 'f.size', ...ofRun('run_artifact_files', 'f') },
  { key: 'p.archive_key', size: 'p.archive_size', ...ofRun('run_artifacts', 'p') },
  { key: 'w.sha256', size: 'w.size', from: 'workspace_files w', session: 'w.session_seq' },
  { key: 'v.sha256', size: 'v.size', from: 'earlier_files v', session: 'v.session_seq' },
  { key: 'e.archive_key', size: 'e.archive_size', from: 'workspace_exports e', session: 'e.session_seq' },
  { key: 'i.sha256', size: 'i.size', ...ofRun('screenshots', 'i') },
] as const;
/** The files of published versions. */
export const MANIFEST_FILES = 'publish_files';

/**
 * The condition that a row refers to a blob, whose key is a column, or a parameter in each of its parts. Rows of a deleted session count
 * until its clean-up has removed them: to pass them would take as long as it has files of the same content. Manifests need no session:
 * what is published stays when its session is deleted.
 */
export const isInUse = (blob: string): string =>
  [
    ...REFERENCES.map(({ key, from }) => [from.split(' JOIN ')[0], key] as const),
    [`${MANIFEST_FILES} m`, 'm.sha256'] as const,
  ]
    .map(([table, key]) => `EXISTS (SELECT 1 FROM ${table} WHERE ${key} = ${blob})`)
    .join(' OR ');
/**
 * Those of some blobs that no row lists any more. Whoever lists one without its bytes, because another row does, asks in the commit that
 * lists it: another process, whose holds are its own, may have removed it.
 */
export function* unlistedOf(tx: Reader, keys: readonly string[]): Step<string[]> {
  const listed = yield* together(keys.map((key) => isListed(tx, key)));
  return keys.filter((_, at) => !listed[at]);
}

export const IS_BLOB_IN_USE = `SELECT ${isInUse('?')} AS used`;

/** Whether a row lists a blob: one of a session, or of a manifest. */
export function* isListed(tx: Reader, key: string): Step<boolean> {
  return (yield* tx.get<{ used: number }>(IS_BLOB_IN_USE, ...REFERENCES.map(() => key), key))!.used === 1;
}

/** Whether a session of an id exists, or has still to be cleaned up. */
export const HAS_FILES = `SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.id = ?
  AND (s.deleted_at IS NULL OR EXISTS (SELECT 1 FROM cleanups WHERE session_seq = s.seq))) AS used`;

/** The verbs that clean up. */
export function makeCleanups({ read }: Database) {
  return {
    /** Up to `limit` clean-ups after the given session, without those whose executor may still be working. */
    listCleanups: read(
      (tx: Reader, afterSessionSeq: number, limit: number): Step<Cleanup[]> =>
        tx.all<Cleanup>(
          // A cross join is executed in this order: the list is short, the table of sessions is not.
          `SELECT cleanups.session_seq, s.id AS sessionId
         FROM cleanups CROSS JOIN sessions s ON s.seq = cleanups.session_seq
         WHERE cleanups.session_seq > ? AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)
         ORDER BY cleanups.session_seq LIMIT ?`,
          afterSessionSeq,
          limit,
        ),
    ),

    /** Whether the files of a session may be needed, or are about to be removed. */
    hasFiles: read(function* (tx: Reader, sessionId: string): Step<boolean> {
      return (yield* tx.get<{ used: number }>(HAS_FILES, sessionId))!.used === 1;
    }),

    /** Whether a row refers to a blob: one of a session, or of a manifest. */
    isBlobInUse: read(isListed),
  };
}
