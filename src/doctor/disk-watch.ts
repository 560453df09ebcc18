// Notes hourly how much of the disk is free, so that an examination can tell how fast it fills.
import { statfsSync } from 'node:fs';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';

const HOUR_MS = 3_600_000;

export interface DiskWatchParts {
  readonly store: Pick<Store, 'diskSamples'>;
  /** Its id. */
  readonly node: string;
  /** On the disk. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service. A start within an hour of the last sample takes none. */
export function makeDiskWatch({ store, node, directory, clock, log }: DiskWatchParts): Service {
  return makeService({
    work: async () => {
      const last = (await store.diskSamples.list(node)).at(-1);
      const age = last === undefined ? HOUR_MS : clock.now() - last.at;
      if (age >= 0 && age < HOUR_MS) return HOUR_MS - age;
      const { bavail, bsize, files, ffree } = statfsSync(directory);
      await store.diskSamples.record(node, { freeBytes: bavail * bsize, freeInodes: files === 0 ? null : ffree });
      return HOUR_MS;
    },
    failure: 'the free space of the disk could not be noted',
    maxRetryMs: HOUR_MS,
    clock,
    log,
  });
}
