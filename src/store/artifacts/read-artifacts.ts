// Artifacts as they are reported: of one run, and of a session's whole workspace (§2.8, §2.9).
import type {
  Archive,
  ArtifactError,
  ArtifactStatus,
  ExportStatus,
  FileChange,
  FileVersion,
} from '../../domain/sessions/artifact.ts';
import type { RunStatus } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { errorOfRun } from './artifact-ends.ts';

/** A file that a run has added or changed. */
export type RunFile = FileVersion & { readonly change: FileChange };

export interface RunArtifacts {
  readonly status: ArtifactStatus;
  readonly fileCount: number;
  /** Bytes. */
  readonly totalSize: number;
  /** How many names were left out, by reason; null before the workspace was examined. */
  readonly skipped: Readonly<Record<string, number>> | null;
  /** Null also when there is nothing to pack. */
  readonly archive: Archive | null;
  /** Whether the archive has still to be packed, because nobody has asked for it, or again, because it was removed by age. */
  readonly isUnpacked: boolean;
  readonly error: ArtifactError | null;
}

/** The export of a session's workspace. */
export interface WorkspaceExport {
  readonly status: ExportStatus;
  /** Null also when there is nothing to pack. */
  readonly archive: Archive | null;
  /** Whether the archive has still to be packed, because nobody has asked for it, or again, because it was removed by age. */
  readonly isUnpacked: boolean;
  readonly error: string | null;
}

interface RunRow {
  artifactStatus: ArtifactStatus;
  runStatus: RunStatus;
  runError: string | null;
  fileCount: number | null;
  totalSize: number | null;
  skipped: string | null;
  archiveKey: string | null;
  archiveSize: number | null;
  error: string | null;
}

interface ExportRow {
  status: 'pending' | 'ready' | 'failed';
  fileCount: number;
  archiveKey: string | null;
  archiveSize: number | null;
  error: string | null;
}

/** The reading verbs on artifacts. */
export function makeReadArtifacts({ read }: Database) {
  return {
    /** What a run has produced. */
    getRunArtifacts: read(function* (tx: Reader, runSeq: number): Step<RunArtifacts> {
      const row = (yield* tx.get<RunRow>(
        `SELECT r.artifact_status, r.status AS run_status, r.error AS run_error, a.file_count, a.total_size, a.skipped, a.archive_key,
           a.archive_size, a.error FROM runs r LEFT JOIN run_artifacts a ON a.run_seq = r.seq WHERE r.seq = ?`,
        runSeq,
      ))!;
      return {
        status: row.artifactStatus,
        fileCount: row.fileCount ?? 0,
        totalSize: row.totalSize ?? 0,
        skipped: row.skipped === null ? null : (JSON.parse(row.skipped) as Record<string, number>),
        archive: archiveOf(row),
        isUnpacked: row.artifactStatus === 'ready' && row.archiveKey === null && (row.fileCount ?? 0) > 0,
        error: errorOf(row),
      };
    }),

    /** Up to `limit` of its files once they are all there, in the order of their paths, after a path ('' for the first). */
    listRunFiles: read(
      (tx: Reader, runSeq: number, afterPath: string, limit: number): Step<RunFile[]> =>
        tx.all<RunFile>(
          `SELECT path, state AS change, size, sha256 FROM run_artifact_files
           WHERE run_seq = ? AND path > ? AND EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = run_artifact_files.run_seq)
           ORDER BY path LIMIT ?`,
          runSeq,
          afterPath,
          limit,
        ),
    ),

    /** The same of the files of a session's workspace as they were after its last run. */
    listWorkspaceFiles: read(
      (tx: Reader, sessionSeq: number, afterPath: string, limit: number): Step<FileVersion[]> =>
        tx.all<FileVersion>(
          'SELECT path, size, sha256 FROM workspace_files WHERE session_seq = ? AND path > ? ORDER BY path LIMIT ?',
          sessionSeq,
          afterPath,
          limit,
        ),
    ),

    /** One of them. */
    findWorkspaceFile: read(
      (tx: Reader, sessionSeq: number, path: string): Step<FileVersion | undefined> =>
        tx.get<FileVersion>(
          'SELECT path, size, sha256 FROM workspace_files WHERE session_seq = ? AND path = ?',
          sessionSeq,
          path,
        ),
    ),

    /** The export of a session's workspace. */
    getWorkspaceExport: read((tx: Reader, sessionSeq: number): Step<WorkspaceExport> => exportOf(tx, sessionSeq)),
  };
}

const UNCOLLECTED = `SELECT 1 FROM runs r WHERE r.session_seq = ? AND r.artifact_status = 'pending'
  AND r.finished_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_artifacts a WHERE a.run_seq = r.seq) LIMIT 1`;
const CONCLUDED = `SELECT 1 FROM runs WHERE session_seq = ? AND artifact_status IN ('ready', 'failed')
  AND finished_at IS NOT NULL LIMIT 1`;

function* exportOf(tx: Reader, sessionSeq: number): Step<WorkspaceExport> {
  const row = yield* tx.get<ExportRow>(
    'SELECT status, file_count, archive_key, archive_size, error FROM workspace_exports WHERE session_seq = ?',
    sessionSeq,
  );
  const status = yield* statusOf(tx, sessionSeq, row);
  return {
    status,
    archive: status === 'ready' && row !== undefined ? archiveOf(row) : null,
    isUnpacked: status === 'ready' && row !== undefined && row.archiveKey === null && row.fileCount > 0,
    error: status === 'failed' ? row!.error : null,
  };
}

/** Before a session's first export, its runs determine the status: those that left nothing to pack write no export. */
function* statusOf(tx: Reader, sessionSeq: number, row: ExportRow | undefined): Step<ExportStatus> {
  // The export lacks what a run has changed since, whatever the row says.
  if ((yield* tx.get(UNCOLLECTED, sessionSeq)) !== undefined) return 'pending';
  if (row !== undefined) return row.status;
  return (yield* tx.get(CONCLUDED, sessionSeq)) === undefined ? 'none' : 'ready';
}

function archiveOf({ archiveKey, archiveSize }: Pick<ExportRow, 'archiveKey' | 'archiveSize'>): Archive | null {
  return archiveKey === null || archiveSize === null ? null : { key: archiveKey, size: archiveSize };
}

/** A run that did nothing has only its own end to report. */
function errorOf({ artifactStatus, runStatus, runError, error }: RunRow): ArtifactError | null {
  if (artifactStatus !== 'failed') return null;
  return error === null ? errorOfRun(runStatus, runError) : (JSON.parse(error) as ArtifactError);
}
