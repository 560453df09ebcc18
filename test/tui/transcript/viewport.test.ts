import { expect, test } from 'vitest';
import { EMPTY } from '../../../src/tui/text/line.ts';
import { type Items, revealed, viewOf } from '../../../src/tui/transcript/viewport.ts';

const HEIGHTS = [3, 1, 30, 2, 1, 4, 1];
const items: Items = {
  count: HEIGHTS.length,
  keyAt: (at) => at * 10,
  linesAt: (at) =>
    Array.from({ length: HEIGHTS[at] ?? 0 }, (_, row) => ({
      ...EMPTY,
      spans: [{ text: `${at}.${row}`, role: 'plain' }],
    })),
  startsAtEnd: true,
};
const seen = (index: number, from: Parameters<typeof revealed>[1], rows = 10) =>
  viewOf(items, revealed(items, from, index, rows), rows).lines.map(({ spans }) => spans[0]?.text ?? '');

test.each([
  [0, undefined],
  [1, undefined],
  [2, { key: 0, row: 0 }],
  [5, undefined],
  [6, { key: 0, row: 0 }],
  [4, { key: 20, row: 4 }],
])('item %d comes into sight from %o, from its first line on', (index, from) => {
  expect(seen(index, from)).toContain(`${index}.0`);
});

test('what is in sight already moves nothing', () => {
  expect(revealed(items, undefined, 5, 10)).toBeUndefined();
  expect(revealed(items, { key: 0, row: 1 }, 1, 10)).toEqual({ key: 0, row: 1 });
});
