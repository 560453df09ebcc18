// Which C library a program needs is read from the program.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compareVersions, newestOf, requiredVersions, requireFloor } from '../../../scripts/package/elf-versions.ts';

const PREBUILT = fileURLToPath(
  new URL('../../../node_modules/better-sqlite3/prebuilds/linux-x64.node', import.meta.url),
);

test('the addon that comes with its package is too new for what is promised, which is why another one is compiled', () => {
  expect(newestOf('GLIBC', requiredVersions(PREBUILT))).toBe('2.34');
  expect(() => requireFloor([PREBUILT], true)).toThrow(
    'requires glibc 2.34 and libstdc++ 3.4.29, newer than 2.28 and 3.4.25',
  );
  expect(requireFloor([PREBUILT], false)).toBe('2.34');
});

test('versions are compared by their numbers', () => {
  expect(compareVersions('2.4', '2.28')).toBeLessThan(0);
  expect(newestOf('GLIBC', ['GLIBC_2.4', 'GLIBC_2.28', 'GLIBCXX_3.4', 'GLIBC_2.3.4'])).toBe('2.28');
  expect(newestOf('GLIBC', ['GLIBCXX_3.4'])).toBeUndefined();
});

test('what is no such file is refused', () => {
  expect(() => requiredVersions(fileURLToPath(import.meta.url))).toThrow('is no 64-bit ELF file');
});
