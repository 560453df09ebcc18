// The baseline of a run's workspace: waits until the workspace is free, and records its files before the run changes any of them, so
// that what differs after the run is the run's own (E5).
import { existsSync } from 'node:fs';
import type { Announced } from '../../../agent/port/protocol.ts';
import { within } from '../../../domain/clock.ts';
import { type Halt, makeHalt } from '../../../domain/halt.ts';
import type { FoundDifference, RecordedWorkspace } from '../../../store/artifacts/workspace-tree.ts';
import type { Fence } from '../../../store/runs/fence.ts';
import type { Before } from '../../../store/artifacts/artifact-queue.ts';
import type { ClaimedRun } from '../../../store/lifecycle/start-run.ts';
import type { ArtifactParts } from '../artifact-parts.ts';
import { isAway, layWorkspace, type Prepared } from './lay-workspace.ts';
import { lookAt } from './look.ts';

export type BaselineRun = Pick<
  ClaimedRun,
  'seq' | 'id' | 'sessionSeq' | 'sessionId' | 'userSeq' | 'attempt' | 'opensSession' | 'workspaceNode'
>;

/** The workspace of one run, from its claim to its end. */
export interface WorkspaceBaseline {
  /** For which of its calls `take` is awaited. */
  readonly announces: Announced;
  /**
   * Waits until all earlier runs are collected, or the run was aborted; then the workspace is here, as it is recorded. Rejects when it can't
   * be laid out, and that won't pass.
   */
  prepare(): Promise<Prepared>;
  /**
   * Takes the baseline, before the first call that may change the workspace. Resolves with true once it is complete, or after a minute: then
   * the workspace is compared with what its last run left. Before a later call, the same of what the step before it has left.
   */
  take(): Promise<true>;
  /** All calls of a step have ended: what they have left is recorded, if that is wanted after each step. */
  stepEnded(step: number): void;
  /**
   * Records the workspace, before a run leaves its worker that may go on at another node: what isn't recorded within 4 s is not there.
   * Nothing where all workspaces are here, or when the run has not begun to change any files. Never rejects.
   */
  keep(): Promise<void>;
  /** The run was aborted, or has ended. */
  abort(): void;
}

/**
 * Resolves when all earlier runs of the session are collected, and the files listed that a fork has taken over; or when the run is called
 * off.
 */
export type Collected = (run: Pick<BaselineRun, 'seq' | 'sessionSeq' | 'workspaceNode'>, off: Halt) => Promise<Before>;

const LOOK_MS = 60_000;
/** A daemon that stops waits for 5 s, and so does whoever asks its user. */
const KEEP_MS = 4_000;

/** Whether a run has a baseline of its own. One that was interrupted continues with that of its first attempt. */
const hasBaseline = ({ attempt, opensSession }: Pick<BaselineRun, 'attempt' | 'opensSession'>): boolean =>
  attempt === 1 && !opensSession;

export function makeWorkspaceBaseline(parts: ArtifactParts, run: BaselineRun, collected: Collected): WorkspaceBaseline {
  const off = makeHalt();
  const calledOff = () => new Promise<undefined>((resolve) => off.listen(() => resolve(undefined)));
  let taken: Promise<true> | undefined;
  /** Whether the workspace may have changed since the baseline, and by nobody but the run. */
  let mayHaveChanged = false;
  const keepsSteps = parts.here !== null && parts.settings().workspace.checkpoint === 'step';
  /** Since the last step that was recorded. */
  let hasNews = false;
  let keeping: Promise<unknown> = Promise.resolve();
  const begun = async (): Promise<true> => {
    if (hasBaseline(run)) await take(parts, run, off.signal);
    if (!off.isHalted) mayHaveChanged = true;
    return true;
  };
  const leave = async () => {
    await keeping;
    await keep(parts, run, { limitMs: KEEP_MS, signals: [] });
  };
  return {
    announces: announcedBy(run, { isShared: parts.here !== null, keepsSteps }),
    prepare: async () => {
      // Nothing precedes the run that opens its session, but earlier attempts.
      const before = run.opensSession ? undefined : await Promise.race([collected(run, off), calledOff()]);
      // Of those that an earlier attempt has got, nobody has asked.
      const hasNotes = before?.hasNotes ?? run.attempt > 1;
      const isHere = off.isHalted || !isAway(parts, run, before?.hasFiles ?? false);
      const prepared: Prepared = isHere
        ? { kind: 'ready', hasNotes }
        : await layWorkspace(parts, run, { off, hasNotes });
      // Without a baseline, nobody says when changes begin; earlier attempts may have left some.
      if (prepared.kind === 'ready' && !off.isHalted) mayHaveChanged = !hasBaseline(run);
      return prepared;
    },
    take: async () => {
      await (taken ??= begun());
      await keeping;
      hasNews = true;
      return true;
    },
    stepEnded: (step) => {
      if (!keepsSteps || !hasNews) return;
      hasNews = false;
      const recording = keep(parts, run, { limitMs: LOOK_MS, signals: [off.signal], step });
      keeping = recording.then((isKept) => (hasNews ||= !isKept));
    },
    keep: async () => {
      if (parts.here !== null && mayHaveChanged) await within(parts.clock, KEEP_MS, leave(), undefined);
    },
    abort: () => off.halt(),
  };
}

/** Where another node may go on, it has to be known that the run has begun to change files. */
function announcedBy(
  run: BaselineRun,
  { isShared, keepsSteps }: { readonly isShared: boolean; readonly keepsSteps: boolean },
): Announced {
  if (keepsSteps) return 'each';
  return isShared || hasBaseline(run) ? 'first' : 'none';
}

/** Records how the workspace differs from what its last run left. */
async function take(parts: ArtifactParts, run: BaselineRun, off: AbortSignal): Promise<void> {
  const { artifacts } = parts.store;
  await record(parts, run, {
    signals: [off],
    limitMs: LOOK_MS,
    keep: async (fence, found, recorded) =>
      found.token === recorded.token ? [] : artifacts.keepBaseline(fence, found, parts.here),
    failure: 'the baseline of a workspace could not be taken',
  });
}

interface Checkpoint extends Pick<Recording, 'signals' | 'limitMs'> {
  /** Absent: after the newest. */
  readonly step?: number;
}

/** Records what the run has changed until now, after a step. Returns whether that is recorded. */
async function keep(parts: ArtifactParts, run: BaselineRun, { step, ...how }: Checkpoint): Promise<boolean> {
  const { artifacts } = parts.store;
  return record(parts, run, {
    ...how,
    keep: async (fence, found) => artifacts.keepCheckpoint(fence, found, { here: parts.here, step }),
    failure: 'the workspace of a run could not be recorded; where it goes on, its last changes are missing',
  });
}

interface Recording {
  /** Besides the limit, and the end of the daemon. */
  readonly signals: readonly AbortSignal[];
  readonly limitMs: number;
  /** Returns the contents that the workspace no longer has; undefined: nothing was recorded. */
  keep(fence: Fence, found: FoundDifference, recorded: RecordedWorkspace): Promise<readonly string[] | undefined>;
  readonly failure: string;
}

/** Looks at the workspace, and records what was found. Returns whether it is recorded; never rejects. */
async function record(
  parts: ArtifactParts,
  run: BaselineRun,
  { signals, limitMs, keep: keepFound, failure }: Recording,
): Promise<boolean> {
  const { store, blobs, clock, stopping, log } = parts;
  const { seq: runSeq, sessionSeq, attempt } = run;
  const late = new AbortController();
  const timer = clock.after(limitMs, () => late.abort());
  const hold = blobs.hold();
  /** Undefined: all that was stored. */
  let unused: readonly string[] | undefined;
  try {
    const recorded = await store.artifacts.findWorkspace(sessionSeq);
    if (!recorded.hasFiles && !existsSync(parts.workspaces.pathOf(run.sessionId))) return true;
    const signal = AbortSignal.any([...signals, late.signal, stopping]);
    const found = await lookAt(parts, run, { recorded, hold, signal });
    const fence = { sessionSeq, runSeq, attempt };
    unused = await keepFound(fence, { ...found, contents: hold.contents }, recorded);
  } catch (error) {
    const facts = { session_id: run.sessionId, run_id: run.id, err: error };
    if (!signals.some(({ aborted }) => aborted)) log.warn(facts, failure);
  } finally {
    timer.cancel();
    const held = hold.release();
    void removeUnused(parts, unused ?? held);
  }
  return unused !== undefined;
}

/** The run doesn't wait for it: there may be very many. */
async function removeUnused({ removal, stopping, log }: ArtifactParts, keys: readonly string[]): Promise<void> {
  try {
    await removal.remove(keys);
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, 'what a baseline had stored could not be removed');
  }
}
