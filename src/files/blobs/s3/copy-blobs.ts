// Copies all blobs of a directory into a bucket, or back, while nobody writes either: each is verified, and what is there already is not
// copied again.
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eachOf } from './at-once.ts';
import { blobPath } from '../blob-place.ts';
import type { Bucket, ListedObject } from './bucket.ts';
import type { FetchBlob } from './fetch-blob.ts';
import { PIECE_BYTES } from './target.ts';

export interface Copied {
  /** Blobs that are there now, and their bytes. */
  readonly blobs: number;
  readonly bytes: number;
  /** Of these, those that were copied this time. */
  readonly copied: number;
  /** Files of the directory whose bytes are not those of their keys, and the key of one: they are left out. */
  readonly damaged: number;
  readonly damagedKey: string | null;
}

/** Called with bytes that are there by now. `total`: of all. */
type Progress = (done: number, total: number) => void;

const NOTHING = { blobs: 0, bytes: 0, copied: 0, damaged: 0, damagedKey: null as string | null };

interface CopyParts {
  readonly directory: string;
  readonly bucket: Bucket;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Puts what the bucket lacks. Rejects with `S3Error`, and when the signal aborts. */
export async function copyToBucket({ directory, bucket, progress, signal }: CopyParts): Promise<Copied> {
  let total = 0;
  for (const { size } of filesOf(directory)) total += size;
  const done = { ...NOTHING };
  const count = (size: number) => {
    done.blobs += 1;
    done.bytes += size;
    progress(done.bytes, total);
  };
  await eachOf(compared(filesOf(directory), bucket.list()), async ({ key, size, isThere }) => {
    signal.throwIfAborted();
    if (isThere) return count(size);
    const path = blobPath(directory, key);
    if ((await hashOf(path)) !== key) {
      done.damaged += 1;
      done.damagedKey = key;
      return;
    }
    await bucket.put({ key, path, size }, signal);
    done.copied += 1;
    count(size);
  });
  return done;
}

/** Fetches what the directory lacks, or has damaged. Rejects as `fetch` does, with `S3Error`, and when the signal aborts. */
export async function copyToDirectory(parts: CopyParts & { readonly fetch: FetchBlob }): Promise<Copied> {
  const { directory, bucket, progress, signal, fetch } = parts;
  let total = 0;
  for await (const { size } of bucket.list()) total += size;
  const done = { ...NOTHING };
  await eachOf(bucket.list(), async ({ key, size }) => {
    signal.throwIfAborted();
    const path = blobPath(directory, key);
    if (sizeOf(directory, key) !== size || (await hashOf(path)) !== key) {
      // What is there is damaged: it would be taken for the whole.
      rmSync(path, { force: true });
      await fetch(key);
      done.copied += 1;
    }
    done.blobs += 1;
    done.bytes += size;
    progress(done.bytes, total);
  });
  return done;
}

interface Compared extends ListedObject {
  readonly isThere: boolean;
}

/** Both are in the order of keys. */
async function* compared(
  files: Iterable<ListedObject>,
  objects: AsyncIterator<ListedObject>,
): AsyncGenerator<Compared> {
  let object = await objects.next();
  for (const { key, size } of files) {
    while (object.done !== true && object.value.key < key) object = await objects.next();
    yield { key, size, isThere: object.done !== true && object.value.key === key && object.value.size === size };
  }
}

const SHARD = /^[0-9a-f]{2}$/;
const KEY = /^[0-9a-f]{64}$/;

/** In the order of keys, a folder at a time. */
function* filesOf(directory: string): Generator<ListedObject> {
  for (const shard of readdirSync(directory).sort()) {
    if (!SHARD.test(shard)) continue;
    for (const key of readdirSync(join(directory, shard)).sort()) {
      const size = KEY.test(key) ? sizeOf(directory, key) : undefined;
      if (size !== undefined) yield { key, size };
    }
  }
}

const sizeOf = (directory: string, key: string) => statSync(blobPath(directory, key), { throwIfNoEntry: false })?.size;

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) hash.update(piece as Buffer);
  return hash.digest('hex');
}
