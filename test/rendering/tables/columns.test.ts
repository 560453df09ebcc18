// Which columns are numbers, and how these are written.
import { expect, test } from 'vitest';
import { columnOf, isHeader } from '../../../src/rendering/tables/columns.ts';

test.each([
  [['1', '', '-2.5', '+3', '\u22124'], '.'],
  [['1,234', '12,345,678.90'], '.'],
  [['1.234,50', '2'], ','],
  [['1,5', '1234'], ','],
  [['0,125'], ','],
  [['$5', '€ 6', '7 %', '(8)'], '.'],
  [['1 234', '1\u202F234,5'], ','],
  [['1', 'n/a'], null],
  [['2026-03-01', '2026-03-02'], null],
  [['10.0.0.1'], null],
  [['', ''], null],
])('%j has decimals behind %j', (cells, decimal) => {
  expect(columnOf(cells)).toEqual({ decimal });
});

test('a row of figures and dates names nothing', () => {
  expect(isHeader(['1', '2026-03-01', ''])).toBe(false);
  expect(isHeader(['Station', '2025', '2026'])).toBe(true);
});
