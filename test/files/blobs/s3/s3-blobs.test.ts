import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { Settings } from '../../../../src/domain/settings.ts';
import { makeObjectSweeper } from '../../../../src/execution/artifacts/removal/object-sweeper.ts';
import { blobPath } from '../../../../src/files/blobs/blob-place.ts';
import { openBlobStore } from '../../../../src/files/blobs/blobs.ts';
import { makeBucket } from '../../../../src/files/blobs/s3/bucket.ts';
import { makeCache } from '../../../../src/files/blobs/s3/cache.ts';
import { makeS3Blobs } from '../../../../src/files/blobs/s3/s3-blobs.ts';
import { isStorageAway } from '../../../../src/files/blobs/s3/s3-error.ts';
import { watchBucket } from '../../../../src/files/blobs/s3/watched-bucket.ts';
import { makeLog } from '../../../../src/log/log.ts';
import { MOST_OBJECTS } from '../../../../src/store/objects.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { faultyS3 } from '../../../support/s3/faulty-s3.ts';
import { attachmentOf } from '../../../support/store/small-contents.ts';
import { storeFixture } from '../../../support/store/store-fixture.ts';
import { listAll } from '../../../support/files/list-blobs.ts';

const HOUR_MS = 3_600_000;
const log = makeLog({ level: 'silent' as Settings['log']['level'] });

/** Blobs of a directory and a bucket; the clock of the notes is a fake one. */
async function fixture({ limit = 1_000_000_000, isShared = false, redirects = false } = {}) {
  const [s3, { store, clock, accept }] = [await faultyS3(), await storeFixture()];
  const bucket = watchBucket(makeBucket({ target: s3.target, clock: systemClock, firstPauseMs: 1 }));
  onTestFinished(bucket.close);
  const directory = temporaryDirectory();
  const local = await openBlobStore(directory, store.smallBlobs);
  const cache = makeCache({ directory, limit: () => limit, isHeld: local.isHeld, clock: systemClock, log });
  onTestFinished(cache.keeper.stop);
  const notes = { ...store.objects, most: MOST_OBJECTS };
  const blobs = makeS3Blobs({
    local,
    directory,
    bucket,
    cache,
    notes,
    isShared,
    redirects: () => redirects,
    clock: systemClock,
  });
  const sweeper = makeObjectSweeper({ store, blobs, bucket, clock, log });
  onTestFinished(sweeper.stop);
  return {
    s3,
    store,
    clock,
    accept,
    bucket,
    directory,
    blobs,
    cache,
    sweep: async () => {
      sweeper.wake();
      // The timer that the clock has passed woke it, too.
      for (let wakes = 0; wakes < 3; wakes += 1) await sweeper.settled();
    },
    put: async (bytes: Buffer): Promise<string> => {
      const hold = blobs.hold();
      const key = await hold.put(bytes);
      hold.release();
      return key;
    },
    isLocal: (key: string) => existsSync(blobPath(directory, key)),
    /** As if it had been removed to make room. */
    drop: (key: string) => rmSync(blobPath(directory, key)),
    objects: async () => (await Array.fromAsync(bucket.list())).map(({ key }) => key),
  };
}

const LARGE = () => randomBytes(200_000);

test('what is put is in the bucket, and is brought back when it is read', async () => {
  const { put, blobs, drop, isLocal, objects } = await fixture();
  const bytes = LARGE();
  const key = await put(bytes);
  expect(await objects()).toEqual([key]);
  for (const read of [
    async () => blobs.read(key),
    async () => {
      const open = await blobs.open(key);
      const whole = Buffer.alloc(open.size);
      await open.read(whole, 0);
      await open.close();
      return whole;
    },
  ]) {
    drop(key);
    expect((await read()).equals(bytes)).toBe(true);
    expect(isLocal(key)).toBe(true);
  }
});

test('readers of the same blob share one request', async () => {
  const { s3, put, blobs, drop } = await fixture();
  const key = await put(LARGE());
  drop(key);
  await Promise.all([blobs.read(key), blobs.read(key), blobs.open(key).then((open) => open.close())]);
  expect(s3.asked.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

test('other bytes than the key says are refused, and nothing of them stays', async () => {
  const { s3, put, blobs, drop, directory, bucket } = await fixture();
  const key = await put(LARGE());
  drop(key);
  s3.fault = ({ method }) => (method === 'GET' ? 'wrong bytes' : undefined);
  await expect(blobs.read(key)).rejects.toSatisfy(isStorageAway);
  expect(readdirSync(join(directory, 'incoming'))).toEqual([]);
  expect(bucket.fault()).toBeNull();
});

test('a blob that the bucket has lost is not found', async () => {
  const { put, blobs, drop, bucket } = await fixture();
  const key = await put(LARGE());
  drop(key);
  await bucket.remove(key);
  await expect(blobs.read(key)).rejects.toMatchObject({ reason: 'not_found' });
  await blobs.bring([key]);
});

test('while the bucket is away nothing is put, and that is told; copies can be read', async () => {
  const { s3, put, blobs, bucket } = await fixture();
  const key = await put(LARGE());
  s3.cut(true);
  await expect(put(LARGE())).rejects.toMatchObject({ reason: 'unavailable' });
  expect(bucket.fault()).toContain("The bucket can't be reached");
  expect(await blobs.read(key)).toHaveLength(200_000);
  s3.cut(false);
  await put(LARGE());
  expect(bucket.fault()).toBeNull();
});

test('what no row lists an hour after it was put is removed; what was put again meanwhile, or is held, is not', async () => {
  const { put, clock, sweep, objects, blobs } = await fixture();
  const [lost, again] = [await put(Buffer.from('a'.repeat(99_999))), await put(Buffer.from('b'.repeat(99_999)))];
  const hold = blobs.hold();
  const held = await hold.put(Buffer.from('c'.repeat(99_999)));
  clock.advance(HOUR_MS - 1);
  await sweep();
  expect(await objects()).toEqual([lost, again, held].sort());
  await put(Buffer.from('b'.repeat(99_999)));
  clock.advance(2);
  await sweep();
  expect(await objects()).toEqual([again, held].sort());
  hold.release();
  clock.advance(HOUR_MS + 1);
  await sweep();
  expect(await objects()).toEqual([]);
});

test('an object goes an hour after its blob, unless a row lists it again', async () => {
  const { put, clock, sweep, objects, blobs, isLocal, store } = await fixture();
  const key = await put(LARGE());
  expect(await blobs.removeUnless(key, async () => false)).toBe(true);
  expect(isLocal(key)).toBe(false);
  expect(await objects()).toEqual([key]);
  clock.advance(HOUR_MS + 1);
  await sweep();
  expect(await objects()).toEqual([]);
  expect(await store.objects.listDue(clock.now() + HOUR_MS)).toEqual({ keys: [], nextAt: null });
});

test('what is being removed is stored only after that', async () => {
  const { put, clock, store, s3 } = await fixture();
  const bytes = LARGE();
  const key = await put(bytes);
  clock.advance(HOUR_MS + 1);
  expect(await store.objects.beginRemovals([key], new Set())).toEqual([key]);
  s3.asked.length = 0;
  const putting = put(bytes);
  await expect.poll(async () => store.objects.note([key])).toEqual(['removing']);
  expect(s3.asked).toEqual([]);
  await store.objects.endRemovals([key]);
  await putting;
  expect(s3.asked.map(({ method }) => method)).toEqual(['PUT']);
});

test('copies go when there are too many, those first that were used longest ago, and none that is held', async () => {
  const { put, cache, isLocal, blobs, directory } = await fixture({ limit: 1_000_000 });
  const hold = blobs.hold();
  const held = await hold.put(LARGE());
  const keys = [held];
  for (let i = 1; i < 5; i += 1) keys.push(await put(LARGE()));
  for (const [i, key] of keys.entries()) {
    const at = new Date(Date.now() - (10 - i) * HOUR_MS);
    utimesSync(blobPath(directory, key), at, at);
  }
  cache.keeper.wake();
  await cache.keeper.settled();
  expect(keys.map(isLocal)).toEqual([true, true, true, true, true]);
  await put(LARGE());
  await expect.poll(() => keys.map(isLocal)).toEqual([true, false, false, true, true]);
  await blobs.read(keys[1]!);
  expect(isLocal(keys[1]!)).toBe(true);
});

test('what a crash left in the directory and in the bucket is found among the blobs', async () => {
  const { blobs, bucket, directory } = await fixture();
  const bytes = Buffer.from('left');
  const key = createHash('sha256').update(bytes).digest('hex');
  const path = join(directory, 'incoming', 'x');
  writeFileSync(path, bytes);
  await bucket.put({ key, path, size: bytes.length });
  expect(await Array.fromAsync(listAll(blobs))).toEqual([key]);
});

test('of a bucket that another installation needs, too, nothing is removed', async () => {
  const { put, blobs, store, objects, clock } = await fixture({ isShared: true });
  const key = await put(LARGE());
  clock.advance(HOUR_MS + 1);
  expect(await store.objects.beginRemovals([key], new Set())).toEqual([key]);
  await store.objects.endRemovals([key]);
  expect(await blobs.removeUnless(key, async () => false)).toBe(true);
  expect(await store.objects.listDue(clock.now() + 2 * HOUR_MS)).toMatchObject({ keys: [] });
  expect(await Array.fromAsync(listAll(blobs))).toEqual([]);
  expect(await objects()).toEqual([key]);
});

test('where downloads lead to the bucket, nothing is brought here before it is read', async () => {
  const { s3, put, blobs, drop, isLocal, bucket } = await fixture({ redirects: true });
  const bytes = LARGE();
  const key = await put(bytes);
  drop(key);
  s3.asked.length = 0;
  const open = await blobs.open(key);
  expect(open.size).toBe(bytes.length);
  const as = { contentType: 'application/zip', disposition: 'attachment; filename="a.zip"', cacheControl: 'private' };
  const reply = await fetch((await open.address?.(as)) ?? '');
  expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).toBe(true);
  expect(isLocal(key)).toBe(false);
  const some = Buffer.alloc(10);
  await open.read(some, 5);
  await open.close();
  expect(some.equals(bytes.subarray(5, 15))).toBe(true);
  const copied = await blobs.open(key);
  expect(copied.address).toBeDefined();
  await copied.close();
  await bucket.remove(key);
  drop(key);
  await expect(blobs.open(key)).rejects.toMatchObject({ reason: 'not_found' });
});

test('an object that the bucket refuses to remove is removed later', async () => {
  const { s3, put, clock, sweep, objects } = await fixture();
  const key = await put(LARGE());
  clock.advance(HOUR_MS + 1);
  s3.fault = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined);
  await sweep();
  expect(await objects()).toEqual([key]);
  s3.fault = () => undefined;
  clock.advance(200_000);
  await sweep();
  expect(await objects()).toEqual([]);
});

test.each([
  ['denied', { status: 403, code: 'AccessDenied' }, 'the key has no permission'],
  ['full', { status: 507, code: 'QuotaExceeded' }, 'the quota is used up'],
  ['slow', { status: 503, code: 'SlowDown' }, 'asks for fewer requests'],
])('a put that is %s can be tried again, and its reason is told to administrators', async (_name, fault, words) => {
  const { s3, put, bucket } = await fixture();
  s3.fault = () => fault;
  await expect(put(LARGE())).rejects.toSatisfy(isStorageAway);
  expect(bucket.fault()).toContain(words);
});

test('what is being put ends with its caller', async () => {
  const { s3, put, blobs, bucket } = await fixture();
  const key = await put(LARGE());
  s3.fault = () => 'silence';
  const ending = new AbortController();
  const putting = blobs.secure([key], ending.signal);
  await expect.poll(() => s3.asked.length).toBe(2);
  ending.abort();
  await expect(putting).rejects.toSatisfy(isStorageAway);
  expect(bucket.fault()).toContain('cancelled');
  expect(s3.asked).toHaveLength(2);
});

test('one that can not be removed holds up no other, and what a batch has no time for may be stored at once', async () => {
  const { store, clock } = await storeFixture();
  const keys = ['a', 'b', 'c', 'd'];
  await store.objects.noteRemoved(keys);
  clock.advance(HOUR_MS + 1);
  const removed: string[] = [];
  let stuck = 0;
  const remove = async (key: string) => {
    if (key === 'a' && (stuck += 1) === 1) throw new Error('stuck');
    removed.push(key);
    // Slow: the batch has no time for the last one.
    if (key === 'c') clock.advance(61_000);
    if (key === 'c') await expect.poll(() => store.objects.note(['d'])).toEqual(['removing']);
  };
  const sweeper = makeObjectSweeper({ store, blobs: { isHeld: () => false }, bucket: { remove }, clock, log });
  onTestFinished(() => sweeper.stop());
  sweeper.wake();
  await sweeper.settled();
  expect(removed).toEqual(['b', 'c']);
  expect(await store.objects.note(['d'])).toEqual(['noted']);
  expect(await store.objects.note(['a'])).toEqual(['removing']);
});

test('what has a note is not listed: to look at it again would put its removal off', async () => {
  const { put, blobs, accept, clock, sweep } = await fixture();
  const bytes = LARGE();
  const key = await put(bytes);
  await accept({ attachments: [attachmentOf(bytes, 'a')] });
  expect(await Array.fromAsync(blobs.listShared())).toEqual([]);
  // A row lists it, so that its note is not needed any more.
  clock.advance(HOUR_MS + 1);
  await sweep();
  expect(await Array.fromAsync(blobs.listShared())).toEqual([key]);
});

test('what a row lists and the bucket has lost is stored there again', async () => {
  const { put, bucket, store, objects, accept } = await fixture();
  const bytes = LARGE();
  const key = await put(bytes);
  await accept({ attachments: [attachmentOf(bytes, 'a')] });
  await bucket.remove(key);
  expect(await store.objects.note([key])).toEqual(['listed']);
  await put(bytes);
  expect(await objects()).toEqual([key]);
});
