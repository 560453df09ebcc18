// Blobs in a bucket: the directory of blobs is where they are written first, and keeps copies of what is read.
import { statSync } from 'node:fs';
import { type Clock, pause } from '../../../domain/clock.ts';
import { codeOf, ErrandError } from '../../../domain/errors.ts';
import { blobPath, hasBlob } from '../blob-place.ts';
import { eachOf } from './at-once.ts';
import type { BlobStore } from '../blobs.ts';
import type { OpenBlob, ServedAs } from '../open-blob.ts';
import type { Bucket } from './bucket.ts';
import type { Cache } from './cache.ts';
import { type FetchBlob, makeFetchBlob } from './fetch-blob.ts';
import { S3Error, storageAway } from './s3-error.ts';

/** A blob store whose blobs are in a bucket. */
export interface S3Blobs extends BlobStore {
  /**
   * Stores those of some blobs that are in the directory in the bucket. Before the rows are committed that list them; whoever asks holds
   * them. Throws `unavailable` (`isStorageAway`) where that fails.
   */
  secure(keys: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Brings blobs into the directory that is read by path; whoever asks holds them. One that is nowhere is left out. */
  bring(keys: readonly string[]): Promise<void>;
}

/** The notes of objects that no row may list yet, or no longer; of at most `most` keys a call. */
export interface ObjectNotes {
  readonly most: number;
  note(keys: readonly string[]): Promise<readonly ('listed' | 'noted' | 'removing')[]>;
  noteRemoved(keys: readonly string[]): Promise<void>;
  /** Those whose bytes are no row of the database. */
  listRowless(keys: readonly string[]): Promise<readonly string[]>;
  /** Those that have no note. */
  listUnnoted(keys: readonly string[]): Promise<readonly string[]>;
}

export interface S3BlobsParts {
  /** The blobs of the directory. */
  readonly local: BlobStore;
  readonly directory: string;
  readonly bucket: Bucket;
  readonly cache: Pick<Cache, 'added' | 'used'>;
  readonly notes: ObjectNotes;
  /** Whether another installation may need the objects: none of them is unused. */
  readonly isShared: boolean;
  /** Whether downloads lead to the bucket now. */
  redirects(): boolean;
  readonly clock: Clock;
}

/** A copy may be removed between its arrival and its use, as long as nobody holds it. */
const TRIES = 3;
/** How often, and how long, an object that is being removed is waited for. */
const [REMOVAL_PAUSE_MS, REMOVAL_TRIES] = [500, 60];

export function makeS3Blobs(parts: S3BlobsParts): S3Blobs {
  const { local, directory, bucket, cache, notes } = parts;
  const fetch = makeFetchBlob({ directory, bucket, brought: cache.added });
  const secure: S3Blobs['secure'] = (keys, signal) => secureAll(parts, keys, signal);

  async function withCopy<T>(key: string, use: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        const used = await use();
        cache.used(key);
        return used;
      } catch (error) {
        if (!isMissing(error) || tries > TRIES) throw error;
        await fetch(key);
      }
    }
  }

  return {
    ...local,
    hold: () => {
      const hold = local.hold();
      return {
        ...hold,
        put: async (bytes) => {
          const key = await hold.put(bytes);
          await secure([key]);
          return key;
        },
      };
    },
    read: async (key) => withCopy(key, () => local.read(key)),
    copyTo: async (key, path) => withCopy(key, () => local.copyTo(key, path)),
    open: async (key) => {
      const open = () => withCopy(key, () => local.open(key));
      return parts.redirects() ? openElsewhere(parts, key, open) : open();
    },
    listShared: async function* listShared() {
      yield* local.listShared();
      if (!parts.isShared) yield* unnotedIn(parts);
    },
    removeUnless: async (key, isInUse) => {
      let rowless: readonly string[] = [];
      const look = async (asked: string) => {
        if (await isInUse(asked)) return true;
        rowless = await notes.listRowless([asked]);
        return false;
      };
      const isDecided = await local.removeUnless(key, look);
      if (isDecided && rowless.length > 0 && !parts.isShared) await notes.noteRemoved(rowless);
      return isDecided;
    },
    secure,
    bring: (keys) => bringAll(parts, keys, fetch),
  };
}

/** What has a note goes by that: to look at it would renew the note, and put its removal off. */
async function* unnotedIn({ bucket, notes }: S3BlobsParts): AsyncGenerator<string> {
  let page: string[] = [];
  for await (const { key } of bucket.list()) {
    page.push(key);
    if (page.length < notes.most) continue;
    yield* await notes.listUnnoted(page);
    page = [];
  }
  yield* await notes.listUnnoted(page);
}

const isMissing = (error: unknown): boolean =>
  codeOf(error) === 'ENOENT' || (error instanceof ErrandError && error.reason === 'not_found');

/** For how long an address of the bucket is valid. */
const ADDRESS_SECONDS = 300;

/** An object, of which nothing is brought here before it is read. */
async function openElsewhere({ directory, bucket, notes }: S3BlobsParts, key: string, open: () => Promise<OpenBlob>) {
  if ((await notes.listRowless([key])).length === 0) return open();
  const address = async (as: ServedAs) => bucket.addressFor(key, ADDRESS_SECONDS, as).catch(refuse);
  if (hasBlob(directory, key)) return { ...(await open()), address };
  const size = await bucket.sizeOf(key).catch(refuse);
  // It may be in memory.
  if (size === null) return open();
  let opened: Promise<OpenBlob> | undefined;
  return {
    size,
    read: async (bytes: Uint8Array, start: number) => (await (opened ??= open())).read(bytes, start),
    close: async () => (await opened)?.close(),
    address,
  };
}

async function bringAll({ directory, notes }: S3BlobsParts, keys: readonly string[], fetch: FetchBlob) {
  const missing = [...new Set(keys)].filter((key) => !hasBlob(directory, key));
  for (let at = 0; at < missing.length; at += notes.most)
    await eachOf(await notes.listRowless(missing.slice(at, at + notes.most)), async (key) => {
      try {
        await fetch(key);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    });
}

async function secureAll(parts: S3BlobsParts, keys: readonly string[], signal?: AbortSignal): Promise<void> {
  const { directory, notes } = parts;
  const here = [...new Set(keys)].filter((key) => hasBlob(directory, key));
  for (let at = 0; at < here.length; at += notes.most) await secureSome(parts, here.slice(at, at + notes.most), signal);
}

async function secureSome(
  { directory, bucket, cache, notes, clock }: S3BlobsParts,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  let left = keys;
  for (let tries = 1; left.length > 0; tries += 1) {
    const states = await notes.note(left);
    const stored = left.filter((_, index) => states[index] !== 'removing');
    const listed = new Set(left.filter((_, index) => states[index] === 'listed'));
    await eachOf(stored, async (key) => {
      // Rows of a backup may list what was removed since: it is stored again.
      if (listed.has(key) && (await bucket.sizeOf(key).catch(refuse)) !== null) return;
      const path = blobPath(directory, key);
      const { size } = statSync(path);
      await bucket.put({ key, path, size }, signal).catch(refuse);
      cache.added(size);
    });
    left = left.filter((_, index) => states[index] === 'removing');
    if (left.length > 0 && (tries === REMOVAL_TRIES || signal?.aborted)) throw storageAway(BEING_REMOVED);
    if (left.length > 0) await pause(clock, REMOVAL_PAUSE_MS, signal);
  }
}

const BEING_REMOVED = new S3Error('An object is being removed, and that takes long.', {
  status: null,
  code: null,
  isPassing: true,
});

function refuse(error: unknown): never {
  throw error instanceof S3Error ? storageAway(error) : error;
}
