// Columns fit into a width.
import { expect, test } from 'vitest';
import { fitColumns, GAP, keepByWorth, type Sizing } from '../../src/terminal/fit-columns.ts';

/** A text that may be cut to `width`. */
const text = (most: number, worth = 5, width = 26): Sizing => ({ width: Math.min(width, most), most, worth });
const id = (worth = 9): Sizing => ({ width: 13, most: 13, worth });

/** The width of each column; null for those left out. */
function widthsOf(columns: readonly Sizing[], available: number): (number | null)[] {
  const fitted = fitColumns(
    columns.map((column, at) => ({ ...column, at })),
    available,
  );
  return columns.map((_, at) => fitted.find((column) => column.at === at)?.width ?? null);
}

const total = (widths: readonly (number | null)[]) => {
  const shown = widths.filter((width) => width !== null);
  return shown.reduce((sum, width) => sum + width, 0) + GAP * (shown.length - 1);
};

test('what fits stays as it is', () => {
  expect(widthsOf([id(), text(30), text(31)], 80)).toEqual([13, 30, 31]);
});

test('the widest texts are cut first, so that the table is exactly as wide as the terminal', () => {
  expect(widthsOf([id(), text(10), text(200), text(300)], 100)).toEqual([13, 10, 36, 35]);
});

test('an id is never cut: the columns worth least go, the rightmost first', () => {
  expect(widthsOf([id(), id(1), text(40, 7), id(3), id(3)], 60)).toEqual([13, null, 30, 13, null]);
});

test('of columns that do not fit one is left, and is cut', () => {
  expect(widthsOf([id(), text(40, 1)], 10)).toEqual([10, null]);
});

test('a luxury goes before another column is less than comfortable', () => {
  const luxury: Sizing = { width: 9, worth: 1, isLuxury: true };
  const title: Sizing = { width: 16, ample: 26, most: 60, worth: 9 };
  expect(widthsOf([luxury, title], 37)).toEqual([9, 26]);
  expect(widthsOf([luxury, title], 36)).toEqual([null, 36]);
});

test('whatever the columns, the table is at most as wide as the terminal', () => {
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 2000; round += 1) {
    const columns = Array.from({ length: 1 + random(9) }, () => {
      const most = 1 + random(random(3) === 0 ? 300 : 20);
      return { width: random(2) === 0 ? most : Math.min(most, 26), most, worth: random(10) };
    });
    const available = 1 + random(200);
    expect(total(widthsOf(columns, available))).toBeLessThanOrEqual(available);
  }
});

test('what is worth least is left out until the rest fits, even all of it', () => {
  const all = [{ worth: 3 }, { worth: 1 }, { worth: 1 }, { worth: 2 }];
  const [first, second, , last] = all;
  expect(keepByWorth(all, (kept) => kept.length <= 3)).toEqual([first, second, last]);
  expect(keepByWorth(all, () => false)).toEqual([]);
});

test('columns grow until they are comfortable before others do, and then together', () => {
  const columns: Sizing[] = [
    { width: 16, ample: 26, most: 500, worth: 9 },
    { width: 10, most: 14, worth: 5 },
    { width: 16, ample: 24, most: 60, worth: 8 },
  ];
  expect(widthsOf(columns, 50)).toEqual([18, 10, 18]);
  expect(widthsOf(columns, 64)).toEqual([26, 10, 24]);
  expect(widthsOf(columns, 76)).toEqual([30, 14, 28]);
  expect(widthsOf(columns, 200)).toEqual([122, 14, 60]);
});
