// The sweeper: removes what deleted sessions and thrown-away replies leave behind, from lists that survive any crash (E9).
import type { Clock, Timer } from '../../domain/clock.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { SnapshotThread } from '../../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { Log } from '../../log/log.ts';
import type { Cleanup } from '../../store/sessions/cleanups.ts';
import type { Store } from '../../store/open-store.ts';

export interface SweeperParts {
  readonly store: Store;
  readonly workspaces: Workspaces;
  readonly blobs: BlobStore;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Sweeper {
  /** Looks for clean-ups, then once for the blobs that a crash left without a row. */
  start(): void;
  /** Looks for clean-ups and for thrown-away texts now. */
  wake(): void;
  /** Blobs that were held are held no more: looks again, if a clean-up was left over that may have waited for them. */
  released(): void;
  /** Lets the clean-up under way end, and begins no other. */
  stop(): Promise<void>;
}

const PAGE = 50;
/** Blobs that are looked at before others get their turn. */
const SLICE = 50;
/** Before what could not be removed is tried again. */
const RETRY_MS = 60_000;
/** Between two looks for thrown-away text whose day is over. */
const DISCARDED_MS = 3_600_000;

/** Makes the sweeper. It works one session at a time; each step may be repeated, so a crash in between costs nothing. */
export function makeSweeper(parts: SweeperParts): Sweeper {
  const { store, clock, log } = parts;
  let sweeping: Promise<void> | undefined;
  let retry: Timer | undefined;
  let orphaned: Promise<void> | undefined;
  let [again, left, stopped] = [false, false, false];

  function wake(): void {
    if (stopped) return;
    if (sweeping !== undefined) return void (again = true);
    retry?.cancel();
    sweeping = sweep().finally(() => {
      sweeping = undefined;
      if (!again) return;
      again = false;
      wake();
    });
  }

  /** Goes through the list once. Whatever is left of it is tried again after a while. */
  async function sweep(): Promise<void> {
    let after = 0;
    let retryMs: number | undefined;
    left = false;
    try {
      for (;;) {
        const page = await store.sessions.listCleanups(after, PAGE);
        for (const cleanup of page) {
          if (stopped) return;
          if (!(await attempt({ ...parts, stopped: () => stopped }, cleanup))) left = true;
          after = cleanup.sessionSeq;
        }
        if (page.length < PAGE) break;
      }
      // After what gives space back: a full disk refuses this.
      if (!stopped) retryMs = await eraseDiscarded();
    } catch (error) {
      log.error({ err: error }, 'the list of clean-ups could not be gone through');
      left = true;
    }
    if (left) retryMs = RETRY_MS;
    if (retryMs !== undefined && !stopped) retry = clock.after(retryMs, wake);
  }

  /** Answers when to look again; undefined when nothing is left. */
  async function eraseDiscarded(): Promise<number | undefined> {
    let found = await store.erasures.eraseDiscarded();
    while (found === 'more' && !stopped) found = await store.erasures.eraseDiscarded();
    return found === 'none' ? undefined : DISCARDED_MS;
  }

  return {
    wake,
    // While one sweep is under way it is not known yet whether it leaves something.
    released: () => {
      if (left || sweeping !== undefined) wake();
    },
    start: () => {
      wake();
      orphaned ??= sweepOrphanedBlobs(parts, () => stopped);
    },
    stop: async () => {
      stopped = true;
      retry?.cancel();
      await Promise.all([sweeping, orphaned]);
    },
  };
}

/** Looks once at every blob. Those that are in use, or held by who is about to use them, stay. */
async function sweepOrphanedBlobs({ blobs, store, log }: SweeperParts, stopped: () => boolean): Promise<void> {
  let looked = 0;
  try {
    for await (const key of blobs.list()) {
      if (stopped()) return;
      blobs.removeUnless(key, store.sessions.isBlobInUse);
      looked += 1;
      if (looked % SLICE === 0) await yieldTurn();
    }
  } catch (error) {
    log.error({ err: error }, 'the blobs could not be looked through');
  }
}

async function yieldTurn(): Promise<void> {
  await new Promise((resolve) => void setImmediate(resolve));
}

type CleanUpParts = SweeperParts & { stopped(): boolean };

/** Cleans up after one session. Answers false when it has to be tried again. */
async function attempt(parts: CleanUpParts, cleanup: Cleanup): Promise<boolean> {
  try {
    if (!(await cleanUp(parts, cleanup))) return false;
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

/** Answers false when something must stay for now. The texts go first: nothing else is needed to find them. */
async function cleanUp(parts: CleanUpParts, { sessionSeq, sessionId }: Cleanup): Promise<boolean> {
  const { store, workspaces, blobs, snapshotThread, stopped } = parts;
  await workspaces.remove(sessionId);
  await snapshotThread.forget(sessionId);
  for (let after: number | null = 0; after !== null; ) {
    if (stopped()) return false;
    after = await store.erasures.eraseRuns(sessionSeq, after);
  }
  while (await store.erasures.eraseSession(sessionSeq)) if (stopped()) return false;
  let complete = true;
  for (const [index, key] of (await store.sessions.listBlobs(sessionSeq)).entries()) {
    if (!blobs.removeUnless(key, store.sessions.isBlobInUse)) complete = false;
    if (index % SLICE === SLICE - 1) await yieldTurn();
  }
  if (!complete) return false;
  while (await store.erasures.finishCleanup(sessionSeq)) if (stopped()) return false;
  return true;
}
