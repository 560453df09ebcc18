// Collecting: after a run, compares the workspace with its baseline and stores what the run has changed (E4, E5).
import type { FoundWorkspace, RecordedChange } from '../../store/artifacts/record-artifacts.ts';
import type { UncollectedRun } from '../../store/artifacts/artifact-queue.ts';
import type { BlobHold } from '../../files/blobs/blobs.ts';
import { sumAfter } from '../../files/snapshots/name-sum.ts';
import { isNoThread, type SnapshotOrder } from '../../files/snapshots/snapshot-thread.ts';
import { MEAN_PATH_BYTES } from '../../files/snapshots/walk-files.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import { type ArtifactParts, failureOf, orderLimits } from './artifact-parts.ts';
import { isComplete, type KnownChange, sameLimits } from './known-workspaces.ts';
import { partOf } from './recorded-looks.ts';

/**
 * Collects what a run of a session left. Returns whether nothing of it has to be packed. Throws when the store refuses, when there is no
 * thread to look, and when there is no space for the run's files, unless the session's next run waits for it: then it can be retried.
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
    // Without a thread for it, there is none for the next run either.
    if ('failure' in found && (isNoThread(found.error) || (isNoSpace(found.error) && !isAwaited()))) {
      // Files that did fit would take the space from others meanwhile.
      await removal.remove(hold.release());
      throw found.error;
    }
    if ('failure' in found) await store.artifacts.failCollection(run.runSeq, found.failure);
    else {
      const { packedOnRequest } = parts;
      change = await store.artifacts.recordArtifacts(run.runSeq, { ...found.workspace, packedOnRequest });
      // Deleted meanwhile, and perhaps already cleaned up.
      if (change === undefined) await parts.snapshotThread.forget(run.sessionId);
      else found.recorded(change);
    }
  } finally {
    if (change === undefined) parts.looks.forget(run.sessionSeq);
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

interface Found {
  readonly workspace: FoundWorkspace;
  /** Notes what is known of the workspace from now on. */
  recorded(change: RecordedChange): void;
}
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
    return (await lookAtPart(parts, run, { left, order })) ?? (await lookAtAll(parts, run, { left, order }));
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

interface Look {
  readonly left: KnownChange | null;
  readonly order: SnapshotOrder;
}

/** Looks at everything, for what has changed since the last such look, if that is known. */
async function lookAtAll(
  { snapshotThread, known, looks, workspaces, clock }: ArtifactParts,
  { sessionSeq, sessionId }: CollectedRun,
  { left, order }: Look,
): Promise<Found> {
  const [identity, lookedAt] = [workspaces.identityOf(sessionId), clock.now()];
  const since = looks.find(sessionSeq, identity);
  const snapshot = await snapshotThread.takeSnapshot({ ...order, since });
  const { files, skipped, names, token } = snapshot;
  const part = partOf(snapshot, since);
  const own = left?.paths;
  return {
    workspace: { files, skipped, ...(own && { own }), ...(part && { part }) },
    recorded: ({ size }) => {
      looks.put(sessionSeq, { token, except: [], identity, size });
      if (left === null || names === null || !isComplete(skipped)) return;
      known.recorded(sessionSeq, left, { identity, ...size, skipped, names, limits: order.limits, lookedAt });
    },
  };
}

/** Looks at what the run has changed. Null when only a look at everything shows what else has. */
async function lookAtPart(
  { store, snapshotThread, known, looks, workspaces }: ArtifactParts,
  { sessionSeq, sessionId }: CollectedRun,
  { left, order }: Look,
): Promise<Found | null> {
  if (left === null || left.before === null || left.paths === null) return null;
  const { before, paths } = left;
  if (!sameLimits(before.limits, order.limits)) return null;
  const [{ files, isWhole, names }, recorded] = await Promise.all([
    snapshotThread.takeSnapshot({ ...order, paths }),
    before.fileCount === 0 ? [] : store.artifacts.listFilesAt(sessionSeq, paths),
  ]);
  if (isWhole || names === null) return null;
  const [there, seen] = [files.map(({ path }) => path), recorded.map(({ path }) => path)];
  const came = there.filter((path) => !seen.includes(path));
  const gone = seen.filter((path) => !there.includes(path));
  const expected = sumAfter(before.names, came, gone);
  if (names.count !== expected.count || names.sum !== expected.sum) return null;
  const { fileCount, totalBytes, skipped } = before;
  const found = files.reduce((sum, { size }) => sum + size, 0);
  // Otherwise, some files may exceed a limit of all: only a look at everything shows which.
  const fits = fileCount + came.length <= order.limits.maxFiles && totalBytes + found <= order.limits.maxTotalBytes;
  const areLong = came.some((path) => Buffer.byteLength(path) > MEAN_PATH_BYTES);
  if (!fits || areLong) return null;
  return {
    workspace: { files, skipped, own: paths, part: { fileCount, totalBytes, paths } },
    // The next run need not look at the workspace either.
    recorded: ({ size }) => {
      known.recorded(sessionSeq, left, { ...before, ...size, names, identity: workspaces.identityOf(sessionId) });
      looks.amend(sessionSeq, paths, size);
    },
  };
}
