// The limit on the paths of a version, which everybody may read as a tree.
import { expect, test } from 'vitest';
import { arePathsTooLong, MAX_PATHS_LENGTH } from '../../../src/domain/publishing/manifest.ts';

const paths = (count: number, path: (index: number) => string) => Array.from({ length: count }, (_, i) => path(i));
const deep = (depth: number) => '/folder'.repeat(depth);

test('the paths of a version are counted as they are sent, with those of its folders, each folder once', () => {
  const ordinary = paths(
    5_000,
    (i) => `/site/node_modules/a-package-of-someone/dist/modules/part-${i % 50}/file-${i}.js`,
  );
  expect(arePathsTooLong(ordinary)).toBe(false);
  expect(arePathsTooLong(paths(5_000, (i) => `/${'é'.repeat(120).repeat(2)}/${i}`))).toBe(true);
  // The folder `/` is none; each slash takes three characters.
  const at = (length: number) => [`/${'x'.repeat(length - '%2F'.length)}`];
  expect(arePathsTooLong(at(MAX_PATHS_LENGTH))).toBe(false);
  expect(arePathsTooLong(at(MAX_PATHS_LENGTH + 1))).toBe(true);
});

test('folders of folders count each by its own path', () => {
  const chains = (count: number) => paths(count, (i) => `/${i}${deep(250)}/x`);
  expect(arePathsTooLong(chains(5))).toBe(false);
  expect(arePathsTooLong(chains(20))).toBe(true);
});
