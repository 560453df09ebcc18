// Keeps the objects of a bucket that this process holds from being removed by another one, which knows its own holds alone.
import type { Clock } from '../../../domain/clock.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Log } from '../../../log/log.ts';
import { makeService, type Service } from '../../../services/service.ts';
import { MOST_OBJECTS } from '../../../store/objects.ts';
import type { Store } from '../../../store/open-store.ts';

export interface HeldObjectParts {
  readonly store: { readonly objects: Pick<Store['objects'], 'renew'> };
  readonly blobs: Pick<BlobStore, 'listHeld'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What has been held for two of these is younger than the hour that an object stays which no row lists. */
const LOOK_MS = 1_200_000;

/** Makes the service; wake it once. What is held for less than twenty minutes costs nothing. */
export function makeHeldObjects({ store, blobs, clock, log }: HeldObjectParts): Service {
  let before: ReadonlySet<string> = new Set();

  async function work(): Promise<number> {
    const held = new Set(blobs.listHeld());
    const still = [...held].filter((key) => before.has(key));
    for (let at = 0; at < still.length; at += MOST_OBJECTS)
      await store.objects.renew(still.slice(at, at + MOST_OBJECTS));
    before = held;
    return LOOK_MS;
  }

  return makeService({ work, failure: 'the objects that are held could not be noted', clock, log });
}
