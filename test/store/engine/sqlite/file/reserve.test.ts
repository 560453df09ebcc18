// The space that is reserved for a full disk: a commit that asks for it gets it, or is refused, and nothing else happens.
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openReserve } from '../../../../../src/store/engine/sqlite/file/reserve.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';

test('it is released once, and made again where there is plenty of space', () => {
  const file = join(temporaryDirectory(), 'reserve');
  const reserve = openReserve(file);
  expect(statSync(file).size).toBeGreaterThan(0);
  expect([reserve.spend(), reserve.spend()]).toEqual([true, false]);
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  expect(reserve.isSpent()).toBe(false);
  expect(reserve.spend()).toBe(true);
});

test('one that the disk does not let go of is not released, and is no error', () => {
  const file = join(temporaryDirectory(), 'reserve');
  const reserve = openReserve(file);
  // What can't be removed as a file, as nothing can be on a disk that is read-only by now.
  rmSync(file);
  mkdirSync(join(file, 'kept'), { recursive: true });
  expect(reserve.spend()).toBe(false);
  rmSync(file, { recursive: true });
  expect(reserve.spend()).toBe(true);
  mkdirSync(join(file, 'kept'), { recursive: true });
  expect(reserve.isSpent()).toBe(true);
});
