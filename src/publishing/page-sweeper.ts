// The page sweeper: notices the ends of shares, and gives back what withdrawn versions, deleted pages and abandoned drafts
// hold. Each step is repeatable, so a crash does no harm.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';
import type { Versions } from './versions.ts';

export interface PageSweeperParts {
  readonly store: Pick<Store, 'pageRemovals'> & { readonly sessions: Pick<Store['sessions'], 'isBlobInUse'> };
  readonly blobs: Pick<BlobStore, 'removeUnless'>;
  readonly versions: Pick<Versions, 'active'>;
  /** Whether other processes make versions, too: where there is none, a draft that nobody copies to here was abandoned. */
  readonly hasPeers: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Blobs that are checked before the event loop continues. */
const SLICE = 50;
/** Time before failed removals are retried. */
const RETRY_MS = 60_000;
/** While versions are being copied, drafts are not looked at. */
const BUSY_MS = 10_000;
/** Shares end by wall time: a jump of that clock is noticed within this time. */
const LOOK_MS = 600_000;

/** Makes the service. Wake it when a page was deleted, or a share withdrawn or given an end. */
export function makePageSweeper(parts: PageSweeperParts): Service {
  const { store, versions, hasPeers, clock, log } = parts;
  const { pageRemovals } = store;
  const removeBlobs = makeRemoveBlobs(parts);
  const isCopying = () => !hasPeers && versions.active() > 0;

  async function work(stopping: AbortSignal): Promise<number | null> {
    await clearRows(stopping);
    const waits = [await clearDrafts(stopping), await removeBlobs(stopping)];
    // After the steps that free space: a full disk refuses this one.
    while (!stopping.aborted && (await pageRemovals.closeEnded()));
    const nextAt = await pageRemovals.nextEndAt();
    if (nextAt !== undefined) waits.push(Math.min(Math.max(nextAt - clock.now(), 1), LOOK_MS));
    const due = waits.filter((wait) => wait !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** In turns: what is left of a large page doesn't delay the withdrawal of a share. */
  async function clearRows(stopping: AbortSignal): Promise<void> {
    for (let isLeft = true; isLeft && !stopping.aborted; ) {
      const left = [await pageRemovals.clearDeleted(), await pageRemovals.clearWithdrawn()];
      isLeft = left.includes(true);
    }
  }

  /** Returns after what time to look again; null when no draft is left. */
  async function clearDrafts(stopping: AbortSignal): Promise<number | null> {
    let leftMs = Infinity;
    for (let after = 0; ; ) {
      if (isCopying()) return BUSY_MS;
      const drafts = await pageRemovals.listDrafts(after);
      // One of them may be of a copy that has begun meanwhile.
      if (isCopying()) return BUSY_MS;
      for (const { seq, copiedUntil } of drafts) {
        const copiedMs = hasPeers ? copiedUntil - clock.now() : 0;
        if (copiedMs > 0) leftMs = Math.min(leftMs, copiedMs);
        else while (!stopping.aborted && (await pageRemovals.clearDraft(seq, !hasPeers)));
      }
      if (drafts.length === 0 || stopping.aborted) return leftMs === Infinity ? null : leftMs;
      after = drafts.at(-1)!.seq;
    }
  }

  return makeService({ work, failure: 'published pages could not be cleaned up', maxRetryMs: RETRY_MS, clock, log });
}

/** Makes what removes blobs. It returns after what time to look again; null when none is left: some may be held, or can't be removed. */
function makeRemoveBlobs({ store, blobs, log }: PageSweeperParts): (stopping: AbortSignal) => Promise<number | null> {
  const { pageRemovals, sessions } = store;

  async function removeSome(keys: readonly string[]) {
    const [removed, used]: [string[], string[]] = [[], []];
    for (const key of keys) {
      let isUsed = false;
      const look = async (asked: string) => (isUsed = await sessions.isBlobInUse(asked));
      try {
        if (await blobs.removeUnless(key, look)) (isUsed ? used : removed).push(key);
      } catch (error) {
        log.error({ err: error }, 'a blob of a withdrawn version could not be removed');
      }
    }
    return { removed, used };
  }

  return async (stopping) => {
    let [after, isComplete] = ['', true];
    while (!stopping.aborted) {
      const keys = await pageRemovals.listRemovals(after, SLICE);
      const last = keys.at(-1);
      if (last === undefined) break;
      const { removed, used } = await removeSome(keys);
      if (removed.length + used.length > 0) await pageRemovals.finishRemovals(removed, used);
      if (removed.length + used.length < keys.length) isComplete = false;
      after = last;
      await nextTurn();
    }
    return isComplete ? null : RETRY_MS;
  };
}
