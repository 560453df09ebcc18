// The baseline of a run's workspace: waits until the workspace is free, then records the state that the run is compared with
// (E5), unless it is known.
import type { Touched } from '../../agent/port/protocol.ts';
import { type Halt, makeHalt } from '../../domain/halt.ts';
import { NO_NAMES } from '../../files/snapshots/name-sum.ts';
import { NOTHING_SKIPPED } from '../../files/snapshots/snapshot.ts';
import type { ClaimedRun } from '../../store/runs/start-run.ts';
import { type ArtifactParts, orderLimits } from './artifact-parts.ts';
import { isComplete, KNOWN_MS, type KnownWorkspace, sameLimits } from './known-workspaces.ts';
import { partOf } from './recorded-looks.ts';

export type BaselineRun = Pick<ClaimedRun, 'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'attempt' | 'opensSession'>;

/** The baseline of one run, from its claim to its end. Nothing here rejects. */
export interface WorkspaceBaseline {
  /** Resolves when all earlier runs are collected, or the run was aborted. */
  workspaceFree(): Promise<void>;
  /** Starts to take the baseline, unless the workspace is known; uploads are in place by then. */
  take(hasUploads: boolean): void;
  /**
   * Takes the baseline of a known workspace, too: what comes may change any file. `changed`: paths that the run itself may have
   * changed until now. Resolves with true when the baseline is complete.
   */
  takeNow(changed: readonly string[]): Promise<true>;
  /** Resolves when the baseline is complete: before any tool may change something. */
  taken(): Promise<void>;
  /**
   * The agent has ended. Returns whether the workspace is as it was before the run, so that there is nothing to collect. The
   * last call for a run.
   */
  ended(touched: Touched): Promise<boolean>;
  /** The run was aborted. */
  abort(): void;
}

/** Resolves when all earlier runs of the session are collected. */
export type Collected = (sessionSeq: number, runSeq: number) => Promise<void>;

/** If it takes longer, the workspace is compared with what its last run left. */
const BASELINE_MS = 60_000;

/** `isTaken`: the recorded files are those before the run. `known`: they are all that there is. */
interface Taken {
  readonly isTaken: boolean;
  readonly known: KnownWorkspace | null;
}

export function makeWorkspaceBaseline(parts: ArtifactParts, run: BaselineRun, collected: Collected): WorkspaceBaseline {
  const off = makeHalt();
  const calledOff = () => new Promise<void>((resolve) => off.listen(resolve));
  // An interrupted run continues with the baseline of its first attempt.
  const isFirst = run.attempt === 1;
  let taken: Promise<Taken> = Promise.resolve({ isTaken: true, known: null });
  let [hasUploads, isTaking, isOnDemand, hasBegun] = [false, false, false, false];
  // What an earlier attempt has left is not all.
  parts.known.takeLeft(run.seq);

  function begin(changed: readonly string[]): void {
    isTaking = true;
    taken = take(parts, run, { off, changed }).finally(() => {
      isTaking = false;
    });
  }

  return {
    workspaceFree: () =>
      run.opensSession ? Promise.resolve() : Promise.race([collected(run.sessionSeq, run.seq), calledOff()]),
    take: (uploads) => {
      hasUploads = uploads;
      hasBegun = true;
      const known = knownNow(parts, run);
      if (!isFirst) return;
      if (uploads || (known === null && !run.opensSession)) return begin([]);
      isOnDemand = !run.opensSession;
      taken = Promise.resolve({ isTaken: true, known: known ?? nothingIn(parts) });
    },
    takeNow: async (changed) => {
      if (isOnDemand) begin(changed);
      isOnDemand = false;
      await taken;
      return true;
    },
    taken: async () => {
      await taken;
    },
    ended: async (touched) => {
      const untouched = touched.length === 0;
      // Without uploads, a run that did nothing needs no baseline.
      if (untouched && !hasUploads && isTaking) off.halt();
      const { isTaken, known } = await taken;
      if (isFirst && known !== null && touched !== 'anything') {
        if (untouched) parts.known.keep(run.sessionSeq, known);
        else parts.known.left(run, { before: known, paths: touched });
      } else if (touched === 'anything') parts.known.left(run, { before: null, paths: null });
      // An earlier run may have left files that could not be collected.
      else if (isFirst && untouched) parts.known.left(run, { before: null, paths: [] });
      return isFirst && untouched && (isTaken || (off.isHalted && !hasUploads));
    },
    abort: () => {
      off.halt();
      // Its uploads may be there.
      if (!hasBegun) parts.known.take(run.sessionSeq);
    },
  };
}

/** What is known of a session's workspace, if that still holds. It is forgotten: the run may change it. */
function knownNow(parts: ArtifactParts, { sessionSeq, sessionId }: BaselineRun): KnownWorkspace | null {
  const known = parts.known.take(sessionSeq);
  if (known === null) return null;
  const isRecent = Math.abs(parts.clock.now() - known.lookedAt) < KNOWN_MS;
  const isSame = known.identity === parts.workspaces.identityOf(sessionId);
  return isRecent && isSame && sameLimits(known.limits, orderLimits(parts.settings()).limits) ? known : null;
}

const nothingIn = ({ clock, settings }: ArtifactParts): KnownWorkspace => ({
  identity: null,
  fileCount: 0,
  totalBytes: 0,
  skipped: NOTHING_SKIPPED,
  names: NO_NAMES,
  limits: orderLimits(settings()).limits,
  lookedAt: clock.now(),
});

interface Taking {
  readonly off: Halt;
  readonly changed: readonly string[];
}

const UNTAKEN: Taken = { isTaken: false, known: null };

/** Stores the current state of the workspace. */
async function take(parts: ArtifactParts, run: BaselineRun, { off, changed }: Taking): Promise<Taken> {
  const { store, snapshotThread, blobs, looks, clock, log } = parts;
  const late = new AbortController();
  const timer = clock.after(BASELINE_MS, () => late.abort());
  const hold = blobs.hold();
  /** Undefined: all that was stored. */
  let unused: readonly string[] | undefined;
  try {
    const identity = parts.workspaces.identityOf(run.sessionId);
    if (identity === null && !(await store.artifacts.hasWorkspaceFiles(run.sessionSeq)))
      return { isTaken: true, known: nothingIn(parts) };
    const { limits, deadlineMs } = orderLimits(parts.settings());
    const lookedAt = clock.now();
    const since = looks.find(run.sessionSeq, identity);
    const snapshot = await snapshotThread.takeSnapshot({
      sessionId: run.sessionId,
      root: parts.workspaces.pathOf(run.sessionId),
      hold,
      signal: AbortSignal.any([off.signal, late.signal, parts.stopping]),
      limits,
      deadlineMs,
      since,
    });
    const { files, skipped, names, token } = snapshot;
    const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt };
    const part = partOf(snapshot, since);
    const change = await store.artifacts.keepBaseline(fence, { files, changed, ...(part && { part }) });
    if (change === undefined) return UNTAKEN;
    const { size } = change;
    looks.put(run.sessionSeq, { token, except: changed, identity, size });
    const own = new Set(changed);
    unused = [...change.replacedKeys, ...files.filter(({ path }) => own.has(path)).map(({ sha256 }) => sha256)];
    if (changed.length > 0 || names === null || !isComplete(skipped)) return { isTaken: true, known: null };
    return { isTaken: true, known: { identity, ...size, skipped, names, limits, lookedAt } };
  } catch (error) {
    const facts = { session_id: run.sessionId, run_id: run.id, err: error };
    looks.forget(run.sessionSeq);
    if (!off.isHalted) log.warn(facts, 'the baseline of a workspace could not be taken');
    return UNTAKEN;
  } finally {
    timer.cancel();
    const held = hold.release();
    void removeUnused(parts, unused ?? held);
  }
}

/** The run doesn't wait for it: there may be very many. */
async function removeUnused({ removal, stopping, log }: ArtifactParts, keys: readonly string[]): Promise<void> {
  try {
    await removal.remove(keys);
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, 'what a baseline had stored could not be removed');
  }
}
