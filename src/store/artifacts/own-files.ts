// The files that a run itself has changed, as rows of its artifacts (E4, E5).
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { EndedRun } from './artifact-ends.ts';
import type { WorkspaceState } from './workspace-state.ts';
import type { TreeChange } from './workspace-tree.ts';

/** Files of a run that failed or was stopped are in the session's export only (E4). */
export function isKept({ status }: EndedRun): boolean {
  return status === 'completed' || status === 'incomplete';
}

/** Inserts what the run itself has changed, and counts it. */
export function* insertOwn(
  tx: Transaction,
  run: EndedRun,
  state: WorkspaceState,
  changed: TreeChange['changed'],
): Step<WorkspaceState> {
  if (!isKept(run) || changed.length === 0) return state;
  const uploads = yield* uploadsOf(tx, run.seq);
  let { ownCount, ownBytes } = state;
  for (const { path, size, sha256, change } of changed) {
    // Put there before the agent began, if the baseline does not have it.
    const upload = change === 'added' ? uploads.get(path) : undefined;
    if (upload === sha256) continue;
    ownCount += 1;
    ownBytes += size;
    yield* tx.run(
      'INSERT INTO run_artifact_files (run_seq, path, state, size, sha256) VALUES (?, ?, ?, ?, ?)',
      run.seq,
      path,
      upload === undefined ? change : 'modified',
      size,
      sha256,
    );
  }
  return { ...state, ownCount, ownBytes };
}

/** The contents of a run's uploads by their paths. */
function* uploadsOf(tx: Reader, runSeq: number): Step<ReadonlyMap<string, string>> {
  const uploads = yield* tx.all<Pick<FileVersion, 'path' | 'sha256'>>(
    `SELECT a.workspace_path AS path, a.sha256 FROM attachments a JOIN messages m ON m.id = a.message_id
     WHERE m.run_seq = ? AND m.role = 'user'`,
    runSeq,
  );
  return new Map(uploads.map(({ path, sha256 }) => [path, sha256]));
}
