// The baseline of a run's workspace: waits until the workspace is free, then records the state that the run is compared with
// (E5).
import { HALTED } from '../../domain/halt.ts';
import type { ClaimedRun } from '../../store/runs/claim-runs.ts';
import { type ArtifactParts, orderLimits } from './artifact-parts.ts';

export type BaselineRun = Pick<ClaimedRun, 'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'attempt' | 'opensSession'>;

/** The baseline of one run, from its claim to its end. Nothing here rejects. */
export interface WorkspaceBaseline {
  /** Resolves when all earlier runs are collected, or the run was aborted. */
  workspaceFree(): Promise<void>;
  /** Starts to take the baseline; uploads are in place by then. */
  take(hasUploads: boolean): void;
  /** Resolves when the baseline is complete: before any tool may change something. */
  taken(): Promise<void>;
  /** Whether the workspace is as it was before the run, so that there is nothing to collect. The last call for a run. */
  isUntouched(touched: boolean): Promise<boolean>;
  /** The run was aborted. */
  abort(): void;
}

/** Resolves when all earlier runs of the session are collected. */
export type Collected = (sessionSeq: number, runSeq: number) => Promise<void>;

/** If it takes longer, the workspace is compared with what its last run left. */
const BASELINE_MS = 60_000;

export function makeWorkspaceBaseline(parts: ArtifactParts, run: BaselineRun, collected: Collected): WorkspaceBaseline {
  const off = new AbortController();
  const calledOff = new Promise<void>((resolve) => off.signal.addEventListener('abort', () => resolve()));
  // An interrupted run continues with the baseline of its first attempt.
  const isFirst = run.attempt === 1;
  let taken: Promise<boolean> = Promise.resolve(true);
  let [hasUploads, isTaken] = [false, true];
  return {
    workspaceFree: () =>
      run.opensSession ? Promise.resolve() : Promise.race([collected(run.sessionSeq, run.seq), calledOff]),
    take: (uploads) => {
      hasUploads = uploads;
      if (!isFirst || (run.opensSession && !uploads)) return;
      isTaken = false;
      taken = take(parts, run, off.signal).finally(() => {
        isTaken = true;
      });
    },
    taken: async () => {
      await taken;
    },
    isUntouched: async (touched) => {
      // Without uploads, a run that did nothing needs no baseline.
      if (!touched && !hasUploads && !isTaken) off.abort(HALTED);
      const known = (await taken) || (off.signal.aborted && !hasUploads);
      return isFirst && !touched && known;
    },
    abort: () => off.abort(HALTED),
  };
}

/** Stores the current state of the workspace. Returns whether it is known. */
async function take(parts: ArtifactParts, run: BaselineRun, off: AbortSignal): Promise<boolean> {
  const { store, snapshotThread, blobs, clock, log } = parts;
  const late = new AbortController();
  const timer = clock.after(BASELINE_MS, () => late.abort());
  const hold = blobs.hold();
  let unused: readonly string[] = [];
  try {
    const isThere = await parts.workspaces.isThere(run.sessionId);
    if (!isThere && !(await store.artifacts.hasWorkspaceFiles(run.sessionSeq))) return true;
    const { files } = await snapshotThread.takeSnapshot({
      sessionId: run.sessionId,
      root: parts.workspaces.pathOf(run.sessionId),
      hold,
      signal: AbortSignal.any([off, late.signal, parts.stopping]),
      ...orderLimits(parts.settings()),
    });
    const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt };
    const change = await store.artifacts.keepBaseline(fence, files);
    unused = change?.replacedKeys ?? files.map(({ sha256 }) => sha256);
    return change !== undefined;
  } catch (error) {
    const facts = { session_id: run.sessionId, run_id: run.id, err: error };
    if (!off.aborted) log.warn(facts, 'the baseline of a workspace could not be taken');
    return false;
  } finally {
    timer.cancel();
    hold.release();
    await parts.removal.remove(unused);
  }
}
