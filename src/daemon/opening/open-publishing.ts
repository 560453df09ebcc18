// The services of publishing, wired together.
import type { LiveConfig } from '../../config/live/live-config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OnCollected } from '../../events/collected.ts';
import type { Happened } from '../../events/wakes.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Disk } from '../../files/disk.ts';
import type { Log } from '../../log/log.ts';
import { makePageSweeper } from '../../publishing/page-sweeper.ts';
import { makePublisher } from '../../publishing/publisher.ts';
import { makeVersions } from '../../publishing/versions.ts';
import type { Store } from '../../store/open-store.ts';

export interface PublishingParts {
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly disk: Disk;
  readonly onCollected: OnCollected;
  readonly happened: Happened;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the services. None of them works before `start`. */
export function openPublishing({ live, store, blobs, disk, onCollected, happened, clock, log }: PublishingParts) {
  const hasPeers = store.peers !== null;
  const { settings } = live;
  const versions = makeVersions({ store, blobs, disk, onCollected, hasPeers, happened, clock, settings });
  const publisher = makePublisher({ store, versions, clock, log });
  const sweeper = makePageSweeper({ store, blobs, versions, hasPeers, clock, log });
  const ignore = onCollected(publisher.collected);
  return {
    versions,
    publisher,
    sweeper,
    start: () => {
      publisher.wake();
      sweeper.wake();
    },
    stop: async () => {
      ignore();
      await Promise.all([publisher.stop(), sweeper.stop()]);
    },
  };
}
