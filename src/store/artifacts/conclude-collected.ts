// The end of a collection: reports the run's files and the session's, which are all there (§3.2, E4).
import type { Step, Transaction } from '../engine/statement.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { type EndedRun, errorOfRun, failIn, readyIn } from './artifact-ends.ts';
import { isKept } from './own-files.ts';
import { exportIn } from './workspace-exports.ts';
import { keepExtras, recordedAt, saveState, type WorkspaceState } from './workspace-state.ts';
import { type FoundDifference, isWithin, type TreeChange, type WorkspaceSize } from './workspace-tree.ts';

/** A workspace as it was found after a run. */
export interface FoundWorkspace extends FoundDifference {
  /** How many names were left out, by reason. */
  readonly skipped: object;
  /** Archives of so much are packed when they are asked for; absent: all are packed after the run. */
  readonly packedOnRequest?: WorkspaceSize;
}

/** What came of it. */
export interface Recorded {
  /** Contents that the workspace no longer has; something else may still refer to them. */
  readonly replacedKeys: readonly string[];
  /** Nothing is left to pack of the run, or of the workspace after it. */
  readonly isPacked: boolean;
}

interface Conclusion {
  readonly found: FoundWorkspace;
  /** With all files. */
  readonly state: WorkspaceState;
  /** That of this commit. */
  readonly change: Pick<TreeChange, 'changed' | 'deletedPaths' | 'replacedKeys'>;
}

/** Reports the run's files and the session's, which are all there. */
export function* concludeCollected(
  tx: Transaction,
  run: EndedRun,
  { found, state, change }: Conclusion,
): Step<Recorded> {
  const { sessionSeq, seq: runSeq } = run;
  yield* saveState(tx, sessionSeq, recordedAt(state, found.token ?? null, runSeq, null));
  yield* keepExtras(tx, sessionSeq, found.extras);
  const own = { fileCount: state.ownCount, totalBytes: state.ownBytes };
  const count = { fileCount: own.fileCount, totalSize: own.totalBytes };
  yield* tx.run(
    'INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, created_at) VALUES (?, ?, ?, ?, ?)',
    runSeq,
    count.fileCount,
    count.totalSize,
    JSON.stringify(found.skipped),
    tx.now,
  );
  if (count.fileCount > 0) yield* addToTotals(tx, sessionSeq, { artifacts: count.fileCount });
  const isReady = count.fileCount === 0 || isSmall(own, found);
  if (!isKept(run)) yield* failIn(tx, run, errorOfRun(run.status, run.error));
  else if (isReady) yield* readyIn(tx, run, count);
  const { fileCount, totalBytes } = state;
  const size = { fileCount, totalBytes, isSmall: isSmall(state, found) };
  const hasChanged = change.changed.length + change.deletedPaths.length > 0;
  const { isPending, replacedKey } = yield* exportIn(tx, run, { ...size, hasChanged });
  const replacedKeys = replacedKey === null ? change.replacedKeys : [...change.replacedKeys, replacedKey];
  return { replacedKeys, isPacked: isReady && !isPending };
}

const isSmall = (size: WorkspaceSize, { packedOnRequest }: FoundWorkspace) =>
  packedOnRequest !== undefined && isWithin(size, packedOnRequest);
