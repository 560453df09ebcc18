// Small blobs in memory: used again without the disk, bounded, and forgotten when they are removed.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenBlob } from '../../../src/files/blobs/open-blob.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { SMALL_BLOB_BYTES } from '../../../src/domain/sessions/contents.ts';
import { makeSmallBlobs } from '../../../src/files/blobs/small-blobs.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

async function textOf(blob: OpenBlob): Promise<string> {
  const bytes = Buffer.alloc(blob.size);
  await blob.read(bytes, 0);
  await blob.close();
  return bytes.toString();
}

test('a small blob is read from the disk once, a large one each time', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(directory);
  const [small, large] = ['s'.repeat(SMALL_BLOB_BYTES), 'l'.repeat(SMALL_BLOB_BYTES + 1)];
  const hold = blobs.hold();
  for (const text of [small, large]) {
    const key = await hold.put(Buffer.from(text));
    expect((await textOf(await blobs.open(key))) === text).toBe(true);
    rmSync(join(directory, key.slice(0, 2), key));
  }
  const keyOf = (text: string) => createHash('sha256').update(text).digest('hex');
  expect((await textOf(await blobs.open(keyOf(small)))) === small).toBe(true);
  await expect(blobs.open(keyOf(large))).rejects.toMatchObject({ reason: 'not_found' });
});

test('a blob that is removed is forgotten, and so is one that is removed while it is read', async () => {
  const blobs = await openBlobsInFiles(temporaryDirectory());
  const hold = blobs.hold();
  const key = await hold.put(Buffer.from('one'));
  hold.release();
  await (await blobs.open(key)).close();
  await blobs.removeUnless(key, async () => false);
  await expect(blobs.open(key)).rejects.toMatchObject({ reason: 'not_found' });

  const small = makeSmallBlobs();
  const found = await small.keep('a', async () => {
    small.remove('a');
    return Buffer.from('two');
  });
  expect(found.toString()).toBe('two');
  expect(small.find('a')).toBeUndefined();
});

test('the bytes in memory have a limit, and those used last stay', async () => {
  const small = makeSmallBlobs(10);
  const keep = (key: string, text: string) => small.keep(key, async () => Buffer.from(text));
  await keep('a', '1234');
  await keep('b', '5678');
  small.find('a');
  await keep('c', '90ab');
  expect(['a', 'b', 'c'].map((key) => small.find(key)?.length)).toEqual([4, undefined, 4]);
  await keep('c', '90abcdef');
  expect(['a', 'c'].map((key) => small.find(key)?.length)).toEqual([undefined, 8]);
  await keep('d', '0123456789ab');
  expect(['c', 'd'].map((key) => small.find(key))).toEqual([undefined, undefined]);
});

test('a part beyond the end of a small blob is refused', async () => {
  const blobs = await openBlobsInFiles(temporaryDirectory());
  const blob = await blobs.open(await blobs.hold().put(Buffer.from('0123')));
  const bytes = Buffer.alloc(2);
  await blob.read(bytes, 2);
  expect(bytes.toString()).toBe('23');
  await expect(blob.read(bytes, 3)).rejects.toThrow('ended before its size');
});
