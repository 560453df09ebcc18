// Moves the bytes of files of a stopped daemon into the bucket that its settings name, or back.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { blobTargetOf } from '../../config/blob-target.ts';
import type { Config } from '../../config/config.ts';
import { readWays } from '../../config/read-ways.ts';
import { requireMarked, storeLocationOf } from '../../config/store-location.ts';
import { systemClock as clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { incomingPath } from '../../files/blobs/blob-place.ts';
import { type Bucket, makeBucket } from '../../files/blobs/s3/bucket.ts';
import { type Copied, copyToBucket, copyToDirectory } from '../../files/blobs/s3/copy-blobs.ts';
import { makeFetchBlob } from '../../files/blobs/s3/fetch-blob.ts';
import { S3Error } from '../../files/blobs/s3/s3-error.ts';
import { locationOf, type S3Target } from '../../files/blobs/s3/target.ts';
import { writeAtomically } from '../../files/blobs/write-atomically.ts';
import { markStore, readStoreMark } from '../../files/store-marker.ts';
import { takeWays } from '../../outbound/ways/ways.ts';
import { lockDataDirectory } from '../../store/engine/sqlite/file/lock.ts';
import { explainRefusal } from '../../store/explain-refusal.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { renderBody } from '../../webhooks/bodies/render-body.ts';

export interface MoveRequest {
  readonly config: Config;
  readonly to: 's3' | 'local';
  readonly progress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** What was moved, and the bucket. */
export interface Moved extends Copied {
  readonly bucket: string;
}

/** There while a copy into a bucket has begun and not ended: its line is the bucket, whose objects are its own. */
const BEGUN = 'blobs-copy';

/**
 * Copies all of them; in the end, the rows say that they are there. Interrupted, it goes on when it is called again. Throws `conflict` while a
 * daemon runs, without a bucket in the settings, and for one that is another's; `unavailable` where bucket or disk refuse.
 */
export async function moveBlobs(request: MoveRequest): Promise<Moved> {
  const target = targetOf(request.config);
  return withStopped(request.config, async ({ objects }) => {
    const bucket = makeBucket({ target, clock });
    try {
      const known = (await objects.getLocation())?.name ?? null;
      const wanted = locationOf(target);
      if (known !== null && known !== wanted)
        throw new ErrandError('conflict', `The bytes of files are in ${known}, and blobs.s3 names ${wanted}.`);
      const move = request.to === 's3' ? toBucket : toDirectory;
      return { ...(await move(request, { bucket, wanted, known, objects })), bucket: wanted };
    } catch (error) {
      throw error instanceof S3Error ? new ErrandError('unavailable', error.message, { cause: error }) : error;
    } finally {
      await bucket.close();
    }
  });
}

/** From now on, objects of the bucket are removed: the installation whose rows were restored is gone. Throws `conflict`. */
export async function ownBucket(config: Config): Promise<string> {
  return withStopped(config, async ({ objects }) => {
    const location = await objects.getLocation();
    if (location === null) throw new ErrandError('conflict', 'The bytes of files are in the data directory.');
    await objects.setLocation(location.name);
    return location.name;
  });
}

interface Move {
  readonly bucket: Bucket;
  readonly wanted: string;
  readonly known: string | null;
  readonly objects: Store['objects'];
}

async function toBucket({ config, progress, signal }: MoveRequest, { bucket, wanted, known, objects }: Move) {
  const { dataDir } = config.locations;
  const begun = join(dataDir, BEGUN);
  const isBegun = existsSync(begun) && readFileSync(begun, 'utf8').trim() === wanted;
  if (known === null && !isBegun) {
    for await (const _ of bucket.list())
      throw new ErrandError('conflict', `${wanted} has files already, and those of another Errand.`);
    writeAtomically(begun, `${wanted}\n`, 0o600);
  }
  const copied = await copyToBucket({ directory: join(dataDir, 'blobs'), bucket, progress, signal });
  if (known === null) await objects.setLocation(wanted);
  rmSync(begun, { force: true });
  return copied;
}

async function toDirectory({ config, progress, signal }: MoveRequest, { bucket, known, objects }: Move) {
  const directory = join(config.locations.dataDir, 'blobs');
  if (known === null) throw new ErrandError('conflict', `The bytes of files are in ${directory}.`);
  mkdirSync(incomingPath(directory), { recursive: true, mode: 0o700 });
  const fetch = makeFetchBlob({ directory, bucket, brought: () => undefined });
  const copied = await copyToDirectory({ directory, bucket, progress, signal, fetch });
  await objects.setLocation(null);
  // From now on it has them.
  const rows = readStoreMark(config.locations.dataDir);
  if (rows !== null) markStore(config.locations.dataDir, rows);
  return copied;
}

function targetOf({ settings, locations }: Config): S3Target {
  const target = blobTargetOf(settings, locations);
  if (target === null) throw new ErrandError('conflict', 'The settings name no bucket: set blobs.s3 first.');
  return target;
}

/** Throws `conflict` while a daemon runs. */
async function withStopped<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const { settings, variables, locations } = config;
  const location = requireMarked(storeLocationOf(config), locations.dataDir);
  takeWays(readWays(settings, variables, locations).ways);
  const lock = lockDataDirectory(locations.dataDir);
  try {
    const store = openStore(location, clock, { renderBody });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw explainRefusal(error, location);
  } finally {
    lock.release();
  }
}
