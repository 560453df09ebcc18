import { expect, test } from 'vitest';
import { accountOf } from '../../../src/domain/people/account-name.ts';

test.each([
  ['mara', 'MARA'],
  ['mara', 'Ｍａｒａ'],
  ['file', 'ﬁle'],
  ['strasse', 'Straße'],
  ['straße', 'STRAẞE'],
  ['σοφος', 'ΣΟΦΟΣ'],
  ['σοφος', 'σοφος'],
  ['admin', 'admın'],
  ['kim', '\u212aim'],
  ['admin', 'ad\u3164min'],
  ['é', 'e\u0301'],
  ['x2', 'x²'],
])('%s and %s are one account', (one, other) => {
  expect(accountOf(one)).toBe(accountOf(other));
});

test.each([
  ['mara', 'mira'],
  ['mara', 'mаra'],
  ['a.b', 'ab'],
  ['a-b', 'a_b'],
])('%s and %s are two', (one, other) => {
  expect(accountOf(one)).not.toBe(accountOf(other));
});

test('what a name is compared by is compared by itself', () => {
  for (const name of ['Straße', 'ΣΟΦΟΣ', 'İstanbul', 'ﷺ', 'ŉ', 'ǰ'])
    expect(accountOf(accountOf(name))).toBe(accountOf(name));
});
