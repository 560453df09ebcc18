// The services of publishing, wired together.
import type { LiveConfig } from '../../config/live-config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Disk } from '../../files/disk.ts';
import type { Log } from '../../log/log.ts';
import { makePageSweeper } from '../../publishing/page-sweeper.ts';
import { makePublisher } from '../../publishing/publisher.ts';
import { makeReleases } from '../../publishing/releases.ts';
import type { Store } from '../../store/open-store.ts';

export interface PublishingParts {
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly disk: Disk;
  readonly collector: Pick<Collector, 'onCollected'>;
  /** Called when a hold on blobs has ended. */
  released(): void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the services. None of them works before `start`. */
export function openPublishing({ live, store, blobs, disk, collector, released, clock, log }: PublishingParts) {
  const { onCollected } = collector;
  const abandoned = () => sweeper.wake();
  const forReleases = { store, blobs, disk, onCollected, released, abandoned };
  const releases = makeReleases({ ...forReleases, clock, settings: live.settings });
  const publisher = makePublisher({ store, releases, clock, log });
  const sweeper = makePageSweeper({ store, blobs, releases, clock, log });
  const ignore = onCollected(publisher.collected);
  return {
    releases,
    /** A share has ended or will, or a page was deleted. */
    ended: sweeper.wake,
    /** A firing of a scheduled task may have completed. */
    fired: publisher.wake,
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
