// Collecting: after a run, compares the workspace with its baseline and stores what the run has changed (E4, E5).
import type { FoundWorkspace } from '../../store/artifacts/record-artifacts.ts';
import { sizeAfter, type TreeChange } from '../../store/artifacts/workspace-tree.ts';
import type { UncollectedRun } from '../../store/artifacts/artifact-queue.ts';
import type { BlobHold } from '../../files/blobs/blobs.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import { type ArtifactParts, failureOf, orderLimits } from './artifact-parts.ts';
import { type KnownChange, sameLimits } from './known-workspaces.ts';

/**
 * Collects what one run of a session left. Returns whether there was one. Throws when the store refuses, and when there is no
 * space for the run's files: then it can be retried, unless the session's next run waits for it.
 */
export async function collectNext(
  parts: ArtifactParts,
  sessionSeq: number,
  isAwaited: () => boolean,
): Promise<boolean> {
  const { store, blobs, removal, stopping } = parts;
  const run = await store.artifacts.nextUncollected(sessionSeq);
  if (run === undefined) return false;
  const hold = blobs.hold();
  const left = parts.known.takeLeft(run.runSeq);
  let change: TreeChange | undefined;
  let held: readonly string[] = [];
  try {
    const found = await look(parts, run, { hold, left });
    if (stopping.aborted) return false;
    if ('failure' in found && isNoSpace(found.error) && !isAwaited()) {
      // Files that did fit would take the space from others meanwhile.
      await removal.remove(hold.release());
      throw found.error;
    }
    if ('failure' in found) await store.artifacts.failCollection(run.runSeq, found.failure);
    else {
      change = await store.artifacts.recordArtifacts(run.runSeq, found);
      // Deleted meanwhile, and perhaps already cleaned up.
      if (change === undefined) await parts.snapshotThread.forget(run.sessionId);
      else if (left !== null && found.part !== undefined) noteRecorded(parts, { ...run, sessionSeq }, { left, change });
    }
  } finally {
    held = hold.release();
  }
  // Nothing refers to blobs that were not recorded.
  await removal.remove(change === undefined ? held : change.replacedKeys);
  return true;
}

interface Looking {
  readonly hold: BlobHold;
  /** What the run has left, where that is known. */
  readonly left: KnownChange | null;
}

type Looked = FoundWorkspace | { readonly failure: string; readonly error: unknown };

async function look(parts: ArtifactParts, run: UncollectedRun, { hold, left }: Looking): Promise<Looked> {
  const { limits, deadlineMs } = orderLimits(parts.settings());
  const order = {
    sessionId: run.sessionId,
    root: parts.workspaces.pathOf(run.sessionId),
    hold,
    signal: parts.stopping,
    limits,
    deadlineMs,
  };
  try {
    if (left !== null && sameLimits(left.before.limits, limits)) {
      const { files, skipped, isWhole } = await parts.snapshotThread.takeSnapshot({ ...order, paths: left.paths });
      if (isWhole) return { files, skipped };
      const { fileCount, totalBytes } = left.before;
      const found = files.reduce((sum, { size }) => sum + size, 0);
      // Otherwise, some files may exceed a limit of all: which ones, only a look at all can tell.
      if (fileCount + files.length <= limits.maxFiles && totalBytes + found <= limits.maxTotalBytes)
        return { files, skipped: left.before.skipped, part: { paths: left.paths, fileCount, totalBytes } };
    }
    return await parts.snapshotThread.takeSnapshot(order);
  } catch (error) {
    const failure = failureOf(error, 'The workspace could not be read.');
    if (!parts.stopping.aborted) {
      parts.log.error(
        { session_id: run.sessionId, run_id: run.runId, err: error },
        'a workspace could not be collected',
      );
    }
    return { failure, error };
  }
}

interface Recorded {
  readonly left: KnownChange;
  readonly change: TreeChange;
}

/** The next run need not look at the workspace either. */
function noteRecorded(
  { known, workspaces }: ArtifactParts,
  { sessionSeq, sessionId }: { readonly sessionSeq: number; readonly sessionId: string },
  { left, change }: Recorded,
): void {
  const identity = workspaces.identityOf(sessionId);
  known.recorded(sessionSeq, left, { ...left.before, ...sizeAfter(left.before, change), identity });
}
