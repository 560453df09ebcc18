// A database without auto_vacuum gets it, and loses its free pages; whatever goes wrong leaves the file as it was.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { vacuumFile } from '../../../src/store/engine/vacuum.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

/** Of an earlier version: most of its pages are free, and its last commit is in the log only. */
function oldFile(): string {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  connection.pragma('journal_mode = WAL');
  connection.exec(`CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); PRAGMA user_version = 7;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, hex(zeroblob(500)) FROM n;
    DELETE FROM t WHERE a > 10;`);
  connection.close();
  return file;
}

function lookAt(file: string) {
  const connection = new Connection(file, { readonly: true });
  const pragma = (name: string) => connection.pragma(name, { simple: true });
  const found = {
    autoVacuum: pragma('auto_vacuum'),
    free: pragma('freelist_count'),
    version: pragma('user_version'),
    check: pragma('integrity_check'),
    rows: connection.prepare('SELECT count(*) FROM t').pluck().get(),
  };
  connection.close();
  return found;
}

test('the file shrinks, keeps its rows and its version, and can give space back from then on', () => {
  const file = oldFile();
  expect(lookAt(file)).toMatchObject({ autoVacuum: 0, rows: 10 });
  const { beforeBytes, afterBytes } = vacuumFile(file);
  expect(afterBytes).toBeLessThan(beforeBytes / 4);
  expect(lookAt(file)).toEqual({ autoVacuum: 2, free: 0, version: 7, check: 'ok', rows: 10 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(existsSync(`${file}.vacuum`)).toBe(false);
});

test('without room for a copy nothing is written', () => {
  const file = oldFile();
  const before = readFileSync(file);
  expect(() => vacuumFile(file, { free: () => 16 * 1_048_576 })).toThrow(/A copy of the database takes 16 MB/);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(existsSync(`${file}.vacuum`)).toBe(false);
});

test('what a kill left of a copy is replaced', () => {
  const file = oldFile();
  writeFileSync(`${file}.vacuum`, 'half a copy');
  vacuumFile(file);
  expect(lookAt(file)).toMatchObject({ autoVacuum: 2, check: 'ok', rows: 10 });
  expect(existsSync(`${file}.vacuum`)).toBe(false);
});

test('a file that another process has open stays as it is', () => {
  const file = oldFile();
  const other = new Connection(file);
  other.exec('INSERT INTO t (b) VALUES (1)');
  expect(() => vacuumFile(file)).toThrow(/open/);
  other.close();
  expect(lookAt(file)).toMatchObject({ autoVacuum: 0, check: 'ok', rows: 11 });
});
