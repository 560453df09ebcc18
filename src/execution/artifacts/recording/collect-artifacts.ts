// Collecting: after a run, stores what has changed in its workspace since its baseline (E4, E5).
import type { Recorded } from '../../../store/artifacts/conclude-collected.ts';
import type { UncollectedRun } from '../../../store/artifacts/artifact-queue.ts';
import type { BlobHold } from '../../../files/blobs/blobs.ts';
import type { Snapshot } from '../../../files/snapshots/snapshot.ts';
import { isNoThread } from '../../../files/snapshots/send-request.ts';
import { mayBeStored } from '../../../files/blobs/no-space.ts';
import { type ArtifactParts, failureOf } from '../artifact-parts.ts';
import { lookAt } from './look.ts';

/** A run to collect, and its session. */
export type CollectedRun = UncollectedRun & { readonly sessionSeq: number };

/**
 * Collects what a run of a session left. Returns whether nothing of it has to be packed. Throws when the store refuses, when there is no
 * thread to look, and when there is no space or no bucket for the run's files, unless the session's next run waits for it: then it can be
 * retried.
 */
export async function collectRun(parts: ArtifactParts, run: CollectedRun, isAwaited: () => boolean): Promise<boolean> {
  const { store, blobs, removal, stopping, packedOnRequest, here } = parts;
  const hold = blobs.hold();
  let recorded: Recorded | undefined;
  let held: readonly string[] = [];
  try {
    const found = await look(parts, run, hold);
    if (stopping.aborted) return true;
    // Without a thread for it, there is none for the next run either.
    if ('failure' in found && (isNoThread(found.error) || (mayBeStored(found.error) && !isAwaited()))) {
      // Files that did fit would take the space from others meanwhile.
      await removal.remove(hold.release());
      throw found.error;
    }
    if ('failure' in found) await store.artifacts.failCollection(run.runSeq, found.failure, here);
    else {
      const whole = { ...found, contents: hold.contents, packedOnRequest };
      recorded = await store.artifacts.recordArtifacts(run.runSeq, whole, here);
      // Deleted meanwhile, and perhaps already cleaned up; or the workspace is at another node now.
      if (recorded === undefined) await parts.snapshotThread.forget(run.sessionId);
    }
  } finally {
    held = hold.release();
  }
  // Nothing refers to blobs that were not recorded.
  await removal.remove(recorded?.replacedKeys ?? held);
  return recorded?.isPacked ?? true;
}

async function look(
  parts: ArtifactParts,
  run: CollectedRun,
  hold: BlobHold,
): Promise<Snapshot | { readonly failure: string; readonly error: unknown }> {
  const { stopping, log } = parts;
  try {
    const recorded = await parts.store.artifacts.findWorkspace(run.sessionSeq);
    return await lookAt(parts, run, { recorded, hold, signal: stopping });
  } catch (error) {
    const facts = { session_id: run.sessionId, run_id: run.runId, err: error };
    if (!stopping.aborted) log.error(facts, 'a workspace could not be collected');
    return { failure: failureOf(error, 'The workspace could not be read.'), error };
  }
}
