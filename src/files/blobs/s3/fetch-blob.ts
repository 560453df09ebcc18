// Brings a blob from the bucket into the directory: whole, verified, and once for all who want it at the same time.
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { notFound } from '../../../domain/errors.ts';
import { blobPath, hasBlob, incomingPath } from '../blob-place.ts';
import { lacksSpace, noSpace } from '../no-space.ts';
import type { Bucket } from './bucket.ts';
import { S3Error, storageAway } from './s3-error.ts';

export interface FetchParts {
  readonly directory: string;
  readonly bucket: Pick<Bucket, 'get'>;
  /** Called with the bytes of each that was brought. */
  brought(bytes: number): void;
}

/** Throws `not_found` when the bucket has no such blob, and `unavailable` when it can't be brought. */
export type FetchBlob = (key: string) => Promise<void>;

export function makeFetchBlob(parts: FetchParts): FetchBlob {
  const underWay = new Map<string, Promise<void>>();
  return (key) => {
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const fetching = bring(parts, key).finally(() => underWay.delete(key));
    underWay.set(key, fetching);
    return fetching;
  };
}

async function bring({ directory, bucket, brought }: FetchParts, key: string): Promise<void> {
  if (hasBlob(directory, key)) return;
  const temporary = join(incomingPath(directory), randomUUID());
  try {
    const size = await download(bucket, key, temporary);
    const path = blobPath(directory, key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rename(temporary, path);
    brought(size);
  } catch (error) {
    await rm(temporary, { force: true });
    if (!(error instanceof S3Error)) throw lacksSpace(error) ? noSpace() : error;
    if (error.status === 404 && error.code === 'NoSuchKey') throw notFound('File');
    throw storageAway(error);
  }
}

/** Writes it, and returns its size. It is synced: after a power failure, its name must not stand for other bytes. */
async function download(bucket: FetchParts['bucket'], key: string, path: string): Promise<number> {
  await using file = await open(path, 'wx', 0o600);
  let [hash, written] = [createHash('sha256'), 0];
  await bucket.get({ key, offset: () => written }, async ({ status, body }) => {
    // Not every server knows ranges.
    if (written > 0 && status !== 206) {
      await file.truncate(0);
      [hash, written] = [createHash('sha256'), 0];
    }
    for await (const piece of body as AsyncIterable<Buffer>) {
      await writeAt(file, piece, written);
      hash.update(piece);
      written += piece.length;
    }
  });
  if (hash.digest('hex') !== key)
    throw new S3Error(`The object of ${key} has other bytes than its name says.`, {
      status: 200,
      code: null,
      isPassing: false,
    });
  await file.sync();
  return written;
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
}
