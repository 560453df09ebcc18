import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenBlob } from '../../../src/files/blobs/open-blob.ts';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { listAll } from '../../support/files/list-blobs.ts';

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

test('bytes are found under the hash of their content, and the same content is stored once', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(directory);
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
  await openBlobsInFiles(directory);
  expect(filesIn(directory)).toEqual([]);
});

test('a blob that cannot be put leaves nothing behind', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(directory);
  const bytes = Buffer.from('blocked');
  const key = createHash('sha256').update(bytes).digest('hex');
  // A folder where the file should go makes the last move fail.
  mkdirSync(join(directory, key.slice(0, 2)));

  writeFileSync(join(directory, 'plain'), '');
  const broken = await openBlobsInFiles(join(directory, 'second'));
  writeFileSync(join(directory, 'second', key.slice(0, 2)), 'a file where a folder must be');
  await expect(broken.hold().put(bytes)).rejects.toThrow();
  expect(readdirSync(join(directory, 'second', 'incoming'))).toEqual([]);
  expect(await blobs.hold().put(bytes)).toBe(key);
});

test('an open blob yields any part of itself, and stays complete when it is removed meanwhile', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(directory);
  const hold = blobs.hold();
  const key = await hold.put(Buffer.from('0123456789'));
  hold.release();
  const [one, two] = [await blobs.open(key), await blobs.open(key)];
  expect(one.size).toBe(10);
  const part = async (blob: OpenBlob, start: number, length: number) => {
    const bytes = Buffer.alloc(length);
    await blob.read(bytes, start);
    return bytes.toString();
  };
  expect(await part(one, 2, 4)).toBe('2345');
  await expect(part(one, 8, 3)).rejects.toThrow('ended before its size');
  expect(await blobs.removeUnless(key, async () => false)).toBe(true);
  expect(await part(two, 0, 10)).toBe('0123456789');
  await expect(blobs.open(key)).rejects.toMatchObject({ reason: 'not_found' });
  await one.close();
  await two.close();
  const links = readdirSync('/proc/self/fd').map((fd) => linkOf(fd));
  expect(links.filter((link) => link.startsWith(directory))).toEqual([]);
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

test('the list has every blob, and no other files', async () => {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(directory);
  const hold = blobs.hold();
  const keys = await Promise.all(Array.from({ length: 300 }, async (_, i) => hold.put(Buffer.from(`blob ${i}`))));
  writeFileSync(join(directory, 'incoming', 'half'), 'x');
  writeFileSync(join(directory, 'stray'), 'x');
  writeFileSync(join(directory, keys[0]!.slice(0, 2), 'stray'), 'x');
  const listed = await Array.fromAsync(listAll(blobs));
  expect(listed.sort()).toEqual([...keys].sort());
});

test('a blob that is held and let go again while the rows are looked through stays, since they may name it by now', async () => {
  const blobs = await openBlobsInFiles(temporaryDirectory());
  const first = blobs.hold();
  const key = await first.put(Buffer.from('wanted again'));
  first.release();
  const look = Promise.withResolvers<boolean>();
  const removal = blobs.removeUnless(key, () => look.promise);
  const second = blobs.hold();
  second.add(key);
  second.release();
  // Another removal begins before the answer to the first comes, which is out of date.
  const later = Promise.withResolvers<boolean>();
  const other = blobs.removeUnless(key, () => later.promise);
  look.resolve(false);
  expect(await removal).toBe(false);
  later.resolve(true);
  expect(await other).toBe(true);
  expect((await blobs.read(key)).toString()).toBe('wanted again');
  expect(await blobs.removeUnless(key, async () => false)).toBe(true);
  await expect(blobs.open(key)).rejects.toMatchObject({ reason: 'not_found' });
});

test('a sweep over the list removes what is neither used nor held', async () => {
  const blobs = await openBlobsInFiles(temporaryDirectory());
  const [forgotten, held] = [blobs.hold(), blobs.hold()];
  const [unused, used] = [await forgotten.put(Buffer.from('unused')), await forgotten.put(Buffer.from('used'))];
  const kept = await held.put(Buffer.from('held'));
  forgotten.release();
  for await (const key of listAll(blobs)) await blobs.removeUnless(key, async (other) => other === used);
  expect((await Array.fromAsync(listAll(blobs))).sort()).toEqual([used, kept].sort());
  await expect(blobs.open(unused)).rejects.toMatchObject({ reason: 'not_found' });
});
