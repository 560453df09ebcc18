import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockDataDirectory } from '../../../../../src/store/engine/sqlite/file/lock.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';

const HOLDER = `
  import { lockDataDirectory } from ${JSON.stringify(new URL('../../../../../src/store/engine/sqlite/file/lock.ts', import.meta.url).href)};
  globalThis.lock = lockDataDirectory(process.argv[1]);
  console.log('held');
  setInterval(() => undefined, 1000);
`;

test('a directory that another process holds is refused with its pid, and free again once it was killed', {
  tags: ['K1-lock'],
}, async () => {
  const directory = temporaryDirectory();
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  expect(() => lockDataDirectory(directory)).toThrow(`in use by another Errand (pid ${holder.pid})`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  lockDataDirectory(directory).release();
});

test('a released directory can be locked again', () => {
  const directory = temporaryDirectory();
  const lock = lockDataDirectory(directory);
  expect(() => lockDataDirectory(directory)).toThrow(/in use/);
  lock.release();
  lock.release();
  lockDataDirectory(directory).release();
});

test('a pid file that leads elsewhere is replaced, and what it leads to stays', () => {
  const directory = temporaryDirectory({ other: 'text' });
  symlinkSync(path.join(directory, 'other'), path.join(directory, 'errand.pid'));
  const lock = lockDataDirectory(directory);
  expect(readFileSync(path.join(directory, 'errand.pid'), 'utf8')).toBe(`${process.pid}\n`);
  expect(readFileSync(path.join(directory, 'other'), 'utf8')).toBe('text');
  lock.release();
});

test.runIf(process.getuid?.() === 0)('a lock that root makes belongs to the owner of the directory', () => {
  const directory = temporaryDirectory();
  chownSync(directory, 4_711, 4_712);
  lockDataDirectory(directory).release();
  expect(statSync(path.join(directory, 'errand.lock'))).toMatchObject({ uid: 4_711, gid: 4_712 });
});
