// The bucket that has the bytes of files, where the settings name one.
import type { Config } from '../../config/config.ts';
import { blobTargetOf } from '../../config/blob-target.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { MB } from '../../domain/byte-units.ts';
import { ErrandError } from '../../domain/errors.ts';
import { makeHeldObjects } from '../../execution/artifacts/removal/held-objects.ts';
import { makeObjectSweeper } from '../../execution/artifacts/removal/object-sweeper.ts';
import { listKeys } from '../../files/blobs/blob-place.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import { type Bucket, makeBucket } from '../../files/blobs/s3/bucket.ts';
import { makeCache } from '../../files/blobs/s3/cache.ts';
import { makeS3Blobs, type S3Blobs } from '../../files/blobs/s3/s3-blobs.ts';
import type { S3Outcome } from '../../files/blobs/s3/requests.ts';
import { S3Error } from '../../files/blobs/s3/s3-error.ts';
import { locationOf, type S3Target } from '../../files/blobs/s3/target.ts';
import { type WatchedBucket, watchBucket } from '../../files/blobs/s3/watched-bucket.ts';
import type { Log } from '../../log/log.ts';
import type { Service } from '../../services/service.ts';
import { MOST_OBJECTS } from '../../store/objects.ts';
import type { Store } from '../../store/open-store.ts';
import type { Closer } from '../closers.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

export interface BucketParts {
  readonly config: Config;
  readonly live: Pick<LiveConfig, 'settings'>;
  readonly store: Store;
  readonly log: Log;
  readonly closers: Closer[];
  /** The blobs of the directory. */
  readonly local: BlobStore;
  readonly directory: string;
}

export interface OpenedBucket {
  readonly blobs: S3Blobs;
  /** What operators call it. */
  readonly name: string;
  readonly fault: WatchedBucket['fault'];
  /** Each request is reported from now on. */
  countBy(counted: ((asked: S3Outcome) => void) | undefined): void;
  /** They work from their first wake on. */
  readonly services: readonly Service[];
  /** The same, of which an installation needs one. */
  readonly singles: readonly Service[];
}

/** Opens it; null without one. Throws `conflict` where the blobs are not where the settings say. */
export async function openBucket(parts: BucketParts): Promise<OpenedBucket | null> {
  const { config, live, store, log, closers, local, directory } = parts;
  const target = blobTargetOf(config.settings, config.locations);
  let count: ((asked: S3Outcome) => void) | undefined;
  const bucket =
    target === null ? null : watchBucket(makeBucket({ target, clock, counted: (asked) => count?.(asked) }));
  if (bucket !== null) closers.push(bucket.close);
  const isShared = await settleLocation(parts, target, bucket);
  if (target === null || bucket === null) return null;
  const limit = () => live.settings().blobs.cacheMb * MB;
  const cache = makeCache({ directory, limit, isHeld: local.isHeld, clock, log });
  const redirects = () => live.settings().blobs.redirect;
  const notes = { ...store.objects, most: MOST_OBJECTS };
  const blobs = makeS3Blobs({ local, directory, bucket, cache, notes, isShared, redirects, clock });
  const sweeper = makeObjectSweeper({ store, blobs, bucket, clock, log });
  const facts = { blobs: locationOf(target), endpoint: target.endpoint };
  log.info(facts, 'the bytes of files are in a bucket');
  if (isShared) log.warn(facts, 'objects of the bucket are not removed: these rows were restored (docs/S3.md)');
  const held = store.peers === null ? [] : [makeHeldObjects({ store, blobs, clock, log })];
  const countBy = (counted: typeof count) => (count = counted);
  return {
    blobs,
    name: locationOf(target),
    fault: bucket.fault,
    countBy,
    services: [cache.keeper, ...held],
    singles: isShared ? [] : [sweeper],
  };
}

/** Returns whether the bucket is another installation's, too. */
async function settleLocation(
  { store, directory }: BucketParts,
  target: S3Target | null,
  bucket: Bucket | null,
): Promise<boolean> {
  const location = await store.objects.getLocation();
  const known = location?.name ?? null;
  const wanted = target === null ? null : locationOf(target);
  if (known === wanted) return location?.isShared === true;
  if (known !== null && wanted === null)
    throw refusal(
      `The bytes of files are in ${known}, and blobs.s3 names no bucket: set it; errand blobs copy --to local brings them back`,
    );
  if (known !== null) throw refusal(`The bytes of files are in ${known}, and blobs.s3 names ${wanted}: correct it`);
  for await (const _ of listKeys(directory))
    throw refusal(
      `The bytes of files are in ${directory}, and blobs.s3 names ${wanted}: move them with errand blobs copy --to s3`,
    );
  // Another node that starts at the same time may be the first to say it, and to store objects.
  if (bucket !== null && !(await isEmpty(bucket)) && (await store.objects.getLocation())?.name !== wanted)
    throw refusal(`${wanted} has files already, and those of another Errand`);
  await store.objects.setLocation(wanted);
  return false;
}

/** Objects of another installation would be removed, as no row here lists them. */
async function isEmpty(bucket: Bucket): Promise<boolean> {
  try {
    for await (const _ of bucket.list()) return false;
    return true;
  } catch (error) {
    throw error instanceof S3Error ? new ErrandError('unavailable', error.message, { cause: error }) : error;
  }
}

const refusal = (words: string) => new ErrandError('conflict', `${words} (docs/S3.md).`);
