// Workspaces that need no look: their files are as recorded, because only calls with known paths have changed them since.
import type { NameSum, SnapshotLimits, Skipped } from '../../files/snapshots/snapshot.ts';

/** A workspace whose files are those that the store has recorded. */
export interface KnownWorkspace {
  /** Of its directory, so that another one in its place is noticed; null when there was none. */
  readonly identity: string | null;
  readonly fileCount: number;
  readonly totalBytes: number;
  readonly skipped: Skipped;
  /** Tells whether somebody else has added or removed files. */
  readonly names: NameSum;
  /** Other limits would have found other files. */
  readonly limits: SnapshotLimits;
  /** When all of it was last looked at, epoch ms. */
  readonly lookedAt: number;
}

/** What a run has left: the workspace as it was before, if that is known, and the paths that it may have changed. Null: any. */
export interface KnownChange {
  readonly before: KnownWorkspace | null;
  readonly paths: readonly string[] | null;
}

export interface KnownWorkspaces {
  /** What is known of a session's workspace. From now on, nothing is. */
  take(sessionSeq: number): KnownWorkspace | null;
  keep(sessionSeq: number, known: KnownWorkspace): void;
  /** Records what a run has left, until it is collected. */
  left(run: { readonly seq: number; readonly sessionSeq: number }, change: KnownChange): void;
  /** What an ended run has left. It is told once. */
  takeLeft(runSeq: number): KnownChange | null;
  /** The change was recorded, so that the workspace is known again, unless a run has begun in it. */
  recorded(sessionSeq: number, change: KnownChange, after: KnownWorkspace): void;
}

/** Files that somebody else has changed in place are noticed by the first run that writes after this time. */
export const KNOWN_MS = 600_000;
const MAX_SESSIONS = 10_000;
const MAX_RUNS = 1_000;

/** In memory only: after a start, nothing is known. What exceeds the limits is looked at again. */
export function makeKnownWorkspaces(): KnownWorkspaces {
  const sessions = new Map<number, KnownWorkspace | KnownChange>();
  const runs = new Map<number, KnownChange>();
  return {
    take: (sessionSeq) => {
      const found = sessions.get(sessionSeq);
      sessions.delete(sessionSeq);
      return found === undefined || 'before' in found ? null : found;
    },
    keep: (sessionSeq, known) => put(sessions, sessionSeq, known, MAX_SESSIONS),
    left: ({ seq, sessionSeq }, change) => {
      put(runs, seq, change, MAX_RUNS);
      put(sessions, sessionSeq, change, MAX_SESSIONS);
    },
    takeLeft: (runSeq) => {
      const change = runs.get(runSeq) ?? null;
      runs.delete(runSeq);
      return change;
    },
    recorded: (sessionSeq, change, after) => {
      if (sessions.get(sessionSeq) === change) sessions.set(sessionSeq, after);
    },
  };
}

function put<T>(map: Map<number, T>, key: number, value: T, limit: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}

/** Whether names were left out for lack of room or access: then a change of one file may change what is left out. */
export const isComplete = ({ tooLarge, tooMany, unreadable }: Skipped): boolean =>
  tooLarge + tooMany + unreadable === 0;

export const sameLimits = (a: SnapshotLimits, b: SnapshotLimits): boolean =>
  a.maxFileBytes === b.maxFileBytes &&
  a.maxFiles === b.maxFiles &&
  a.maxTotalBytes === b.maxTotalBytes &&
  a.maxDepth === b.maxDepth;
