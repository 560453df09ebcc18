// Removes objects of a bucket that no row lists, an hour after they were noted.
import type { Clock } from '../../../domain/clock.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Bucket } from '../../../files/blobs/s3/bucket.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import type { Store } from '../../../store/open-store.ts';

export interface ObjectSweeperParts {
  readonly store: Pick<Store, 'objects'>;
  readonly blobs: Pick<BlobStore, 'isHeld'>;
  readonly bucket: Pick<Bucket, 'remove'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is noted meanwhile wakes nobody: it is due later than this. */
const LOOK_MS = 900_000;

/** After so long none of those that were begun together is removed any more: what lasts longer than a request may be stored again. */
const BATCH_MS = 60_000;

/** Makes the service; wake it once. */
export function makeObjectSweeper({ store, blobs, bucket, clock, log }: ObjectSweeperParts): Service {
  async function removeSome(keys: readonly string[], until: number, stopping: AbortSignal): Promise<void> {
    const [untouched, removed] = [new Set(keys), new Set<string>()];
    const failures: unknown[] = [];
    for (const key of keys) {
      if (stopping.aborted || clock.monotonic() > until) break;
      untouched.delete(key);
      await bucket.remove(key).then(
        () => removed.add(key),
        (error: unknown) => failures.push(error),
      );
    }
    // One that failed may still be removed by the service: it is begun again once nobody can be at it.
    await store.objects.endRemovals([...removed], [...untouched]);
    if (failures.length > 0) throw failures[0];
  }

  async function work(stopping: AbortSignal): Promise<number> {
    for (;;) {
      const now = clock.now();
      const { keys, nextAt } = await store.objects.listDue(now);
      if (keys.length === 0) return nextAt === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(nextAt - now, 0) + 1);
      const until = clock.monotonic() + BATCH_MS;
      await removeSome(await store.objects.beginRemovals(keys, new Set(keys.filter(blobs.isHeld))), until, stopping);
      if (stopping.aborted) return LOOK_MS;
    }
  }

  return makeService({
    work,
    failure: 'unused objects of the bucket could not be removed',
    maxRetryMs: 60_000,
    clock,
    log,
  });
}
