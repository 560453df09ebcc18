// Where the single executable finds its files, and what it does when they are missing, altered or in reach of others.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Contents } from '../../../scripts/package/boot/contents.ts';
import { findFiles } from '../../../scripts/package/boot/find-files.ts';
import { removeUnused } from '../../../scripts/package/boot/remove-unused.ts';

const PARTS = { 'addon.node': 'machine code', 'dist/main.js': 'the program' };
let root: string;
let unpacked: number;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'errand-boot-'));
  unpacked = 0;
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

function contents(): Contents {
  const files = Object.entries(PARTS).map(([name, text]) => ({
    path: name,
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
    mode: name.endsWith('.node') ? 0o700 : 0o600,
  }));
  const unpack = () => {
    unpacked += 1;
    return Buffer.from(Object.values(PARTS).join(''));
  };
  return { id: 'one', files, unpack };
}

const at = (...parts: string[]) => path.join(root, ...parts);

test('the first start unpacks the files for this user alone, and the next one finds them', () => {
  const directory = at('cache', 'one');
  expect(findFiles(contents(), [at('cache')])).toEqual({ kind: 'unpacked', directory });
  expect(readFileSync(path.join(directory, 'dist/main.js'), 'utf8')).toBe('the program');
  expect(statSync(at('cache')).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(directory, 'addon.node')).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(directory, 'dist/main.js')).mode & 0o777).toBe(0o600);
  expect(findFiles(contents(), [at('cache')])).toEqual({ kind: 'found', directory });
  expect(unpacked).toBe(1);
  expect(readdirSync(at('cache'))).toEqual(['one']);
});

test.each<[string, (directory: string) => void]>([
  ['shorter', (directory) => truncateSync(path.join(directory, 'dist/main.js'), 3)],
  ['another of the same size', (directory) => writeFileSync(path.join(directory, 'dist/main.js'), 'THE program')],
  ['missing', (directory) => rmSync(path.join(directory, 'dist/main.js'))],
  ['open to others', (directory) => chmodSync(path.join(directory, 'dist/main.js'), 0o666)],
  [
    'a link to the same bytes',
    (directory) => {
      writeFileSync(at('elsewhere'), 'the program', { mode: 0o600 });
      rmSync(path.join(directory, 'dist/main.js'));
      symlinkSync(at('elsewhere'), path.join(directory, 'dist/main.js'));
    },
  ],
])('a file that is %s is replaced', (_, alter) => {
  const directory = at('cache', 'one');
  findFiles(contents(), [at('cache')]);
  alter(directory);
  expect(findFiles(contents(), [at('cache')])).toEqual({ kind: 'unpacked', directory });
  expect(findFiles(contents(), [at('cache')])).toEqual({ kind: 'found', directory });
  expect(readdirSync(at('cache'))).toEqual(['one']);
});

test('a place that others can write to is passed over, and so is one below such a place', () => {
  mkdirSync(at('open', 'below'), { recursive: true, mode: 0o700 });
  chmodSync(at('open'), 0o777);
  const found = findFiles(contents(), [at('open'), at('open', 'below'), at('safe')]);
  expect(found).toEqual({ kind: 'unpacked', directory: at('safe', 'one') });
  expect(readdirSync(at('open', 'below'))).toEqual([]);
});

test('a place that belongs to another user is passed over', () => {
  const found = findFiles(contents(), [at('cache')], process.getuid!() + 1);
  expect(found).toEqual({ kind: 'none', reasons: [expect.stringContaining('belongs to another user') as string] });
  expect(unpacked).toBe(0);
});

test('in a sticky directory, which everyone writes to, a directory of this user is safe', () => {
  mkdirSync(at('tmp'));
  chmodSync(at('tmp'), 0o1777);
  expect(findFiles(contents(), [at('tmp', 'errand-0')]).kind).toBe('unpacked');
});

test('when no place is left, each is named with its reason, and nothing stays behind', () => {
  writeFileSync(at('file'), '');
  mkdirSync(at('open'));
  chmodSync(at('open'), 0o777);
  const broken: Contents = {
    ...contents(),
    unpack: () => {
      throw new Error('ENOSPC: no space left on device');
    },
  };
  expect(findFiles(broken, [at('file', 'cache'), at('open'), at('full')])).toEqual({
    kind: 'none',
    reasons: [
      expect.stringContaining('ENOTDIR') as string,
      `  ${at('open')}: others can write to ${at('open')}`,
      `  ${at('full')}: ENOSPC: no space left on device`,
    ],
  });
  expect(readdirSync(at('full'))).toEqual([]);
});

test('what an earlier version unpacked goes when it is old and no process has it open', () => {
  for (const name of ['one', 'old', 'held', 'recent']) mkdirSync(at('cache', name), { recursive: true });
  const old = new Date('2026-01-01T00:00:00Z');
  for (const name of ['old', 'held']) utimesSync(at('cache', name), old, old);
  const held = openSync(at('cache', 'held'), 'r');
  onTestFinished(() => closeSync(held));
  removeUnused(at('cache', 'one'), Date.parse('2026-03-01T00:00:00Z'));
  expect(existsSync(at('cache', 'old'))).toBe(false);
  expect(readdirSync(at('cache')).sort()).toEqual(['held', 'one', 'recent']);
});
