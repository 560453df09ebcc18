// How the artifacts of a run that did nothing in its workspace are concluded, in the commit of its end.
import type { ArtifactStatus } from '../../domain/sessions/artifact.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { saveState, stateOf } from './workspace-state.ts';

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

/** Its own files are none, whatever the session's other files are: only these have still to be looked at. */
export function* leaveNothing(tx: Transaction, sessionSeq: number, runSeq: number): Step<void> {
  const state = yield* stateOf(tx, sessionSeq);
  yield* saveState(tx, sessionSeq, { ...state, step: 'tree', runSeq, ownCount: 0, ownBytes: 0 });
}
