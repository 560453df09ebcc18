// Pages of lists whose items may be long: read in parts while they are sent, each item once.
import { expect, test } from 'vitest';
import type { Page } from '../../../src/domain/listing.ts';
import { piecesOf } from '../../../src/http/replies/json-pieces.ts';
import { renderLongList } from '../../../src/http/replies/render-list.ts';

const pause = async () => undefined;

const PER_PART = 3;

/** A list of ids, the newest first, which can be added to. */
function aList(length: number, { longest = PER_PART, counted = Infinity } = {}) {
  const ids = Array.from({ length }, (_, index) => length - index);
  const asked: Page[] = [];
  const list = async (part: Page) => {
    asked.push(part);
    const end = part.offset + Math.min(part.limit, longest);
    return { items: ids.slice(part.offset, end), total: Math.min(ids.length, counted) };
  };
  const render = async (page: Page) =>
    renderLongList({ ...page, perPart: PER_PART, list, idOf: (id) => id }, (id) => ({ id }));
  const sent = async (body: Awaited<ReturnType<typeof render>>) => {
    const pieces = await Array.fromAsync(piecesOf(body, { hold: pause, pause }));
    const { items, total } = JSON.parse(pieces.join('')) as { items: { id: number }[]; total: number };
    return { ids: items.map(({ id }) => id), total };
  };
  return { ids, asked, render, sent };
}

test.each<[string, Page, number[]]>([
  ['the first page', { offset: 0, limit: 7 }, [8, 7, 6, 5, 4, 3, 2]],
  ['a page in the middle', { offset: 2, limit: 4 }, [6, 5, 4, 3]],
  ['the end', { offset: 6, limit: 500 }, [2, 1]],
  ['behind the end', { offset: 9, limit: 500 }, []],
])('%s comes in parts', async (_, page, ids) => {
  const { asked, render, sent } = aList(8);
  expect(await sent(await render(page))).toEqual({ ids, total: 8 });
  expect(Math.max(...asked.map(({ limit }) => limit))).toBeLessThanOrEqual(PER_PART);
});

test.each([
  ['parts that are shorter than they may be', { longest: 2 }],
  ['a list that is counted up to a limit', { counted: 4 }],
])('%s end no page', async (_, form) => {
  const { render, sent } = aList(8, form);
  expect((await sent(await render({ offset: 0, limit: 500 }))).ids).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
});

test('a short list is read once, and before the reply begins', async () => {
  const { asked, render, sent } = aList(2);
  const body = await render({ offset: 0, limit: 500 });
  expect(asked).toEqual([{ offset: 0, limit: 3 }]);
  await sent(body);
  expect(asked).toHaveLength(1);
});

test('what is added meanwhile moves no item into the page twice', async () => {
  const { ids, render, sent } = aList(6);
  const body = await render({ offset: 0, limit: 6 });
  ids.unshift(7);
  expect((await sent(body)).ids).toEqual([6, 5, 4, 3, 2]);
});
