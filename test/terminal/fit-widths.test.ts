// Columns fit into the width of the terminal.
import { expect, test } from 'vitest';
import { fitWidths, GAP, type Measured } from '../../src/terminal/fit-widths.ts';

const text = (width: number, worth = 5): Measured => ({ width, worth, isCuttable: true });
const id = (worth = 9): Measured => ({ width: 13, worth, isCuttable: false });
const total = (widths: readonly (number | null)[]) => {
  const shown = widths.filter((width) => width !== null);
  return shown.reduce((sum, width) => sum + width, 0) + GAP * (shown.length - 1);
};

test('what fits stays as it is', () => {
  expect(fitWidths([id(), text(30), text(31)], 80)).toEqual([13, 30, 31]);
});

test('the widest texts are cut first, to the width of the terminal exactly or one less for each of them', () => {
  expect(fitWidths([id(), text(10), text(200), text(300)], 100)).toEqual([13, 10, 35, 35]);
});

test('an id is never cut: the columns worth least go, the rightmost first', () => {
  expect(fitWidths([id(), id(1), text(40, 7), id(3), id(3)], 60)).toEqual([13, null, 30, 13, null]);
});

test('of columns that do not fit one is left, and is cut', () => {
  expect(fitWidths([id(), text(40, 1)], 10)).toEqual([10, null]);
});

test('whatever the columns, the table is at most as wide as the terminal', () => {
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 2000; round += 1) {
    const columns = Array.from({ length: 1 + random(9) }, () => ({
      width: 1 + random(random(3) === 0 ? 300 : 20),
      worth: random(10),
      isCuttable: random(2) === 0,
    }));
    const available = 1 + random(200);
    expect(total(fitWidths(columns, available))).toBeLessThanOrEqual(available);
  }
});
