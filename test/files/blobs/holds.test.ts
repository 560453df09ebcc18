// What a backup holds: everything, until it has copied it.
import { expect, test } from 'vitest';
import { makeHolds } from '../../../src/files/blobs/holds.ts';

const unused = async () => false;

test('a blob is removed only after it was passed', async () => {
  const removed: string[] = [];
  const holds = makeHolds(async (key) => removed.push(key) > 0);
  const rest = holds.openRest();
  expect(await holds.removeUnless('b', unused)).toBe(false);
  rest.passed('b');
  expect(await holds.removeUnless('b', unused)).toBe(true);
  expect(await holds.removeUnless('c', unused)).toBe(false);
  rest.release();
  expect(await holds.removeUnless('c', unused)).toBe(true);
  expect(removed).toEqual(['b', 'c']);
});

test('a removal that is being checked when the hold begins does not happen', async () => {
  const removed: string[] = [];
  const holds = makeHolds(async (key) => removed.push(key) > 0);
  const check = Promise.withResolvers<boolean>();
  const removal = holds.removeUnless('a', () => check.promise);
  const rest = holds.openRest();
  check.resolve(false);
  expect(await removal).toBe(false);
  expect(removed).toEqual([]);
  rest.release();
});
