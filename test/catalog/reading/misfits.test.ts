import { expect, test } from 'vitest';
import { misfits } from '../../../src/catalog/reading/misfits.ts';
import { choice, dictionary, integer, list, orNull, section, text } from '../../../src/catalog/reading/schema.ts';

const SCHEMA = section({
  name: text('in lower case', (value) => value.toLowerCase() === value),
  count: orNull(integer(1, 9)),
  level: choice(['low', 'high']),
  ports: list(integer(1, 99), 'ports', 3),
  sizes: dictionary(section({ size: integer(1, 9) }, ['size'])),
});

const found = (value: unknown) => misfits(SCHEMA, value).map(({ path, message }) => `${path.join('.')} ${message}`);

test.each([[{}], [null], [{ name: 'a', count: null, ports: null }], [{ ports: [1, 2, 3], sizes: { a: { size: 1 } } }]])(
  '%j fits',
  (value) => {
    expect(found(value)).toEqual([]);
  },
);

test.each([
  [[], ' must be a map, not a list'],
  [{ name: { a: 1 } }, 'name must be in lower case, not a map'],
  [{ name: 'A' }, 'name must be in lower case'],
  [{ count: 1.5 }, 'count must be a whole number from 1 to 9, or null, not a number'],
  [{ count: Infinity }, 'count must be a whole number from 1 to 9, or null, not a number'],
  [{ level: 'low ' }, 'level must be one of low, high'],
  [{ ports: [1, '2'] }, 'ports.1 must be a whole number from 1 to 99, not text'],
  [{ ports: [7, 7] }, 'ports must be a list of at most 3 ports, without duplicates'],
  [{ ports: [1, 2, 3, 4] }, 'ports must be a list of at most 3 ports, without duplicates'],
  [{ sizes: { a: {} } }, 'sizes.a.size is missing'],
  [{ toString: 1 }, 'toString is not a known key'],
])('%j does not fit', { tags: ['J2-problems'] }, (value, misfit) => {
  expect(found(value)).toEqual([misfit]);
});

test('a key has one misfit, the name before the value', () => {
  expect(misfits(SCHEMA, { sizes: { '-bad': 5 } })).toEqual([
    { path: ['sizes', '-bad'], place: 'key', message: expect.stringMatching(/^must be a name /) },
  ]);
});

test('things are compared with each other only in a list that is not too long', () => {
  let looks = 0;
  const things = Array.from({ length: 200 }, (_, at) => ({
    get at() {
      looks += 1;
      return at;
    },
  }));
  const pair = list({ type: 'object', mustBe: 'must be a map' }, 'maps', 2);
  expect(misfits(pair, things)).toHaveLength(1);
  expect(looks).toBeLessThan(1000);
  expect(misfits(pair, [{ at: 1 }, { at: 1 }])).toHaveLength(1);
});
