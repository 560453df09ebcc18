// Orphaned blobs: those that a crash left without a row are removed once after a start.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

export interface OrphanedBlobParts {
  readonly store: Pick<Store, 'sessions'>;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Blobs that are checked before the event loop continues. */
const SLICE = 50;

/** Makes the service; wake it once. Keeps blobs that are in use, or held for imminent use. */
export function makeOrphanedBlobs({ store, blobs, clock, log }: OrphanedBlobParts): Service {
  async function work(stopping: AbortSignal): Promise<null> {
    let looked = 0;
    for await (const key of blobs.list()) {
      if (stopping.aborted) return null;
      await blobs.removeUnless(key, store.sessions.isBlobInUse);
      looked += 1;
      if (looked % SLICE === 0) await nextTurn();
    }
    return null;
  }

  return makeService({ work, failure: 'the blobs could not be checked for orphans', maxRetryMs: 60_000, clock, log });
}
