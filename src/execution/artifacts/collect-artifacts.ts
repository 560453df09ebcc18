// Collecting: after a run, compares the workspace with its baseline and stores what the run has changed (E4, E5).
import type { TreeChange } from '../../store/artifacts/workspace-tree.ts';
import type { UncollectedRun } from '../../store/artifacts/artifact-queue.ts';
import type { BlobHold } from '../../files/blobs/blobs.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import type { Snapshot } from '../../files/snapshots/snapshot.ts';
import { type ArtifactParts, failureOf, orderLimits } from './artifact-parts.ts';

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
  let change: TreeChange | undefined;
  let held: readonly string[] = [];
  try {
    const found = await look(parts, run, hold);
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
    }
  } finally {
    held = hold.release();
  }
  // Nothing refers to blobs that were not recorded.
  await removal.remove(change === undefined ? held : change.replacedKeys);
  return true;
}

async function look(
  parts: ArtifactParts,
  run: UncollectedRun,
  hold: BlobHold,
): Promise<Snapshot | { readonly failure: string; readonly error: unknown }> {
  const root = parts.workspaces.pathOf(run.sessionId);
  try {
    return await parts.snapshotThread.takeSnapshot({
      sessionId: run.sessionId,
      root,
      hold,
      signal: parts.stopping,
      ...orderLimits(parts.settings()),
    });
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
