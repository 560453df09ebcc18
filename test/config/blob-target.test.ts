import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blobTargetOf, checkBlobFiles } from '../../src/config/blob-target.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { SETTINGS } from '../support/http/http-fixture.ts';

const settingsWith = (s3: Partial<typeof SETTINGS.blobs.s3>) => ({
  blobs: { ...SETTINGS.blobs, s3: { ...SETTINGS.blobs.s3, endpoint: 'https://s3', bucket: 'files', ...s3 } },
});

test('the key of a bucket is read from its file, each time', () => {
  const configDir = temporaryDirectory({ key: 'AKIA1:se/cr+et=\n' });
  const target = blobTargetOf(settingsWith({ keyFile: 'key', encryption: 'aws:kms', kmsKey: 'k' }), {
    configDir,
    credentialsDirectory: null,
  });
  expect(target).toMatchObject({ bucket: 'files', encryption: { kind: 'aws:kms', kmsKey: 'k' }, caFile: null });
  expect(target?.key()).toEqual({ id: 'AKIA1', secret: 'se/cr+et=' });
  writeFileSync(join(configDir, 'key'), 'AKIA2:other');
  expect(target?.key()).toEqual({ id: 'AKIA2', secret: 'other' });
});

test.each([
  ['no colon', /^blobs.s3.key_file .* must contain ACCESS_KEY_ID:SECRET_ACCESS_KEY on one line$/],
  ['a:b\nc:d', /on one line$/],
  ['', /is empty$/],
])('a file with %j for its key is a problem, without what it has', (content, words) => {
  const configDir = temporaryDirectory({ key: content });
  const problems = checkBlobFiles(settingsWith({ keyFile: 'key', caFile: 'none.pem' }), {
    configDir,
    credentialsDirectory: null,
  });
  expect(problems).toHaveLength(2);
  expect(problems[0]?.message).toMatch(/^blobs.s3.ca_file refers to a file that/);
  expect(problems[1]?.message).toMatch(words);
});

test('without an endpoint, files are in the data directory', () => {
  expect(blobTargetOf({ blobs: SETTINGS.blobs }, { configDir: '/', credentialsDirectory: null })).toBeNull();
});
