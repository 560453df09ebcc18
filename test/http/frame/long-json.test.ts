import { expect, test } from 'vitest';
import { makePause } from '../../../src/domain/pauses.ts';
import { hasLongList, longJson, renderSlices } from '../../../src/http/frame/long-json.ts';

const list = (length: number) =>
  Array.from({ length }, (_, index) => ({ index, text: `"${index}"\n🌊`, none: undefined }));
/** Each look at it is later by a second. */
const slowClock = () => {
  let at = 0;
  return { monotonic: () => (at += 1_000) };
};

test.each([
  [
    'a list in an envelope',
    { code: 0, message: 'ok', data: { id: 'x', items: list(1_234), runs: list(26), none: [] } },
  ],
  ['data that is a list', { code: 0, message: 'ok', data: list(75) }],
  ['a list at the top', list(26)],
  ['absent fields', { first: undefined, items: list(200), last: undefined }],
  ['a list further below', { a: { b: { c: list(1_000) } }, items: list(26) }],
])('%s is written as JSON.stringify writes it', async (_, body) => {
  expect(hasLongList(body)).toBe(true);
  expect((await longJson(body, makePause(slowClock()))).toString()).toBe(JSON.stringify(body));
});

test('short lists are nothing to slice', () => {
  expect(hasLongList({ code: 0, message: 'ok', data: { items: list(25), empty: null } })).toBe(false);
  expect(hasLongList({ a: { b: { c: list(1_000) } } })).toBe(false);
});

test('others get their turn between the slices', async () => {
  const body = { items: list(1_000) };
  let [turns, isDone] = [0, false];
  const others = () => {
    turns += 1;
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  const rendered = await renderSlices(body.items, ({ index }) => index, makePause(slowClock()));
  expect(rendered).toEqual(body.items.map(({ index }) => index));
  const afterRendering = turns;
  expect(afterRendering).toBeGreaterThanOrEqual(9);
  await longJson(body, makePause(slowClock()));
  isDone = true;
  expect(turns - afterRendering).toBeGreaterThanOrEqual(9);
});
