// Small blobs of the blob store: rows of a real database, and files of earlier versions.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SMALL_BLOB_BYTES } from '../../../src/domain/sessions/contents.ts';
import { type BlobStore, openBlobStore } from '../../../src/files/blobs/blobs.ts';
import type { OpenBlob } from '../../../src/files/blobs/open-blob.ts';
import { withAllHeld } from '../../../src/files/blobs/with-all-held.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { attachmentOf, keyOf } from '../../support/store/small-contents.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { listAll } from '../../support/files/list-blobs.ts';

let fixture: StoreFixture;
let directory: string;
let blobs: BlobStore;

beforeEach(async () => {
  fixture = await storeFixture();
  directory = join(temporaryDirectory(), 'blobs');
  blobs = await openBlobStore(directory, fixture.store.smallBlobs);
});

const files = () =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
const unused = async () => false;

/** Puts a content, and has a turn list it. */
async function keep(content: string): Promise<string> {
  const hold = blobs.hold();
  const key = await hold.put(Buffer.from(content));
  await fixture.accept({ attachments: [attachmentOf(content, key)], contents: await hold.contents.read([key]) });
  hold.release();
  return key;
}

async function textOf(blob: OpenBlob): Promise<string> {
  const bytes = Buffer.alloc(blob.size);
  await blob.read(bytes, 0);
  await blob.close();
  return bytes.toString();
}

/** One that remembers nothing. */
const another = () => openBlobStore(directory, fixture.store.smallBlobs);

test('a blob of at most 64 KB is a row, and a larger one is a file', async () => {
  const small = await keep('s'.repeat(SMALL_BLOB_BYTES));
  expect(files()).toBe(0);
  const later = await another();
  expect(await textOf(await later.open(small))).toHaveLength(SMALL_BLOB_BYTES);
  expect((await later.read(small)).length).toBe(SMALL_BLOB_BYTES);
  const copy = join(temporaryDirectory({ copy: 'what was there before, and is longer' }), 'copy');
  await later.copyTo(await keep('short'), copy);
  expect((await later.readSmall([small, keyOf('short'), keyOf('none')])).size).toBe(2);
  const hold = blobs.hold();
  const large = await hold.put(['l'.repeat(SMALL_BLOB_BYTES), 'l'].map((text) => Buffer.from(text)));
  expect([hold.contents.has(large), files()]).toEqual([false, 1]);
  expect(await textOf(await later.open(large))).toHaveLength(SMALL_BLOB_BYTES + 1);
});

test('what is held can be read before a row has it, and is gone with its holder', async () => {
  const hold = blobs.hold();
  const key = await hold.put(Buffer.from('an empty archive'));
  expect(await textOf(await blobs.open(key))).toBe('an empty archive');
  hold.release();
  expect(await blobs.removeUnless(key, fixture.store.sessions.isBlobInUse)).toBe(true);
  await expect(blobs.open(key)).rejects.toMatchObject({ reason: 'not_found' });
  expect(files()).toBe(0);
});

test('what one holder puts beyond a megabyte goes into files, so that memory stays bounded', async () => {
  const hold = blobs.hold();
  const contents = Array.from({ length: 20 }, (_, at) => `${at} `.padEnd(SMALL_BLOB_BYTES, '.'));
  const keys: string[] = [];
  for (const content of contents) keys.push(await hold.put(Buffer.from(content)));
  expect(keys.filter((key) => hold.contents.has(key))).toHaveLength(16);
  expect(files()).toBe(4);
  for (const [at, key] of keys.entries()) expect((await blobs.read(key)).equals(Buffer.from(contents[at]!))).toBe(true);
});

describe('a small file of an earlier version', () => {
  test('is read, and goes with its row', async () => {
    const earlier = await openBlobsInFiles(directory);
    const key = await earlier.hold().put(Buffer.from('older'));
    expect(await textOf(await blobs.open(key))).toBe('older');
    await keep('older');
    expect([files(), fixture.rows('SELECT key FROM small_blobs')]).toEqual([1, [{ key }]]);
    expect(await blobs.removeUnless(key, unused)).toBe(true);
    // A row lists it.
    expect([files(), fixture.rows('SELECT key FROM small_blobs')]).toEqual([0, [{ key }]]);
    expect(await textOf(await (await another()).open(key))).toBe('older');
  });

  test('is listed, beside the rows that no other lists', async () => {
    const key = await (await openBlobsInFiles(directory)).hold().put(Buffer.from('older'));
    await keep('listed');
    fixture.change(`INSERT INTO small_blobs (key, bytes) VALUES ('${'0'.repeat(64)}', X'')`);
    expect(await Array.fromAsync(listAll(blobs))).toEqual([key, '0'.repeat(64)]);
  });
});

describe('a removal', () => {
  test('takes a row that nothing lists, unless it is held at that moment', async () => {
    const key = keyOf('left');
    fixture.change(`INSERT INTO small_blobs (key, bytes) VALUES ('${key}', CAST('left' AS BLOB))`);
    const hold = blobs.hold();
    hold.add(key);
    expect(await blobs.removeUnless(key, unused)).toBe(false);
    const look = Promise.withResolvers<boolean>();
    hold.release();
    const removal = blobs.removeUnless(key, () => look.promise);
    const again = blobs.hold();
    again.add(key);
    again.release();
    look.resolve(false);
    expect(await removal).toBe(false);
    expect(fixture.rows('SELECT key FROM small_blobs')).toHaveLength(1);
    expect(await blobs.removeUnless(key, unused)).toBe(true);
    expect(fixture.rows('SELECT key FROM small_blobs')).toEqual([]);
  });

  test('that has begun ends before rows are read that name blobs to be held', async () => {
    const key = keyOf('left');
    fixture.change(`INSERT INTO small_blobs (key, bytes) VALUES ('${key}', CAST('left' AS BLOB))`);
    const [gate, order] = [Promise.withResolvers<void>(), [] as string[]];
    const { smallBlobs } = fixture.store;
    const slow = await openBlobStore(directory, {
      ...smallBlobs,
      remove: async (removed, isHeld) => {
        const result = await smallBlobs.remove(removed, isHeld);
        await gate.promise;
        order.push('removed');
        return result;
      },
    });
    const removal = slow.removeUnless(key, unused);
    await new Promise((resolve) => void setImmediate(resolve));
    const read = withAllHeld(slow, async () => order.push('read'));
    gate.resolve();
    await Promise.all([removal, read]);
    expect(order).toEqual(['removed', 'read']);
  });
});

test('what was written for a holder goes with it', async () => {
  const path = join(directory, 'incoming', 'contents');
  writeFileSync(path, 'onetwo');
  const hold = blobs.hold();
  const places = ['one', 'two'].map((text, at) => ({ key: keyOf(text), at: at * 3, size: 3 }));
  hold.take({ bytes: path, places });
  expect((await hold.contents.read([keyOf('two'), keyOf('other')])).get(keyOf('two'))?.toString()).toBe('two');
  hold.take({ bytes: path, places: [{ key: keyOf('three'), at: 3, size: 5 }] });
  await expect(hold.contents.read([keyOf('three')])).rejects.toThrow('not whole');
  hold.release();
  await expect.poll(files).toBe(0);
});

test.each([
  ['is gone', null],
  ['has other bytes', 'nets'],
])('a row is read although the scratch file of someone who holds the same content %s', async (_, content) => {
  const key = await keep('text');
  const reader = await another();
  const scratch = join(temporaryDirectory(), 'scratch');
  if (content !== null) writeFileSync(scratch, content);
  const hold = reader.hold();
  hold.take({ bytes: scratch, places: [{ key, at: 0, size: 4 }] });
  expect((await reader.read(key)).toString()).toBe('text');
  // Who stores what it holds must not store anything else.
  await expect(hold.contents.read([key])).rejects.toThrow();
  hold.release();
});
