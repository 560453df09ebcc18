import { expect, test } from 'vitest';
import { makeRowMapper, rowType } from '../../../src/store/engine/row-type.ts';

interface Thing {
  readonly seq: number;
  readonly fullName: string | null;
  readonly isOpen: boolean;
  readonly wasOpen: boolean | null;
  readonly tags: readonly string[];
  readonly limits: { readonly most: number } | null;
}

const THING = rowType<Thing>({ isOpen: 'flag', wasOpen: 'flag', tags: 'json', limits: 'json' });
const COLUMNS = ['seq', 'full_name', 'is_open', 'was_open', 'tags', 'limits'];

test('fields are the columns in camel case, in their order, with flags and JSON read', () => {
  const map = makeRowMapper(COLUMNS, THING);
  const values = { seq: 1, full_name: 'A', is_open: 1, was_open: 0, tags: '["x"]', limits: '{"most":2}' };
  const thing = map(values);
  expect(thing).toEqual({ seq: 1, fullName: 'A', isOpen: true, wasOpen: false, tags: ['x'], limits: { most: 2 } });
  expect(Object.keys(thing as Thing)).toEqual(['seq', 'fullName', 'isOpen', 'wasOpen', 'tags', 'limits']);
});

test('NULL is null, whatever the field is', () => {
  const values = { seq: 1, full_name: null, is_open: 0, was_open: null, tags: '[]', limits: null };
  expect(makeRowMapper(COLUMNS, THING)(values)).toMatchObject({ fullName: null, wasOpen: null, limits: null });
});

test('a column that is selected twice is one field, and any name is only a name', () => {
  const map = makeRowMapper(['id', 'id', 'a"], x: (() => 1)(), "b'], rowType<{ id: number }>({}));
  expect(map({ id: 7, 'a"], x: (() => 1)(), "b': 8 })).toEqual({ id: 7, 'a"], x: (() => 1)(), "b': 8 });
});
