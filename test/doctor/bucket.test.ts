import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeBucket } from '../../src/files/blobs/s3/bucket.ts';
import { aSubject, examined, WELL } from '../support/doctor/subject.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { SETTINGS } from '../support/http/http-fixture.ts';
import { faultyS3, S3_BUCKET, S3_KEY } from '../support/s3/faulty-s3.ts';

/** An examination of a bucket that has one of the objects that rows name. */
async function fixture(lost: readonly string[] = []) {
  const s3 = await faultyS3();
  const directory = temporaryDirectory({ key: `${S3_KEY.id}:${S3_KEY.secret}`, file: 'some text' });
  const target = { ...s3.target, prefix: 'errand/' };
  const bucket = makeBucket({ target, clock: systemClock });
  onTestFinished(bucket.close);
  const key = createHash('sha256').update('some text').digest('hex');
  await bucket.put({ key, path: join(directory, 'file'), size: 9 });
  const { endpoint, prefix } = target;
  const named = { endpoint, prefix, bucket: S3_BUCKET, keyFile: join(directory, 'key') };
  const settings = { ...SETTINGS, blobs: { ...SETTINGS.blobs, s3: { ...SETTINGS.blobs.s3, ...named } } };
  const scan = async () => ({ ...WELL, blobs: { ...WELL.blobs, sample: [key, ...lost] } });
  const subject = aSubject({ settings: () => settings, scan, clock: systemClock });
  return { s3, key, bucket, directory, examine: () => examined('bucket', subject) };
}

test('a bucket is tried, and nothing of that stays', async () => {
  const { examine, bucket, key } = await fixture();
  expect(await examine()).toMatchObject({
    state: 'ok',
    evidence: `s3://${S3_BUCKET}/errand/ stores, gives, lists and removes objects, and has 1 that rows name`,
  });
  expect(await Array.fromAsync(bucket.list())).toEqual([{ key, size: 9 }]);
});

test('what the key may not do is named', async () => {
  const { s3, examine } = await fixture();
  s3.fault = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined);
  expect(await examine()).toMatchObject({
    state: 'failed',
    evidence: expect.stringContaining(
      'refused to remove an object (AccessDenied, status 403): the key has no permission',
    ),
  });
});

test('a bucket that gives other bytes, or a wrong key, has failed', async () => {
  const { s3, examine, directory } = await fixture();
  s3.fault = ({ method, url }) => (method === 'GET' && !url.includes('list-type') ? 'wrong bytes' : undefined);
  expect(await examine()).toMatchObject({ state: 'failed', evidence: expect.stringContaining('other bytes') });
  writeFileSync(join(directory, 'key'), 'no key');
  expect(await examine()).toMatchObject({
    state: 'failed',
    evidence: expect.stringMatching(/blobs.s3.key_file .* must contain ACCESS_KEY_ID:SECRET_ACCESS_KEY on one line\.$/),
  });
});

test('objects that rows name and the bucket lacks are told', async () => {
  const { examine } = await fixture(['f'.repeat(64)]);
  expect(await examine()).toMatchObject({
    state: 'failed',
    evidence: expect.stringContaining('lacks 1 of 2 objects that rows name, such as ffff'),
  });
});

test('without a bucket there is nothing to examine', async () => {
  expect(await examined('bucket', aSubject())).toMatchObject({ state: 'skipped' });
});
