import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBlobStore } from '../../src/files/blobs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

test('bytes come back under the hash of their content, and the same content is kept once', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobStore(directory);
  const bytes = Buffer.from('tides\u0000\u00ff');
  const keys = await Promise.all([
    blobs.hold().put(bytes),
    blobs.hold().put(bytes),
    blobs.hold().put(Buffer.from(bytes)),
  ]);
  expect(new Set(keys)).toEqual(new Set([createHash('sha256').update(bytes).digest('hex')]));
  expect(await blobs.read(keys[0])).toEqual(bytes);
  expect(filesIn(directory)).toHaveLength(1);
});

test('what a crash left half-written is gone after a start', async () => {
  const directory = temporaryDirectory({ 'incoming/half': 'xx' });
  await openBlobStore(directory);
  expect(filesIn(directory)).toEqual([]);
});

test('a blob that cannot be put leaves nothing behind', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobStore(directory);
  const bytes = Buffer.from('blocked');
  const key = createHash('sha256').update(bytes).digest('hex');
  // A folder where the file should go makes the last move fail.
  mkdirSync(join(directory, key.slice(0, 2)));

  writeFileSync(join(directory, 'plain'), '');
  const broken = await openBlobStore(join(directory, 'second'));
  writeFileSync(join(directory, 'second', key.slice(0, 2)), 'a file where a folder must be');
  await expect(broken.hold().put(bytes)).rejects.toThrow();
  expect(readdirSync(join(directory, 'second', 'incoming'))).toEqual([]);
  expect(await blobs.hold().put(bytes)).toBe(key);
});
