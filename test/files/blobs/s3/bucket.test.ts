import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { type Bucket, makeBucket } from '../../../../src/files/blobs/s3/bucket.ts';
import type { S3RequestParts } from '../../../../src/files/blobs/s3/requests.ts';
import { addressOf, type S3Target } from '../../../../src/files/blobs/s3/target.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { type Fault, faultyS3, type FaultyS3 } from '../../../support/s3/faulty-s3.ts';

async function fixture(over: Partial<S3RequestParts> = {}, target: Partial<S3Target> = {}) {
  const s3 = await faultyS3();
  const bucket = makeBucket({ target: { ...s3.target, ...target }, clock: systemClock, firstPauseMs: 1, ...over });
  onTestFinished(bucket.close);
  const directory = temporaryDirectory();
  return {
    s3,
    bucket,
    put: async (bytes: Buffer): Promise<string> => {
      const key = createHash('sha256').update(bytes).digest('hex');
      const path = join(directory, key);
      writeFileSync(path, bytes);
      await bucket.put({ key, path, size: bytes.length });
      return key;
    },
  };
}

async function read(bucket: Bucket, key: string, from = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const offset = () => from + Buffer.concat(chunks).length;
  await bucket.get({ key, offset }, async ({ body }) => {
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

/** The first so many requests of a method meet a fault. */
function first(s3: FaultyS3, times: number, method: string, fault: Fault): void {
  let met = 0;
  s3.fault = (asked) => (asked.method === method && met++ < times ? fault : undefined);
}

test('what is put can be read, from any byte on, is listed, and is gone once it is removed', async () => {
  const { s3, bucket, put } = await fixture();
  const key = await put(Buffer.from('0123456789'));
  const empty = await put(Buffer.alloc(0));
  expect((await read(bucket, key)).toString()).toBe('0123456789');
  expect((await read(bucket, key, 4)).toString()).toBe('456789');
  expect((await read(bucket, empty)).length).toBe(0);
  expect(await bucket.sizeOf(key)).toBe(10);
  expect(await Array.fromAsync(bucket.list())).toEqual(
    [
      { key, size: 10 },
      { key: empty, size: 0 },
    ].sort((a, b) => (a.key < b.key ? -1 : 1)),
  );
  await bucket.remove(key);
  await bucket.remove(key);
  expect(await bucket.sizeOf(key)).toBeNull();
  await expect(read(bucket, key)).rejects.toMatchObject({ status: 404, code: 'NoSuchKey' });
  expect(s3.asked[0]?.url).toBe(`/errand-test/some%20where/${key.slice(0, 2)}/${key}`);
});

test('a list goes on over its pages, from any key on', async () => {
  const { bucket, put } = await fixture();
  const keys = [];
  for (let i = 0; i < 103; i += 1) keys.push(await put(Buffer.from(String(i))));
  keys.sort();
  expect((await Array.fromAsync(bucket.list())).map(({ key }) => key)).toEqual(keys);
  expect((await Array.fromAsync(bucket.list(keys[100]))).map(({ key }) => key)).toEqual(keys.slice(101));
});

test('a file of more than 16 MB is put in parts', async () => {
  const { s3, bucket, put } = await fixture();
  const bytes = randomBytes(16 * 1_048_576 + 1);
  const key = await put(bytes);
  expect(s3.asked.map(({ method, bytes }) => `${method} ${bytes > 1_000 ? bytes : ''}`)).toEqual([
    'POST ',
    'PUT 16777216',
    'PUT ',
    'POST ',
  ]);
  expect((await read(bucket, key)).equals(bytes)).toBe(true);
});

test('the parts of a file that can not be put are dropped', async () => {
  const { s3, bucket, put } = await fixture();
  s3.fault = ({ url }) => (url.includes('partNumber=2') ? { status: 403, code: 'AccessDenied' } : undefined);
  await expect(put(randomBytes(17 * 1_048_576))).rejects.toThrow(
    'The bucket refused to put a part (AccessDenied, status 403): the key has no permission for it',
  );
  expect(s3.asked.at(-1)).toMatchObject({ method: 'DELETE', url: expect.stringContaining('uploadId=') });
  expect(await Array.fromAsync(bucket.list())).toEqual([]);
});

test.each<[string, Fault]>([
  ['SlowDown', { status: 503, code: 'SlowDown', headers: { 'retry-after': '0' } }],
  ['an error of the server', { status: 500, code: 'InternalError' }],
  ['a time-out that the service saw', { status: 400, code: 'RequestTimeout' }],
  ['a reset', { resetAfter: 0 }],
  ['silence', 'silence'],
])('a request that meets %s is repeated', async (_name, fault) => {
  // A reply that is only late must not be taken for silence.
  const { s3, bucket, put } = await fixture(fault === 'silence' ? { idleMs: 500 } : {});
  first(s3, 2, 'PUT', fault);
  const key = await put(Buffer.from('again'));
  expect((await read(bucket, key)).toString()).toBe('again');
});

test('a reply that breaks off is read on from where it broke', async () => {
  const { s3, bucket, put } = await fixture();
  const bytes = randomBytes(400_000);
  const key = await put(bytes);
  first(s3, 3, 'GET', { resetAfter: 100_000 });
  expect((await read(bucket, key)).equals(bytes)).toBe(true);
  expect(s3.asked.filter(({ method }) => method === 'GET').map(({ headers }) => headers.range)).toEqual([
    undefined,
    'bytes=100000-',
    'bytes=200000-',
    'bytes=300000-',
  ]);
});

test('repeating ends, and what can not pass is not repeated', async () => {
  const { s3, put } = await fixture();
  s3.fault = () => ({ status: 503, code: 'SlowDown' });
  await expect(put(Buffer.from('x'))).rejects.toMatchObject({ code: 'SlowDown', isPassing: true });
  expect(s3.asked).toHaveLength(5);
  s3.fault = () => ({ status: 507, code: 'InsufficientCapacity' });
  await expect(put(Buffer.from('x'))).rejects.toThrow('the storage of the service is full');
  expect(s3.asked).toHaveLength(6);
});

test('a clock that is wrong is told in seconds', async () => {
  const { s3, put } = await fixture();
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  s3.fault = () => ({ status: 403, code: 'RequestTimeTooSkewed', headers: { date } });
  await expect(put(Buffer.from('x'))).rejects.toThrow(/clock of this machine is 3\d{3} s behind that of the service/);
});

test('a wrong key, and one that can not be read, are told without their secret', async () => {
  const wrong = await fixture({}, { key: () => ({ id: 'S3RVER', secret: 'a wrong secret' }) });
  await expect(wrong.put(Buffer.from('x'))).rejects.toThrow(
    /^The bucket refused to put an object \(SignatureDoesNotMatch, status 403\): the key in blobs.s3.key_file/,
  );
  const none = await fixture({}, { key: () => ({ why: 'is empty' }) });
  await expect(none.put(Buffer.from('x'))).rejects.toThrow('blobs.s3.key_file is empty.');
});

test('objects are encrypted as the target says', async () => {
  const { s3, put } = await fixture({}, { encryption: { kind: 'aws:kms', kmsKey: 'alias/errand' } });
  await put(Buffer.from('x'));
  expect(s3.asked[0]?.headers).toMatchObject({
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'alias/errand',
  });
});

test('an address that is signed can be read without a credential, as what it names', async () => {
  const { bucket, put } = await fixture();
  const key = await put(Buffer.from('for all'));
  const as = { contentType: 'text/plain', disposition: 'attachment; filename="a b+c.txt"', cacheControl: 'private' };
  const reply = await fetch(await bucket.addressFor(key, 60, as));
  expect([reply.status, await reply.text()]).toEqual([200, 'for all']);
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="a b+c.txt"');
});

test('a bucket stands in the path, or in the host', () => {
  const target = { ...({} as S3Target), endpoint: 'https://s3.example.com:9000', bucket: 'files' };
  expect(addressOf({ ...target, pathStyle: true }, 'a b/c').href).toBe('https://s3.example.com:9000/files/a%20b/c');
  expect(addressOf({ ...target, pathStyle: false }, 'a b/c').href).toBe('https://files.s3.example.com:9000/a%20b/c');
});
