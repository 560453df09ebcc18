// Promises of the walks beneath a directory: nothing outside is ever read, written, listed or removed.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectoriesBeneath } from '../../src/disk/make-beneath.ts';
import { openFileBeneath, partsBeneath, statBeneath } from '../../src/disk/open-beneath.ts';
import { readDirectoryBeneath } from '../../src/disk/list-beneath.ts';
import { replaceFileBeneath } from '../../src/disk/replace-beneath.ts';
import { removeBeneath, removeTree } from '../../src/disk/remove-beneath.ts';
import { walkBeneath } from '../../src/disk/walk-beneath.ts';
import { longestTurnMsOf } from '../support/time/cpu-time.ts';
import { leastOfFive } from '../support/time/machine-speed.ts';
import { makeChain, namesOf } from '../support/files/chain.ts';

let base: string;
let root: string;
let openBefore: number;
const openDescriptors = () => readdirSync('/proc/self/fd').length;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'beneath-'));
  root = join(base, 'root');
  mkdirSync(root);
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'outside', 'secret'), 'secret');
  openBefore = openDescriptors();
});

afterEach(() => {
  expect(openDescriptors(), 'a descriptor was left open').toBeLessThanOrEqual(openBefore);
  rmSync(base, { recursive: true, force: true });
});

async function read(path: string): Promise<string> {
  const file = await openFileBeneath(root, path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

test.each([
  ['a/b', ['a', 'b']],
  ['/a/b', ['a', 'b']],
  ['./a//b/.', ['a', 'b']],
  ['a/../b', ['b']],
  ['', []],
  ['/', []],
])('the path %j leads through %j', (path, parts) => {
  expect(partsBeneath(path)).toEqual(parts);
});

test.each([
  '..',
  '/..',
  'a/../..',
  '../outside/secret',
  'a/../../outside',
  'a\u0000b',
  'a\ud800',
  'x'.repeat(256),
  'x/'.repeat(3000),
])('unfit path number %# is refused by every verb', async (path) => {
  const refused = { reason: 'bad_request' };
  await expect(openFileBeneath(root, path)).rejects.toMatchObject(refused);
  await expect(statBeneath(root, path)).rejects.toMatchObject(refused);
  await expect(readDirectoryBeneath(root, path)).rejects.toMatchObject(refused);
  await expect(makeDirectoriesBeneath(root, path)).rejects.toMatchObject(refused);
  await expect(replaceFileBeneath(root, path, 'x')).rejects.toMatchObject(refused);
  await expect(removeBeneath(root, path)).rejects.toMatchObject(refused);
  expect(readdirSync(base).sort()).toEqual(['outside', 'root']);
});

test('a link to a file outside is neither read, nor written, nor made', async () => {
  symlinkSync(join(base, 'outside', 'secret'), join(root, 'link'));
  symlinkSync(join(base, 'outside', 'new'), join(root, 'dangling'));
  const refused = { reason: 'bad_request', message: expect.stringContaining('symbolic link') };
  await expect(openFileBeneath(root, 'link')).rejects.toMatchObject(refused);
  await expect(openFileBeneath(root, 'link', constants.O_WRONLY | constants.O_TRUNC)).rejects.toMatchObject(refused);
  await expect(openFileBeneath(root, 'dangling', constants.O_WRONLY | constants.O_CREAT)).rejects.toMatchObject(
    refused,
  );
  await expect(replaceFileBeneath(root, 'link', 'changed')).rejects.toMatchObject(refused);
  await expect(makeDirectoriesBeneath(root, 'link/a')).rejects.toMatchObject(refused);
  expect(readFileSync(join(base, 'outside', 'secret'), 'utf8')).toBe('secret');
  expect(existsSync(join(base, 'outside', 'new'))).toBe(false);
});

test('a linked folder is not entered by any verb', async () => {
  symlinkSync(join(base, 'outside'), join(root, 'door'));
  const refused = { reason: 'bad_request', message: '"door" is a symbolic link, and links are not followed.' };
  await expect(openFileBeneath(root, 'door/secret')).rejects.toMatchObject(refused);
  await expect(statBeneath(root, 'door/secret')).rejects.toMatchObject(refused);
  await expect(readDirectoryBeneath(root, 'door')).rejects.toMatchObject(refused);
  await expect(replaceFileBeneath(root, 'door/secret', 'x')).rejects.toMatchObject(refused);
  await expect(makeDirectoriesBeneath(root, 'door/made')).rejects.toMatchObject(refused);
  await expect(removeBeneath(root, 'door/secret')).rejects.toMatchObject(refused);
  expect(readdirSync(join(base, 'outside'))).toEqual(['secret']);
});

test('a link is described and removed itself', async () => {
  symlinkSync(join(base, 'outside'), join(root, 'door'));
  expect(await statBeneath(root, 'door')).toMatchObject({ kind: 'link' });
  expect(await removeBeneath(root, 'door')).toBe(true);
  expect(readdirSync(root)).toEqual([]);
  expect(readdirSync(join(base, 'outside'))).toEqual(['secret']);
});

test('a folder that keeps turning into a link and back never lets a read out', async () => {
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real', 'secret'), 'harmless');
  symlinkSync(join(base, 'outside'), join(root, 'fake'));
  const swap = `cd "$1"; while :; do mv real a && mv -T fake real && mv -T real fake && mv a real; done`;
  const { spawn } = await import('node:child_process');
  const swapper = spawn('sh', ['-c', swap, 'sh', root], { stdio: 'ignore' });
  openBefore = openDescriptors();
  const seen = new Map<string, number>();
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  const deadlineAt = Date.now() + 100_000;
  while (Date.now() < deadlineAt && ((seen.get('harmless') ?? 0) < 50 || seen.size < 2)) {
    await read('real/secret').then(count, (error: { reason?: string; message: string }) =>
      count(error.reason ?? error.message),
    );
    await replaceFileBeneath(root, 'real/secret', 'harmless').catch(() => undefined);
    for await (const { listing } of walkBeneath(root, '')) {
      expect(listing.entries.every((entry) => entry.name !== 'secret' || entry.size !== 6)).toBe(true);
    }
  }
  const ended = new Promise((resolve) => swapper.once('exit', resolve));
  swapper.kill('SIGKILL');
  await ended;
  expect(seen.get('harmless')).toBeGreaterThanOrEqual(50);
  expect(seen.size).toBeGreaterThan(1);
  expect([...seen.keys()].every((key) => ['harmless', 'bad_request', 'not_found'].includes(key))).toBe(true);
  expect(readFileSync(join(base, 'outside', 'secret'), 'utf8')).toBe('secret');
});

test('pipes, sockets and devices are refused at once', async () => {
  execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')]);
  const server = createServer().listen(join(root, 'socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  openBefore = openDescriptors();
  const refused = { reason: 'bad_request', message: expect.stringContaining('not a regular file') };
  for (const name of ['pipe', 'socket']) {
    await expect(openFileBeneath(root, name)).rejects.toMatchObject(refused);
    await expect(openFileBeneath(root, name, constants.O_WRONLY)).rejects.toMatchObject(refused);
    await expect(replaceFileBeneath(root, name, 'x')).rejects.toMatchObject(refused);
    expect(await statBeneath(root, name)).toMatchObject({ kind: 'other' });
  }
  await expect(openFileBeneath('/dev', 'null')).rejects.toMatchObject(refused);
  await new Promise((resolve) => server.close(resolve));
});

test('folders are not files and files are not folders', async () => {
  mkdirSync(join(root, 'folder'));
  writeFileSync(join(root, 'file'), '');
  await expect(openFileBeneath(root, 'folder')).rejects.toThrow('"folder" is a folder.');
  await expect(openFileBeneath(root, '/')).rejects.toThrow('is a folder.');
  await expect(replaceFileBeneath(root, 'folder', 'x')).rejects.toThrow('"folder" is a folder.');
  await expect(openFileBeneath(root, 'file/x')).rejects.toThrow('"file" is not a folder.');
  await expect(makeDirectoriesBeneath(root, 'file/x')).rejects.toThrow('"file" is not a folder.');
  await expect(openFileBeneath(root, 'folder/none')).rejects.toMatchObject({ reason: 'not_found' });
  await expect(openFileBeneath(root, 'none/none')).rejects.toThrow('"none" does not exist.');
});

test('opening exclusively refuses a file that exists, and opening to create makes one', async () => {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  await (await openFileBeneath(root, 'a', O_WRONLY | O_CREAT, 0o640)).close();
  expect(lstatSync(join(root, 'a')).mode & 0o777).toBe(0o640);
  await (await openFileBeneath(root, 'a', O_WRONLY | O_CREAT)).close();
  await expect(openFileBeneath(root, 'a', O_WRONLY | O_CREAT | O_EXCL)).rejects.toMatchObject({ reason: 'conflict' });
});

test('a replaced file keeps its mode, a new one is readable by all, and neither leaves a temporary file', async () => {
  writeFileSync(join(root, 'script'), 'old', { mode: 0o755 });
  await replaceFileBeneath(root, 'script', 'new');
  await replaceFileBeneath(root, 'fresh', Buffer.from([0, 255]));
  expect(lstatSync(join(root, 'script')).mode & 0o777).toBe(0o755);
  expect(lstatSync(join(root, 'fresh')).mode & 0o777).toBe(0o644);
  expect(readFileSync(join(root, 'fresh'))).toEqual(Buffer.from([0, 255]));
  expect(readdirSync(root).sort()).toEqual(['fresh', 'script']);
});

test('when writing fails the old content stays and the temporary file is gone', async () => {
  writeFileSync(join(root, 'kept'), 'old');
  const impossible = { uid: -2, gid: -2 };
  await expect(replaceFileBeneath(root, 'kept', 'new', { owner: impossible })).rejects.toThrow();
  expect(readFileSync(join(root, 'kept'), 'utf8')).toBe('old');
  expect(readdirSync(root)).toEqual(['kept']);
});

test.runIf(process.getuid?.() === 0)('files and folders are given to the owner asked for', async () => {
  const owner = { uid: 61000, gid: 61000 };
  await makeDirectoriesBeneath(root, 'a/b', { owner });
  await replaceFileBeneath(root, 'a/b/c', 'x', { owner });
  for (const path of ['a', 'a/b', 'a/b/c']) expect(lstatSync(join(root, path))).toMatchObject(owner);
  expect(lstatSync(root).uid).toBe(0);
});

test('a path of 200 levels can be made, written, read and removed', async () => {
  const deep = Array.from({ length: 200 }, (_, level) => `level${level}`).join('/');
  await makeDirectoriesBeneath(root, deep);
  await replaceFileBeneath(root, `${deep}/file`, 'deep');
  expect(await read(`${deep}/file`)).toBe('deep');
  expect(await removeBeneath(root, 'level0')).toBe(true);
  expect(readdirSync(root)).toEqual([]);
});

test('a tree deeper than any path can name is walked to 256 levels, and removed whole', async () => {
  const dig = `const fs = require('node:fs');
    for (let i = 0; i < 700; i += 1) { fs.mkdirSync('folder'); process.chdir('folder'); }
    fs.writeFileSync('file', '');`;
  execFileSync(process.execPath, ['-e', dig], { cwd: root });
  const depths: number[] = [];
  for await (const { depth } of walkBeneath(root, '')) depths.push(depth);
  expect(depths).toEqual(Array.from({ length: 257 }, (_, level) => level));
  expect(await removeBeneath(root, 'folder')).toBe(true);
  expect(readdirSync(root)).toEqual([]);
});

test('a directory is removed by its path with trees that no path can name; of a link, only the link', async () => {
  makeChain(root, namesOf(20, 255));
  makeChain(root, namesOf(5_000, 2));
  symlinkSync(join(base, 'outside'), join(root, 'door'));
  symlinkSync(join(base, 'outside'), join(base, 'link'));
  for (const path of [root, join(base, 'link'), join(base, 'missing')]) await removeTree(path);
  expect(readdirSync(base)).toEqual(['outside']);
  expect(readdirSync(join(base, 'outside'))).toEqual(['secret']);
});

test('a folder of very many files is removed in short turns', async () => {
  const longestMs = await leastOfFive(50, async () => {
    mkdirSync(join(root, 'tree/many'), { recursive: true });
    for (let i = 0; i < 20_000; i += 1) closeSync(openSync(join(root, 'tree/many', String(i)), 'w'));
    return longestTurnMsOf(() => removeBeneath(root, 'tree'));
  });
  expect(longestMs).toBeLessThan(50);
  expect(readdirSync(root)).toEqual([]);
});

test('removing spares what links point to, enters folders that forbid it, and answers false for nothing', async () => {
  mkdirSync(join(root, 'tree/closed/inner'), { recursive: true });
  writeFileSync(join(root, 'tree/closed/inner/file'), 'x');
  symlinkSync(join(base, 'outside'), join(root, 'tree/closed/door'));
  execFileSync('/usr/bin/mkfifo', [join(root, 'tree/pipe')]);
  execFileSync('chmod', ['000', join(root, 'tree/closed/inner'), join(root, 'tree/closed'), join(root, 'tree')]);
  expect(await removeBeneath(root, 'tree')).toBe(true);
  expect(await removeBeneath(root, 'tree')).toBe(false);
  expect(readdirSync(root)).toEqual([]);
  expect(readdirSync(join(base, 'outside'))).toEqual(['secret']);
});

test('a listing has kinds, sizes and names that are not UTF-8, sorted, and says when it is cut', async () => {
  writeFileSync(join(root, 'b'), '12345');
  mkdirSync(join(root, 'c'));
  symlinkSync('b', join(root, 'a'));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/z`), Buffer.from([0xff])]), '1');
  const { entries, more } = await readDirectoryBeneath(root, '');
  expect(entries.map(({ name, kind, exact }) => [name, kind, exact])).toEqual([
    ['a', 'link', true],
    ['b', 'file', true],
    ['c', 'directory', true],
    ['z\ufffd', 'file', false],
  ]);
  expect(entries[1]?.size).toBe(5);
  expect(more).toBe(false);
  const cut = await readDirectoryBeneath(root, '', 2);
  expect([cut.entries.length, cut.more]).toEqual([2, true]);
});

test('a walk goes only where it is allowed to and skips what it may not enter', async () => {
  mkdirSync(join(root, 'a/b/c'), { recursive: true });
  mkdirSync(join(root, '.git/objects'), { recursive: true });
  symlinkSync('..', join(root, 'a/up'));
  const folders: string[] = [];
  const enter = (folder: string, depth: number) => folder !== '.git' && depth < 3;
  for await (const { folder } of walkBeneath(root, '/', enter)) folders.push(folder);
  expect(folders).toEqual(['', 'a', 'a/b']);
  const first = walkBeneath(root, 'none').next();
  await expect(first).rejects.toMatchObject({ reason: 'not_found' });
});
