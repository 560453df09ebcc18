// Fields without a value are left out; null is a value.
import { expect, test } from 'vitest';
import { defined } from '../../src/domain/defined.ts';

test('what is undefined is left out, and nothing else', () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: '', d: 0, e: false }))).toEqual([
    ['b', null],
    ['c', ''],
    ['d', 0],
    ['e', false],
  ]);
});
