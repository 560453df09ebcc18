// The sweeper: removes what deleted sessions leave behind, from a list that survives any crash (E9).
import type { Clock, Timer } from '../domain/clock.ts';
import type { BlobStore } from '../files/blobs.ts';
import type { Workspaces } from '../files/workspaces.ts';
import type { Log } from '../log.ts';
import type { Cleanup } from '../store/cleanups.ts';
import type { Store } from '../store/open-store.ts';

export interface SweeperParts {
  readonly store: Store;
  readonly workspaces: Workspaces;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Sweeper {
  /** Looks for clean-ups now. */
  wake(): void;
  /** Lets the clean-up under way end, and begins no other. */
  stop(): Promise<void>;
}

const PAGE = 50;
/** Before what could not be removed is tried again. */
const RETRY_MS = 60_000;

/** Makes the sweeper. It works one session at a time; each step may be repeated, so a crash in between costs nothing. */
export function makeSweeper(parts: SweeperParts): Sweeper {
  const { store, clock, log } = parts;
  let sweeping: Promise<void> | undefined;
  let retry: Timer | undefined;
  let [again, stopped] = [false, false];

  function wake(): void {
    if (stopped) return;
    if (sweeping !== undefined) {
      again = true;
      return;
    }
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
    let [after, left] = [0, false];
    try {
      for (;;) {
        const page = await store.sessions.listCleanups(after, PAGE);
        for (const cleanup of page) {
          if (stopped) return;
          if (!(await attempt(cleanup))) left = true;
          after = cleanup.sessionSeq;
        }
        if (page.length < PAGE) break;
      }
    } catch (error) {
      log.error({ err: error }, 'the list of clean-ups could not be read');
      left = true;
    }
    if (left && !stopped) retry = clock.after(RETRY_MS, wake);
  }

  async function attempt(cleanup: Cleanup): Promise<boolean> {
    try {
      if (!(await cleanUp(parts, cleanup))) return false;
      log.info({ session_id: cleanup.sessionId }, 'the files of a deleted session were removed');
      return true;
    } catch (error) {
      log.error({ session_id: cleanup.sessionId, err: error }, 'the files of a deleted session could not be removed');
      return false;
    }
  }

  return {
    wake,
    stop: async () => {
      stopped = true;
      retry?.cancel();
      await sweeping;
    },
  };
}

/** Answers false when something must stay for now. */
async function cleanUp({ store, workspaces, blobs }: SweeperParts, cleanup: Cleanup): Promise<boolean> {
  const { sessionSeq, sessionId } = cleanup;
  await workspaces.remove(sessionId);
  let complete = true;
  for (const key of await store.sessions.listBlobs(sessionSeq)) {
    if (!blobs.removeUnless(key, store.sessions.isBlobInUse)) complete = false;
  }
  if (complete) await store.sessions.finishCleanup(sessionSeq);
  return complete;
}
