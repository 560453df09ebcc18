// Tries the client of buckets against a second real server, Swift with its S3 interface, which verifies each signature:
// `npm run test:s3`. Without Debian's packages swift-proxy, swift-account, swift-container and swift-object it skips, and says so.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/domain/clock.ts';
import { type Bucket, makeBucket } from '../../src/files/blobs/s3/bucket.ts';
import { makeS3Requests } from '../../src/files/blobs/s3/requests.ts';
import type { S3Target } from '../../src/files/blobs/s3/target.ts';
import { startSwift, SWIFT_KEY } from './swift.ts';

const MIB = 1_048_576;
const folder = mkdtempSync(join(tmpdir(), 'errand-s3-'));

async function put(bucket: Bucket, bytes: Buffer): Promise<string> {
  const key = createHash('sha256').update(bytes).digest('hex');
  const path = join(folder, 'file');
  writeFileSync(path, bytes);
  await bucket.put({ key, path, size: bytes.length });
  return key;
}

async function read(bucket: Bucket, key: string, from = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = from;
  await bucket.get({ key, offset: () => size }, async ({ body }) => {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
    }
  });
  return Buffer.concat(chunks);
}

async function trySmall(bucket: Bucket): Promise<void> {
  const keys: string[] = [];
  for (const size of [0, 1, 100_000]) {
    const bytes = randomBytes(size);
    const key = await put(bucket, bytes);
    keys.push(key);
    assert((await read(bucket, key)).equals(bytes));
    assert.equal(await bucket.sizeOf(key), size);
  }
  assert.equal((await read(bucket, keys[2]!, 99_990)).length, 10);
  keys.sort();
  const listed = await Array.fromAsync(bucket.list());
  assert.deepEqual(
    listed.map(({ key }) => key),
    keys,
  );
  assert.deepEqual((await bucket.list(keys[1]).next()).value?.key, keys[2]);
  const as = { contentType: 'text/plain', disposition: 'attachment; filename="a b+c.txt"', cacheControl: 'private' };
  const reply = await fetch(await bucket.addressFor(keys[2]!, 60, as));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-disposition'), as.disposition);
  for (const key of keys) await bucket.remove(key);
  await bucket.remove(keys[0]!);
  assert.equal(await bucket.sizeOf(keys[0]!), null);
  await assert.rejects(read(bucket, keys[0]!), { code: 'NoSuchKey' });
}

async function tryParts(bucket: Bucket): Promise<void> {
  const bytes = randomBytes(33 * MIB);
  const key = await put(bucket, bytes);
  assert((await read(bucket, key)).equals(bytes));
  assert((await read(bucket, key, 20 * MIB)).equals(bytes.subarray(20 * MIB)));
  await bucket.remove(key);
}

async function tryRefusals(target: S3Target): Promise<void> {
  const wrong = makeBucket({
    target: { ...target, key: () => ({ ...SWIFT_KEY, secret: 'wrong' }) },
    clock: systemClock,
  });
  await assert.rejects(put(wrong, Buffer.from('x')), { code: 'SignatureDoesNotMatch' });
  const late = makeBucket({ target, clock: { ...systemClock, now: () => Date.now() - 3_600_000 } });
  await assert.rejects(put(late, Buffer.from('x')), /clock of this machine/);
  const none = makeBucket({ target: { ...target, bucket: 'errand-none' }, clock: systemClock });
  await assert.rejects(put(none, Buffer.from('x')), { code: 'NoSuchBucket' });
  const bucket = makeBucket({ target, clock: systemClock });
  writeFileSync(join(folder, 'other'), 'other');
  const other = { key: 'a'.repeat(64), path: join(folder, 'other'), size: 5 };
  await assert.rejects(bucket.put(other), 'The server takes other bytes than were signed.');
  for (const one of [wrong, late, none, bucket]) await one.close();
}

const swift = await startSwift(folder);
if (swift === null)
  console.warn(
    '\n*** SKIPPED: a second S3 server. It needs the packages swift-proxy, swift-account, swift-container, swift-object. ***\n',
  );
else
  try {
    const { target } = swift;
    const requests = makeS3Requests({ target, clock: systemClock });
    await requests.send(
      { verb: 'put', deed: 'make a bucket', method: 'PUT', name: '' },
      async ({ body }) => void body.resume(),
    );
    await requests.close();
    const bucket = makeBucket({ target, clock: systemClock });
    await trySmall(bucket);
    await tryParts(bucket);
    await tryRefusals(target);
    await bucket.close();
    console.log('Swift takes signed requests, parts, ranges, lists and addresses, and its refusals are understood.');
  } finally {
    swift.stop();
  }
rmSync(folder, { recursive: true, force: true });
