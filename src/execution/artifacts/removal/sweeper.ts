// The sweeper: removes what deleted sessions and discarded replies leave behind, from lists that survive any crash (E9).
import type { Occasion } from '../../../events/wakes.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { SnapshotThread } from '../../../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../../../files/workspaces.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import type { Cleanup } from '../../../store/sessions/cleanups.ts';
import type { Store } from '../../../store/open-store.ts';
import { type ErasedBlobs, makeErasedBlobs } from './erased-blobs.ts';

export interface SweeperParts {
  readonly store: Pick<Store, 'erasures' | 'sessions'> & {
    readonly artifacts: Pick<Store['artifacts'], 'listCopiesOf' | 'copyWorkspace'>;
  };
  readonly workspaces: Workspaces;
  readonly blobs: BlobStore;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  /** Whether other nodes may have files of sessions: then each removes its own (`left-copies.ts`). */
  readonly isShared: boolean;
  /** Awaited before texts are erased: whoever reads committed events has read them then. Rejects while they can't. */
  beforeErasing(): Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Sweeper extends Pick<Service, 'wake' | 'stop'> {
  /** Works, but after the end of a hold on blobs only if a clean-up is left that may have waited for it. */
  notice(occasion: Occasion): void;
}

const PAGE = 50;
/** Time before failed removals are retried. */
const RETRY_MS = 60_000;
/** Interval between checks for discarded text that is a day old. */
const DISCARDED_MS = 3_600_000;

/** Makes the sweeper. It works on one session at a time; each step is repeatable, so a crash does no harm. */
export function makeSweeper(parts: SweeperParts): Sweeper {
  const { store, clock, log } = parts;
  const erased = makeErasedBlobs(store, parts.blobs);
  /** Whether a clean-up may be left: known only at the end of a sweep. */
  let left = false;

  /** Processes the list once. Whatever is left is retried later. */
  async function sweep(stopping: AbortSignal): Promise<number | null> {
    left = true;
    const complete = await cleanUpAll(stopping);
    // After the steps that free space: a full disk refuses this one.
    const nextMs = await eraseDiscarded(stopping);
    left = !complete;
    return complete ? nextMs : RETRY_MS;
  }

  async function cleanUpAll(stopping: AbortSignal): Promise<boolean> {
    let [after, complete, cleaned] = [0, true, 0];
    for (;;) {
      const page = await store.sessions.listCleanups(after, PAGE);
      for (const cleanup of page) {
        if (stopping.aborted) return false;
        if (await attempt({ ...parts, erased }, cleanup, stopping)) cleaned += 1;
        else complete = false;
        after = cleanup.sessionSeq;
      }
      if (page.length === PAGE) continue;
      if (cleaned === 0 || !complete) return complete;
      // With a fork goes what it has held of sessions before it.
      [after, cleaned] = [0, 0];
    }
  }

  /** Returns when to check again; null when nothing is left. */
  async function eraseDiscarded(stopping: AbortSignal): Promise<number | null> {
    while (!stopping.aborted) {
      const found = await store.erasures.eraseDiscarded();
      if (found !== 'more') return found === 'none' ? null : DISCARDED_MS;
    }
    return null;
  }

  const failure = 'the list of clean-ups could not be processed';
  const { wake, stop } = makeService({ work: sweep, failure, maxRetryMs: RETRY_MS, clock, log });
  return {
    wake,
    notice: (occasion) => {
      if (left || occasion !== 'blobs released') wake();
    },
    stop,
  };
}

type Work = SweeperParts & { readonly erased: ErasedBlobs };

/** Cleans up after one session. Returns false when it has to be retried. */
async function attempt(parts: Work, cleanup: Cleanup, stopping: AbortSignal): Promise<boolean> {
  try {
    if (!(await cleanUp(parts, cleanup, stopping))) return false;
    parts.log.info({ session_id: cleanup.sessionId }, 'the files and texts of a deleted session were removed');
    return true;
  } catch (error) {
    parts.log.error(
      { session_id: cleanup.sessionId, err: error },
      'the files and texts of a deleted session could not be removed',
    );
    return false;
  }
}

/** Returns false when something must stay for now. The texts go first: they are not needed to find the rest. */
async function cleanUp(
  { store, workspaces, erased, snapshotThread, isShared, beforeErasing }: Work,
  { sessionSeq, sessionId }: Cleanup,
  stopping: AbortSignal,
): Promise<boolean> {
  if (!(await listForks(store, sessionSeq, stopping))) return false;
  if (!isShared) await workspaces.remove(sessionId);
  if (!isShared) await snapshotThread.forget(sessionId);
  await beforeErasing();
  for (let after: number | null = 0; after !== null; ) {
    if (stopping.aborted) return false;
    after = await store.erasures.eraseRuns(sessionSeq, after);
  }
  while (await store.erasures.eraseSession(sessionSeq)) if (stopping.aborted) return false;
  // No further rows before the blobs of those that were erased are gone.
  for (let keys: readonly string[] | null = []; keys !== null; keys = await store.erasures.finishCleanup(sessionSeq))
    if (!(await erased.remove(sessionSeq, keys)) || stopping.aborted || !erased.hasRoom()) return false;
  return true;
}

/** Forks need what is recorded of the files. */
async function listForks({ artifacts }: Work['store'], sessionSeq: number, stopping: AbortSignal): Promise<boolean> {
  for (let forks = await artifacts.listCopiesOf(sessionSeq); forks.length > 0; ) {
    for (const fork of forks) {
      let copying = await artifacts.copyWorkspace(fork);
      while (copying.kind === 'more' && !stopping.aborted) copying = await artifacts.copyWorkspace(fork);
      if (copying.kind !== 'done') return false;
    }
    forks = await artifacts.listCopiesOf(sessionSeq);
  }
  return true;
}
