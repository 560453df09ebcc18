// The names of files in archives, of which a workspace may have very many that become the same.
import { expect, test } from 'vitest';
import { makeEntryNames } from '../../../src/files/archives/entry-name.ts';

test('thousands of names that become the same are told apart by short endings', () => {
  const length = 12;
  const paths = Array.from({ length: 2 ** length }, (_, at) =>
    Array.from({ length }, (__, digit) => ((at >> digit) % 2 === 0 ? 'a\\' : 'a%5C')).join(''),
  );
  const nameOf = makeEntryNames();
  const names = paths.map((path) => nameOf(`/${path}`));
  expect(new Set(names).size).toBe(paths.length);
  expect(Math.max(...names.map((name) => name.length))).toBeLessThan('a%5C'.repeat(length).length + '~10000'.length);
});

test('an ending that another file has is passed over', () => {
  const nameOf = makeEntryNames();
  const paths = ['/a%5Cb', '/a%5Cb~', '/a%5Cb~2', '/a\\b', '/a\\b~'];
  expect(paths.map(nameOf)).toEqual(['a%5Cb', 'a%5Cb~', 'a%5Cb~2', 'a%5Cb~3', 'a%5Cb~~']);
});
