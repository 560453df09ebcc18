// One line of a table is a column of lists, a line of what shows one thing, and an option.
import { expect, test } from 'vitest';
import { fieldTable } from '../../../src/cli/frame/field-table.ts';
import { option } from '../../../src/cli/frame/options.ts';

interface Row {
  readonly id: string;
  readonly department: string;
  readonly bytes: number;
}

const { inAList, alone, options } = fieldTable<Row, { readonly department?: string }>({
  id: { worth: 9 },
  department: { worth: 2, option: option('--department <text>', 'department') },
  bytes: { called: 'mb', value: ({ bytes }) => bytes / 1_000_000 },
});

test('what has a worth is in lists; all of it is shown alone, by its name and value', () => {
  const row = { id: 'a', department: 'Research', bytes: 2_000_000 };
  expect(inAList.map(({ name, worth }) => [name, worth])).toEqual([
    ['id', 9],
    ['department', 2],
  ]);
  expect(alone.map(({ name, value }) => [name, value(row)])).toEqual([
    ['id', 'a'],
    ['department', 'Research'],
    ['mb', 2],
  ]);
});

test('options are those that the lines have', () => {
  expect(Object.keys(options)).toEqual(['department']);
});
