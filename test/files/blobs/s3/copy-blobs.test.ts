import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { blobPath } from '../../../../src/files/blobs/blob-place.ts';
import { makeBucket } from '../../../../src/files/blobs/s3/bucket.ts';
import { copyToBucket, copyToDirectory } from '../../../../src/files/blobs/s3/copy-blobs.ts';
import { makeFetchBlob } from '../../../../src/files/blobs/s3/fetch-blob.ts';
import { filesIn } from '../../../support/backups/installation.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { faultyS3 } from '../../../support/s3/faulty-s3.ts';

const COUNT = 60;

/** A directory of so many blobs, and an empty bucket. */
async function fixture() {
  const s3 = await faultyS3();
  const bucket = makeBucket({ target: s3.target, clock: systemClock, firstPauseMs: 1 });
  onTestFinished(bucket.close);
  const contents = Array.from({ length: COUNT }, (_, no) => `blob ${no}`);
  const keys = contents.map((content) => createHash('sha256').update(content).digest('hex'));
  const files = contents.map((content, no) => [blobPath('', keys[no]!).slice(1), content] as const);
  const directory = temporaryDirectory(Object.fromEntries(files));
  const parts = { directory, bucket, progress: () => undefined, signal: new AbortController().signal };
  return { s3, bucket, directory, keys: keys.toSorted(), parts };
}

test('all blobs go to the bucket, and back to an empty directory', async () => {
  const { bucket, directory, keys, parts } = await fixture();
  const progress: number[] = [];
  const copied = await copyToBucket({ ...parts, progress: (done, total) => void progress.push(done / total) });
  expect(copied).toMatchObject({ blobs: COUNT, copied: COUNT, damaged: 0 });
  expect(progress.at(-1)).toBe(1);
  expect((await Array.fromAsync(bucket.list())).map(({ key }) => key)).toEqual(keys);
  const back = temporaryDirectory();
  mkdirSync(join(back, 'incoming'));
  const fetch = makeFetchBlob({ directory: back, bucket, brought: () => undefined });
  expect(await copyToDirectory({ ...parts, directory: back, fetch })).toMatchObject({ blobs: COUNT, copied: COUNT });
  const contentsOf = (place: string) => Object.keys(filesIn(place)).toSorted();
  expect(contentsOf(back)).toEqual(contentsOf(directory));
});

test('a copy that broke off is continued with what is missing', async () => {
  const { s3, bucket, keys, parts } = await fixture();
  let puts = 0;
  s3.fault = ({ method }) => (method === 'PUT' && ++puts > 20 ? { status: 403, code: 'AccessDenied' } : undefined);
  await expect(copyToBucket(parts)).rejects.toMatchObject({ code: 'AccessDenied' });
  s3.fault = () => undefined;
  const there = (await Array.fromAsync(bucket.list())).length;
  expect(there).toBe(20);
  expect(await copyToBucket(parts)).toMatchObject({ blobs: COUNT, copied: COUNT - there });
  expect(await copyToBucket(parts)).toMatchObject({ blobs: COUNT, copied: 0 });
  const place = parts.directory;
  rmSync(blobPath(place, keys[0]!));
  mkdirSync(join(place, 'incoming'));
  const fetch = makeFetchBlob({ directory: place, bucket, brought: () => undefined });
  expect(await copyToDirectory({ ...parts, fetch })).toMatchObject({ blobs: COUNT, copied: 1 });
});

test('a file whose bytes have changed is left out, and told', async () => {
  const { bucket, directory, keys, parts } = await fixture();
  appendFileSync(blobPath(directory, keys[3]!), '!');
  expect(await copyToBucket(parts)).toMatchObject({ blobs: COUNT - 1, damaged: 1, damagedKey: keys[3] });
  expect(await bucket.sizeOf(keys[3]!)).toBeNull();
});

test('files whose bytes have changed are fetched', async () => {
  const { bucket, directory, keys, parts } = await fixture();
  await copyToBucket(parts);
  mkdirSync(join(directory, 'incoming'));
  const [longer, other] = [blobPath(directory, keys[3]!), blobPath(directory, keys[4]!)];
  const contents = readFileSync(other, 'utf8');
  appendFileSync(longer, '!');
  writeFileSync(other, contents.toUpperCase());
  const fetch = makeFetchBlob({ directory, bucket, brought: () => undefined });
  expect(await copyToDirectory({ ...parts, fetch })).toMatchObject({ blobs: COUNT, copied: 2 });
  expect(readFileSync(other, 'utf8')).toBe(contents);
  expect(readFileSync(longer, 'utf8')).not.toContain('!');
});
