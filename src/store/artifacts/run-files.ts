// The files that a run has added or changed.
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import type { Reader, Step } from '../engine/statement.ts';

export type RunFile = FileVersion & { readonly change: FileChange };

/** They are ordered by path. */
export function filesOf(tx: Reader, runSeq: number): Step<RunFile[]> {
  return tx.all(
    'SELECT path, state AS change, size, sha256 FROM run_artifact_files WHERE run_seq = ? ORDER BY path',
    runSeq,
  );
}
