// Keys in little memory: none is lost, and none is taken for another.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { makePackedKeys } from '../../../src/backups/repository/packed-keys.ts';

const keyOf = (i: number) => createHash('sha256').update(String(i)).digest('hex');

test('a hundred thousand keys have their numbers, and others none', () => {
  const keys = makePackedKeys();
  const valueOf = (i: number) => 2 ** 32 - 50_000 + i;
  for (let i = 0; i < 100_000; i += 1) if (!keys.add(keyOf(i), valueOf(i))) throw new Error(`${i} was known`);
  const wrong = Array.from({ length: 200_000 }, (_, i) => i).filter(
    (i) => keys.get(keyOf(i)) !== (i < 100_000 ? valueOf(i) : undefined),
  );
  expect(wrong).toEqual([]);
});

test('a key that is known keeps its number', () => {
  const keys = makePackedKeys();
  const [zeros, ones] = ['0'.repeat(64), '1'.repeat(64)];
  expect([keys.add(zeros, 2 ** 47), keys.add(zeros, 7), keys.add(ones)]).toEqual([true, false, true]);
  expect([keys.get(zeros), keys.get(ones), keys.get('2'.repeat(64))]).toEqual([2 ** 47, 1, undefined]);
});

test('keys that want the same slot stay apart', () => {
  const keys = makePackedKeys();
  const alike = Array.from({ length: 500 }, (_, i) => `ab00000000000000${i.toString(16).padStart(48, '0')}`);
  const shorter = alike.map((key) => key.slice(32) + key.slice(0, 32));
  for (const [i, key] of shorter.entries()) keys.add(key, i + 1);
  expect(shorter.every((key, i) => keys.get(key) === i + 1)).toBe(true);
});
