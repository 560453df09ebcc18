// Who keeps an old state of the database open is named, so that a log that grows has a cause.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { readersOf, wordsOfReaders } from '../../../../../src/store/engine/sqlite/file/log-readers.ts';
import { storeFixture } from '../../../../support/store/store-fixture.ts';

const READER = `
  const connection = new (require('better-sqlite3'))(process.argv[1], { readonly: true });
  connection.exec('BEGIN');
  connection.prepare('SELECT count(*) FROM users').get();
  console.log('reading');
  process.stdin.once('data', () => { connection.exec('COMMIT'); console.log('over'); process.stdin.resume(); });`;

test('another process that reads one state is named while it does', async () => {
  const { file } = await storeFixture();
  const reader = spawn(process.execPath, ['-e', READER, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void reader.kill('SIGKILL'));
  await once(reader.stdout, 'data');
  const found = readersOf(file);
  expect(found.map(({ pid }) => pid)).toEqual([reader.pid]);
  expect(wordsOfReaders(found, process.pid)).toMatch(
    new RegExp(`^process ${reader.pid} \\(.+\\) reads an old state of it$`),
  );
  reader.stdin.write('end\n');
  await once(reader.stdout, 'data');
  expect(readersOf(file)).toEqual([]);
});

test('its own backup is told from other processes, and nobody is named without knowing', () => {
  const own = { pid: 7, name: 'errand' };
  expect(wordsOfReaders([own], 7)).toBe('a backup or an examination of Errand reads an old state of it');
  expect(wordsOfReaders([own, { pid: 8, name: null }], 7)).toBe(
    'a backup or an examination of Errand and process 8 read an old state of it',
  );
  expect(wordsOfReaders([], 7)).toBe('a backup or another process reads an old state of it');
  expect(readersOf('/nowhere/errand.db')).toEqual([]);
});
