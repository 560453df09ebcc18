// Dollars, short and exact.
import { expect, test } from 'vitest';
import { callCost, exactMoney, money } from '../../src/terminal/money.ts';

test.each([
  [0, '$0.00'],
  [0.004, '<1¢'],
  [0.07, '$0.07'],
  [12.409, '$12.41'],
  [1234, '$1.2k'],
  [999_400, '$999k'],
])('%d dollars are %s', (dollars, text) => {
  expect(money(dollars)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [3, '$3.00'],
  [2.5, '$2.50'],
  [0.0123451, '$0.012345'],
])('%d dollars are exactly %s', (dollars, text) => {
  expect(exactMoney(dollars)).toBe(text);
});

test.each([
  [0, '$0.0000'],
  [0.03, '$0.0300'],
  [0.000_012_34, '$0.000012'],
])('a call that cost %d dollars cost %s', (dollars, text) => {
  expect(callCost(dollars)).toBe(text);
});
