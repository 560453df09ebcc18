// Records the artifacts of ended runs: what was found in the workspace, and how packing it ended (§3.2, E4, E5).
import type { Archive, ArtifactError, ArtifactStatus, FileVersion } from '../../domain/sessions/artifact.ts';
import type { EventPayloads } from '../../domain/journal-event.ts';
import type { RunError, RunStatus } from '../../domain/sessions/run.ts';
import { ENDED } from './artifact-queue.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { exportIn, failExportIn } from './workspace-exports.ts';
import {
  applyChange,
  compare,
  isWithin,
  readTree,
  type SizedChange,
  sizeAfter,
  sizeOf,
  type TreeChange,
  type TreePart,
  type WorkspaceSize,
} from './workspace-tree.ts';

/** A workspace as it was found after a run. */
export interface FoundWorkspace {
  readonly files: readonly FileVersion[];
  /** How many names were left out, by reason. */
  readonly skipped: object;
  /** The only paths that the run itself may have changed; absent: any. */
  readonly own?: readonly string[];
  /** Set if the files are only those of some paths. With `own`, the workspace was known before the run, with its uploads, or `own` is empty. */
  readonly part?: TreePart;
  /** Archives of so much are packed when they are asked for; absent: all are packed after the run. */
  readonly packedOnRequest?: WorkspaceSize;
}

/** What a run has changed. `isPacked`: nothing is left to pack of it, or of the workspace after it. */
export type RecordedChange = SizedChange & { readonly isPacked: boolean };

/** The verbs. Every move starts from `pending`, so each is made once; those that come too late change nothing. */
export function makeRecordArtifacts({ write }: Database) {
  return {
    /** Records what a run has changed. Returns undefined when it no longer needs to be collected. */
    recordArtifacts: write(
      (tx: Transaction, runSeq: number, found: FoundWorkspace): Step<RecordedChange | undefined> =>
        recordIn(tx, runSeq, found),
    ),

    /** The workspace could not be examined: neither the run's changes nor the session's files are known. */
    failCollection: write(function* (tx: Transaction, runSeq: number, message: string): Step<boolean> {
      const run = yield* findEnded(tx, runSeq);
      if (run === undefined) return false;
      yield* failIn(tx, run, { type: 'api_error', message });
      yield* failExportIn(tx, run, message);
      return true;
    }),

    /** pending → ready, with the archive of the run's files. */
    finishArtifacts: write(function* (tx: Transaction, runSeq: number, archive: Archive): Step<boolean> {
      const run = yield* findEnded(tx, runSeq);
      if (run === undefined) return false;
      yield* tx.run(
        'UPDATE run_artifacts SET archive_key = ?, archive_size = ?, archived_at = ? WHERE run_seq = ?',
        archive.key,
        archive.size,
        tx.now,
        runSeq,
      );
      const count = (yield* tx.get<FileCount>(
        'SELECT file_count AS fileCount, total_size AS totalSize FROM run_artifacts WHERE run_seq = ?',
        runSeq,
      ))!;
      yield* readyIn(tx, run, count);
      return true;
    }),

    /** pending → failed: the run's files are known, but could not be packed. */
    failArtifacts: write(function* (tx: Transaction, runSeq: number, message: string): Step<boolean> {
      const run = yield* findEnded(tx, runSeq);
      if (run !== undefined) yield* failIn(tx, run, { type: 'api_error', message });
      return run !== undefined;
    }),
  };
}

/** What becomes of the artifacts of a run that did nothing in its workspace. */
export interface Conclusion {
  readonly status: Extract<ArtifactStatus, 'ready' | 'failed'>;
  readonly runId: string;
  /** The session's export, null while it has still to be packed: then it is reported once it is. */
  readonly exported: { readonly fileCount: number; readonly archiveSize: number | null } | null;
}

interface ConclusionRow {
  id: string;
  status: string | null;
  stale: number;
  fileCount: number | null;
  archiveSize: number | null;
  hasFiles: number;
}

/** Returns null when the session's export may not cover its current files: then they are collected like any others. */
export function* findConclusion(
  tx: Reader,
  runSeq: number,
  outcome: 'completed' | 'failed' | 'incomplete',
): Step<Conclusion | null> {
  const run = (yield* tx.get<ConclusionRow>(
    `SELECT r.id, e.status, e.stale, e.file_count, e.archive_size,
       EXISTS (SELECT 1 FROM workspace_files f WHERE f.session_seq = r.session_seq) AS has_files
     FROM runs r LEFT JOIN workspace_exports e ON e.session_seq = r.session_seq WHERE r.seq = ?`,
    runSeq,
  ))!;
  const isUnknown = run.status === null && run.hasFiles === 1;
  if (isUnknown || run.status === 'failed' || run.stale === 1) return null;
  return {
    status: outcome === 'failed' ? 'failed' : 'ready',
    runId: run.id,
    exported: run.status === 'pending' ? null : exportedOf(run),
  };
}

/** Without an export, there is nothing to pack. */
const exportedOf = ({ status, fileCount, archiveSize }: ConclusionRow) => ({
  fileCount: fileCount ?? 0,
  archiveSize: status === null ? 0 : archiveSize,
});

/** Reports a conclusion, in the commit of the run's end. */
export function reportConclusion(tx: Transaction, sessionSeq: number, { status, runId, exported }: Conclusion): void {
  if (status === 'ready') {
    tx.emit(sessionSeq, null, { type: 'artifacts.ready', payload: { runId, fileCount: 0, totalSize: 0 } });
  }
  if (exported !== null)
    tx.emit(sessionSeq, null, { type: 'workspace_export.completed', payload: { runId, ...exported } });
}

type FileCount = Pick<EventPayloads['artifacts.ready'], 'fileCount' | 'totalSize'>;

interface EndedRow {
  seq: number;
  id: string;
  sessionSeq: number;
  status: RunStatus;
  error: string | null;
}

function* findEnded(tx: Transaction, runSeq: number, condition = ''): Step<EndedRow | undefined> {
  return yield* tx.get<EndedRow>(
    `SELECT seq, id, session_seq, status, error FROM runs WHERE seq = ? AND ${ENDED} ${condition}`,
    runSeq,
  );
}

function* recordIn(tx: Transaction, runSeq: number, found: FoundWorkspace): Step<RecordedChange | undefined> {
  const run = yield* findEnded(tx, runSeq, 'AND NOT EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = runs.seq)');
  if (run === undefined) return undefined;
  const { part } = found;
  const tree = yield* readTree(tx, run.sessionSeq, part);
  const change = compare(tree, found.files);
  yield* applyChange(tx, run.sessionSeq, change);
  const own = isKept(run) ? ownOf(yield* changeOf(tx, runSeq, { tree, change, found }), found) : [];
  const { fileCount, totalBytes } = sizeOf(own);
  const count: FileCount = { fileCount, totalSize: totalBytes };
  yield* insertArtifacts(tx, runSeq, { ...count, skipped: JSON.stringify(found.skipped), files: own });
  if (own.length > 0) yield* addToTotals(tx, run.sessionSeq, { artifacts: own.length });
  const isReady = own.length === 0 || isSmall({ fileCount, totalBytes }, found);
  if (!isKept(run)) yield* failIn(tx, run, errorOfRun(run.status, run.error));
  else if (isReady) yield* readyIn(tx, run, count);
  const size = sizeAfter(part ?? sizeOf(tree.values()), change);
  const hasChanged = change.changed.length + change.deletedPaths.length > 0;
  const { isPending, replacedKey } = yield* exportIn(tx, run, { ...size, hasChanged, isSmall: isSmall(size, found) });
  const replacedKeys = replacedKey === null ? change.replacedKeys : [...change.replacedKeys, replacedKey];
  return { ...change, replacedKeys, size, isPacked: isReady && !isPending };
}

const isSmall = (size: WorkspaceSize, { packedOnRequest }: FoundWorkspace) =>
  packedOnRequest !== undefined && isWithin(size, packedOnRequest);

interface Compared {
  readonly tree: ReadonlyMap<string, FileVersion>;
  readonly change: TreeChange;
  readonly found: FoundWorkspace;
}

/** A change without the uploads of its run. */
function* changeOf(tx: Transaction, runSeq: number, { tree, change, found }: Compared): Step<TreeChange> {
  const hadUploads = found.part !== undefined && found.own !== undefined;
  return hadUploads ? change : compare(yield* withUploads(tx, tree, runSeq), found.files);
}

/** What the run has changed, without what others have. */
function ownOf({ changed }: TreeChange, { own }: FoundWorkspace): TreeChange['changed'] {
  if (own === undefined) return changed;
  const paths = new Set(own);
  return changed.filter(({ path }) => paths.has(path));
}

/** Files of a run that failed or was stopped are in the session's export only (E4). */
function isKept({ status }: EndedRow): boolean {
  return status === 'completed' || status === 'incomplete';
}

/** Why a run that did not complete has no artifacts, given its error as stored in its row. */
export function errorOfRun(status: RunStatus, error: string | null): ArtifactError {
  if (status === 'canceled') return { type: 'canceled_error', message: 'The run was stopped.' };
  if (error === null) return { type: 'api_error', message: 'The run failed.' };
  const { type, message } = JSON.parse(error) as RunError;
  return { type, message: `The run failed: ${message}` };
}

/** What was put into the workspace before the agent began, if the baseline does not have it. */
function* withUploads(
  tx: Transaction,
  tree: ReadonlyMap<string, FileVersion>,
  runSeq: number,
): Step<Map<string, FileVersion>> {
  const uploads = yield* tx.all<FileVersion>(
    `SELECT a.workspace_path AS path, a.size, a.sha256 FROM attachments a JOIN messages m ON m.id = a.message_id
     WHERE m.run_seq = ? AND m.role = 'user'`,
    runSeq,
  );
  return new Map([...uploads.map((file) => [file.path, file] as const), ...tree]);
}

function* insertArtifacts(
  tx: Transaction,
  runSeq: number,
  { skipped, files, fileCount, totalSize }: FileCount & { skipped: string; files: TreeChange['changed'] },
): Step<void> {
  yield* tx.run(
    'INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, created_at) VALUES (?, ?, ?, ?, ?)',
    runSeq,
    fileCount,
    totalSize,
    skipped,
    tx.now,
  );
  for (const { path, change, size, sha256 } of files) {
    yield* tx.run(
      'INSERT INTO run_artifact_files (run_seq, path, state, size, sha256) VALUES (?, ?, ?, ?, ?)',
      runSeq,
      path,
      change,
      size,
      sha256,
    );
  }
}

function* moveIn(tx: Transaction, runSeq: number, status: ArtifactStatus): Step<void> {
  yield* tx.run("UPDATE runs SET artifact_status = ? WHERE seq = ? AND artifact_status = 'pending'", status, runSeq);
}

function* readyIn(tx: Transaction, run: EndedRow, count: FileCount): Step<void> {
  yield* moveIn(tx, run.seq, 'ready');
  tx.emit(run.sessionSeq, null, { type: 'artifacts.ready', payload: { runId: run.id, ...count } });
}

function* failIn(tx: Transaction, run: EndedRow, error: ArtifactError): Step<void> {
  yield* moveIn(tx, run.seq, 'failed');
  yield* tx.run(
    `INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, error, created_at) VALUES (?, 0, 0, '{}', ?, ?)
     ON CONFLICT (run_seq) DO UPDATE SET error = excluded.error`,
    run.seq,
    JSON.stringify(error),
    tx.now,
  );
  tx.emit(run.sessionSeq, null, { type: 'artifacts.failed', payload: { runId: run.id, message: error.message } });
}
