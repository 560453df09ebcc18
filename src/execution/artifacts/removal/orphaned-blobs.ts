// Orphaned blobs: those that a crash left without a row are removed once after a start, or once a node leads.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../domain/clock.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import type { Store } from '../../../store/open-store.ts';

export interface OrphanedBlobParts {
  readonly store: Pick<Store, 'sessions'>;
  readonly blobs: Pick<BlobStore, 'removeUnless'>;
  /** What is looked at: blobs of this node, or those that all share. */
  readonly list: () => AsyncIterable<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Further ones are left to the next start, or to `errand gc`. */
const MAX_HELD = 10_000;
/** Blobs that are checked before the event loop continues. */
const SLICE = 50;

/** Those that are held are looked at again after this time. */
const RETRY_MS = 60_000;

/** Makes the service; wake it once. Keeps blobs that are in use, and those that are held until they no longer are. */
export function makeOrphanedBlobs({ store, blobs, list, clock, log }: OrphanedBlobParts): Service {
  /** Null: all are to be looked at. */
  let held: ReadonlySet<string> | null = null;

  async function work(stopping: AbortSignal): Promise<number | null> {
    const still = new Set<string>();
    let looked = 0;
    for await (const key of held ?? list()) {
      if (stopping.aborted) return null;
      if (!(await blobs.removeUnless(key, store.sessions.isBlobInUse)) && still.size < MAX_HELD) still.add(key);
      looked += 1;
      if (looked % SLICE === 0) await nextTurn();
    }
    held = still;
    return still.size === 0 ? null : RETRY_MS;
  }

  return makeService({ work, failure: 'the blobs could not be checked for orphans', maxRetryMs: 60_000, clock, log });
}
