// The baseline of a run's workspace: waits until the workspace is free, and records its files before the run changes any of them, so
// that what differs after the run is the run's own (E5).
import { existsSync } from 'node:fs';
import { type Halt, makeHalt } from '../../domain/halt.ts';
import type { Before } from '../../store/artifacts/artifact-queue.ts';
import type { ClaimedRun } from '../../store/lifecycle/start-run.ts';
import type { ArtifactParts } from './artifact-parts.ts';
import { isAway, layWorkspace, type Prepared } from './lay-workspace.ts';
import { lookAt } from './look.ts';

export type BaselineRun = Pick<
  ClaimedRun,
  'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'userSeq' | 'attempt' | 'opensSession' | 'workspaceNode'
>;

/** The workspace of one run, from its claim to its end. */
export interface WorkspaceBaseline {
  /**
   * Waits until all earlier runs are collected, or the run was aborted; then the workspace is here, as it is recorded. Rejects when it can't
   * be laid out, and that won't pass.
   */
  prepare(): Promise<Prepared>;
  /**
   * Takes the baseline, before the first call that may change the workspace. Resolves with true once it is complete, or after a minute: then
   * the workspace is compared with what its last run left.
   */
  take(): Promise<true>;
  /** The run was aborted, or has ended. */
  abort(): void;
}

/** Resolves when all earlier runs of the session are collected, or the run is called off. */
export type Collected = (run: BaselineRun, off: Halt) => Promise<Before>;

const LOOK_MS = 60_000;

/** Whether a run has a baseline of its own. One that was interrupted continues with that of its first attempt. */
export const hasBaseline = ({ attempt, opensSession }: Pick<BaselineRun, 'attempt' | 'opensSession'>): boolean =>
  attempt === 1 && !opensSession;

export function makeWorkspaceBaseline(parts: ArtifactParts, run: BaselineRun, collected: Collected): WorkspaceBaseline {
  const off = makeHalt();
  const calledOff = () => new Promise<undefined>((resolve) => off.listen(() => resolve(undefined)));
  let taken: Promise<true> | undefined;
  return {
    prepare: async () => {
      // Nothing precedes the run that opens its session, but earlier attempts.
      const before = run.opensSession ? undefined : await Promise.race([collected(run, off), calledOff()]);
      // Of those that an earlier attempt has got, nobody has asked.
      const hasNotes = before?.hasNotes ?? run.attempt > 1;
      if (off.isHalted || !isAway(parts, run, before?.hasFiles ?? false)) return { kind: 'ready', hasNotes };
      return layWorkspace(parts, run, { off, hasNotes });
    },
    take: () => (taken ??= hasBaseline(run) ? take(parts, run, off.signal) : Promise.resolve(true)),
    abort: () => off.halt(),
  };
}

/** Records how the workspace differs from what its last run left. */
async function take(parts: ArtifactParts, run: BaselineRun, off: AbortSignal): Promise<true> {
  const { store, blobs, clock, stopping, log } = parts;
  const { seq: runSeq, sessionSeq, attempt } = run;
  const late = new AbortController();
  const timer = clock.after(LOOK_MS, () => late.abort());
  const hold = blobs.hold();
  /** Undefined: all that was stored. */
  let unused: readonly string[] | undefined;
  try {
    const recorded = await store.artifacts.findWorkspace(sessionSeq);
    if (!recorded.hasFiles && !existsSync(parts.workspaces.pathOf(run.sessionId))) return true;
    const signal = AbortSignal.any([off, late.signal, stopping]);
    const found = await lookAt(parts, run, { recorded, hold, signal });
    if (found.token === recorded.token) unused = [];
    else
      unused = await store.artifacts.keepBaseline(
        { sessionSeq, runSeq, attempt },
        { ...found, contents: hold.contents },
        parts.here,
      );
  } catch (error) {
    const facts = { session_id: run.sessionId, run_id: run.id, err: error };
    if (!off.aborted) log.warn(facts, 'the baseline of a workspace could not be taken');
  } finally {
    timer.cancel();
    const held = hold.release();
    void removeUnused(parts, unused ?? held);
  }
  return true;
}

/** The run doesn't wait for it: there may be very many. */
async function removeUnused({ removal, stopping, log }: ArtifactParts, keys: readonly string[]): Promise<void> {
  try {
    await removal.remove(keys);
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, 'what a baseline had stored could not be removed');
  }
}
