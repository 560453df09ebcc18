import { expect, test } from 'vitest';
import { MAX_ITEMS, withNewest, withOlder } from '../../../src/tui/feed/pages.ts';

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const page = (from: number, to: number) => ({ items: numbers(from, to), hasOlder: from > 1 });
const self = (number: number) => number;

test('the newest page replaces what it contains, and keeps the past that it meets', () => {
  const known = withOlder(withNewest(undefined, page(51, 100), self), page(1, 50));
  expect(withNewest(known, page(52, 101), self)).toEqual({ items: numbers(1, 101), hasOlder: false, isAtEnd: true });
});

test('a past that the newest page does not meet is dropped, so that nothing is missing between them', () => {
  const known = withNewest(undefined, page(51, 100), self);
  expect(withNewest(known, page(102, 151), self)).toEqual({ ...page(102, 151), isAtEnd: true });
});

test('what has no room on the way back is the newest, which then is read anew', () => {
  let known = withNewest(undefined, page(951, 1000), self);
  for (let from = 901; from >= 1; from -= 50) known = withOlder(known, page(from, from + 49));
  expect(known).toEqual({ items: numbers(1, MAX_ITEMS), hasOlder: false, isAtEnd: false });
  expect(withNewest(known, page(951, 1000), self)).toEqual({ ...page(951, 1000), isAtEnd: true });
});

test('a list that grows while it is watched is bounded', () => {
  let known = withNewest(undefined, page(1, 50), self);
  for (let to = 60; to <= 1000; to += 10) known = withNewest(known, page(to - 49, to), self);
  expect(known).toEqual({ items: numbers(1001 - MAX_ITEMS, 1000), hasOlder: true, isAtEnd: true });
});
