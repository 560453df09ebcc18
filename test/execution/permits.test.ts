import { expect, test } from 'vitest';
import { makePermits } from '../../src/execution/permits.ts';

test('no more than the limit are granted; the next in line goes when one is given back', () => {
  const permits = makePermits();
  const granted: number[] = [];
  const held = [1, 2, 3, 4].map((who) => permits.acquire('local', 2, () => void granted.push(who)));
  expect(granted).toEqual([1, 2]);
  held[0]!.release();
  held[0]!.release();
  expect(granted).toEqual([1, 2, 3]);
});

test('who leaves the line is never granted', () => {
  const permits = makePermits();
  const granted: number[] = [];
  const held = [1, 2, 3].map((who) => permits.acquire('local', 1, () => void granted.push(who)));
  held[1]!.release();
  held[0]!.release();
  expect(granted).toEqual([1, 3]);
});

test('endpoints do not wait for each other, and a new limit counts at once', () => {
  const permits = makePermits();
  const granted: string[] = [];
  for (const who of ['a', 'b']) permits.acquire('one', 1, () => void granted.push(who));
  permits.acquire('two', 1, () => void granted.push('c'));
  expect(granted).toEqual(['a', 'c']);
  permits.acquire('one', 3, () => void granted.push('d'));
  expect(granted).toEqual(['a', 'c', 'b', 'd']);
});
