// Syncs of a disk: one after another, and one that can't begin is in nobody's way.
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { syncDiskOf } from '../../src/disk/sync-disk.ts';

test('a sync that can not begin fails alone', async () => {
  // No program takes such an argument: it is thrown as the process would be started.
  const impossible = 'a\u0000b';
  const asked = [syncDiskOf(impossible), syncDiskOf(impossible), syncDiskOf(tmpdir())];
  expect(await Promise.all(asked)).toEqual([false, false, true]);
  expect(await syncDiskOf(impossible)).toBe(false);
});
