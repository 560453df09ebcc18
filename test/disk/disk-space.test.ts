// The disk usage of a directory, as the system's own `du` counts it.
import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { takenBy } from '../../src/disk/disk-space.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

afterEach(() => void vi.unstubAllEnvs());

const countedByDu = (directory: string): number =>
  Number.parseInt(execFileSync('du', ['--summarize', '--block-size=1', directory], { encoding: 'utf8' }), 10);

function withFiles(count: number): string {
  const directory = temporaryDirectory();
  for (let at = 0; at < count; at += 1) writeFileSync(join(directory, `file${at}`), 'x'.repeat(at));
  return directory;
}

test('links count as themselves, files with several names once, sparse files by their blocks', async () => {
  const outside = withFiles(20);
  const directory = withFiles(3);
  mkdirSync(join(directory, 'a/b'), { recursive: true });
  writeFileSync(join(directory, 'a/b/large'), Buffer.alloc(100_000, 1));
  linkSync(join(directory, 'a/b/large'), join(directory, 'large too'));
  symlinkSync(outside, join(directory, 'out'));
  writeFileSync(join(directory, 'sparse'), 'x');
  truncateSync(join(directory, 'sparse'), 50_000_000);
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/a/`), Buffer.from([0xff])]), 'no UTF-8');

  expect(await takenBy(directory)).toBe(countedByDu(directory));
});

test('a small directory is counted without starting a program', async () => {
  const directory = withFiles(200);
  const expected = countedByDu(directory);
  vi.stubEnv('PATH', '');
  expect(await takenBy(directory)).toBe(expected);
});

test.each([
  ['of many names', () => withFiles(201)],
  [
    'of many levels',
    () => {
      const directory = withFiles(1);
      mkdirSync(join(directory, 'd/'.repeat(9)), { recursive: true });
      return directory;
    },
  ],
])('a directory %s is counted by a program', async (_what, make) => {
  const directory = make();
  expect(await takenBy(directory)).toBe(countedByDu(directory));
  vi.stubEnv('PATH', '');
  expect(await takenBy(directory)).toBe(0);
});

test('a folder that its owner has closed counts with its contents', async () => {
  const directory = withFiles(3);
  mkdirSync(join(directory, 'closed'));
  writeFileSync(join(directory, 'closed/large'), Buffer.alloc(100_000, 1));
  const open = countedByDu(directory);
  chmodSync(join(directory, 'closed'), 0);
  expect(await takenBy(directory)).toBe(open);
  chmodSync(join(directory, 'closed'), 0o700);
});

test('a directory that does not exist takes nothing', async () => {
  expect(await takenBy(join(temporaryDirectory(), 'none'))).toBe(0);
});
