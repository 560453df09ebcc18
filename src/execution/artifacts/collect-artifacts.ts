// Collecting: after a run, compares the workspace with its baseline and stores what the run has changed (E4, E5).
import type { FoundWorkspace, RecordedChange } from '../../store/artifacts/record-artifacts.ts';
import { sizeAfter, type TreeChange, type WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';
import type { UncollectedRun } from '../../store/artifacts/artifact-queue.ts';
import type { BlobHold } from '../../files/blobs/blobs.ts';
import { sumAfter } from '../../files/snapshots/name-sum.ts';
import type { NameSum } from '../../files/snapshots/snapshot.ts';
import type { SnapshotOrder } from '../../files/snapshots/snapshot-thread.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import { type ArtifactParts, failureOf, orderLimits } from './artifact-parts.ts';
import { type KnownChange, sameLimits } from './known-workspaces.ts';

/**
 * Collects what a run of a session left. Returns whether nothing of it has to be packed. Throws when the store refuses, and when
 * there is no space for the run's files: then it can be retried, unless the session's next run waits for it.
 */
export async function collectRun(parts: ArtifactParts, run: CollectedRun, isAwaited: () => boolean): Promise<boolean> {
  const { store, blobs, removal, stopping } = parts;
  const hold = blobs.hold();
  const left = parts.known.takeLeft(run.runSeq);
  let change: RecordedChange | undefined;
  let held: readonly string[] = [];
  try {
    const found = await look(parts, run, { hold, left });
    if (stopping.aborted) return true;
    if ('failure' in found && isNoSpace(found.error) && !isAwaited()) {
      // Files that did fit would take the space from others meanwhile.
      await removal.remove(hold.release());
      throw found.error;
    }
    if ('failure' in found) await store.artifacts.failCollection(run.runSeq, found.failure);
    else {
      const { packedOnRequest } = parts;
      change = await store.artifacts.recordArtifacts(run.runSeq, { ...found, packedOnRequest });
      // Deleted meanwhile, and perhaps already cleaned up.
      if (change === undefined) await parts.snapshotThread.forget(run.sessionId);
      else if (left !== null && found.part !== undefined)
        noteRecorded(parts, run, { left, names: found.part.names, change });
    }
  } finally {
    held = hold.release();
  }
  // Nothing refers to blobs that were not recorded.
  await removal.remove(change === undefined ? held : change.replacedKeys);
  return change?.isPacked ?? true;
}

/** A run to collect, and its session. */
export type CollectedRun = UncollectedRun & { readonly sessionSeq: number };

interface Looking {
  readonly hold: BlobHold;
  /** What the run has left, where that is known. */
  readonly left: KnownChange | null;
}

type FoundPart = FoundWorkspace & { readonly part: WorkspaceSize & { readonly names: NameSum } };
type Found = FoundPart | (FoundWorkspace & { readonly part?: never });
type Failed = { readonly failure: string; readonly error: unknown };

async function look(parts: ArtifactParts, run: CollectedRun, { hold, left }: Looking): Promise<Found | Failed> {
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
    const part =
      left === null || !sameLimits(left.before.limits, limits) ? null : await lookAtPart(parts, run, { left, order });
    if (part !== null) return part;
    const { files, skipped } = await parts.snapshotThread.takeSnapshot(order);
    return { files, skipped, ...(left !== null && { own: left.paths }) };
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

interface Part {
  readonly left: KnownChange;
  readonly order: SnapshotOrder;
}

/** Looks at what the run has changed. Null when only a look at everything shows what else has. */
async function lookAtPart(
  { store, snapshotThread }: ArtifactParts,
  { sessionSeq }: CollectedRun,
  { left: { before, paths }, order }: Part,
): Promise<FoundPart | null> {
  const [{ files, isWhole, names }, recorded] = await Promise.all([
    snapshotThread.takeSnapshot({ ...order, paths }),
    before.fileCount === 0 ? [] : store.artifacts.listFilesAt(sessionSeq, paths),
  ]);
  if (isWhole || names === null) return null;
  const [there, known] = [files.map(({ path }) => path), recorded.map(({ path }) => path)];
  const came = there.filter((path) => !known.includes(path));
  const gone = known.filter((path) => !there.includes(path));
  const expected = sumAfter(before.names, came, gone);
  if (names.count !== expected.count || names.sum !== expected.sum) return null;
  const { fileCount, totalBytes, skipped } = before;
  const found = files.reduce((sum, { size }) => sum + size, 0);
  // Otherwise, some files may exceed a limit of all: only a look at everything shows which.
  const fits = fileCount + came.length <= order.limits.maxFiles && totalBytes + found <= order.limits.maxTotalBytes;
  return fits ? { files, skipped, own: paths, part: { fileCount, totalBytes, names } } : null;
}

interface Recorded {
  readonly left: KnownChange;
  readonly names: NameSum;
  readonly change: TreeChange;
}

/** The next run need not look at the workspace either. */
function noteRecorded(
  { known, workspaces }: ArtifactParts,
  { sessionSeq, sessionId }: CollectedRun,
  { left, names, change }: Recorded,
): void {
  const identity = workspaces.identityOf(sessionId);
  known.recorded(sessionSeq, left, { ...left.before, ...sizeAfter(left.before, change), names, identity });
}
