// The blobs of deleted sessions whose rows were erased: from then on, this process alone knows that they have to go. Those that it
// knew of when it was killed are found as orphaned after the next start.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Store } from '../../../store/open-store.ts';

export interface ErasedBlobs {
  /** Whether rows of another session may be erased: a backup holds all blobs for as long as it takes. */
  hasRoom(): boolean;
  /**
   * Removes a session's blobs, also those of before that were held or failed, unless something refers to them. Returns whether none is
   * left. Throws the first failure after all were tried.
   */
  remove(sessionSeq: number, keys: readonly string[]): Promise<boolean>;
}

/** Blobs that are checked before the event loop continues. */
const SLICE = 50;
/** Of all sessions. */
const MAX_LEFT = 10_000;

export function makeErasedBlobs(
  store: { readonly sessions: Pick<Store['sessions'], 'isBlobInUse'> },
  blobs: Pick<BlobStore, 'removeUnless'>,
): ErasedBlobs {
  const leftOf = new Map<number, ReadonlySet<string>>();
  return {
    hasRoom: () => Array.from(leftOf.values()).reduce((sum, { size }) => sum + size, 0) < MAX_LEFT,
    remove: async (sessionSeq, keys) => {
      const left = new Set([...(leftOf.get(sessionSeq) ?? []), ...keys]);
      leftOf.set(sessionSeq, left);
      const failures: unknown[] = [];
      for (const [index, key] of [...left].entries()) {
        try {
          if (await blobs.removeUnless(key, store.sessions.isBlobInUse)) left.delete(key);
        } catch (error) {
          failures.push(error);
        }
        if (index % SLICE === SLICE - 1) await nextTurn();
      }
      if (failures.length > 0) throw failures[0];
      if (left.size === 0) leftOf.delete(sessionSeq);
      return left.size === 0;
    },
  };
}
