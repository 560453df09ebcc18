// A database without auto_vacuum gets it, and loses its free pages; whatever goes wrong leaves the file as it was.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Connection from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openFile } from '../../../../../src/store/engine/sqlite/file/connection.ts';
import { vacuumFile } from '../../../../../src/store/engine/sqlite/file/vacuum.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';

/** Of an earlier version: most of its pages are free, and its last commit is in the log only. */
function oldFile(rows = 10): string {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  connection.pragma('journal_mode = WAL');
  connection.exec(`CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); PRAGMA user_version = 7;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, hex(zeroblob(500)) FROM n;
    DELETE FROM t WHERE a > ${rows};`);
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

const canTrace = spawnSync('strace', ['true']).status === 0;
if (!canTrace) console.warn('\n*** SKIPPED: a kill while a database is vacuumed. It needs strace. ***\n');
const MAIN = fileURLToPath(new URL('../../../../support/store/vacuum-main.ts', import.meta.url));

describe.skipIf(!canTrace)('a kill', () => {
  /** The call at which the process is killed, of those that name the copy. */
  const MOMENTS = {
    'while the copy is written': 'pwrite64:when=100',
    'before the copy is on the disk': 'fsync:when=1',
    'before it is renamed': 'rename',
  };

  test.each(Object.entries(MOMENTS))('%s leaves the database as it was, and it can be repeated', (_, call) => {
    const file = oldFile(1_000);
    const inject = call.replace(/(:|$)/, ':signal=KILL$1');
    const args = [
      '-f',
      '-o',
      '/dev/null',
      '-P',
      `${file}.vacuum`,
      '-e',
      `inject=${inject}`,
      process.execPath,
      MAIN,
      file,
    ];
    expect(spawnSync('strace', args).signal).toBe('SIGKILL');
    expect(readdirSync(dirname(file))).toContain('errand.db.vacuum');
    expect(lookAt(file)).toMatchObject({ autoVacuum: 0, version: 7, check: 'ok', rows: 1_000 });
    vacuumFile(file);
    expect(lookAt(file)).toEqual({ autoVacuum: 2, free: 0, version: 7, check: 'ok', rows: 1_000 });
    expect(readdirSync(dirname(file))).toEqual(['errand.db']);
  });
});

test('a start removes what a kill left of a copy', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  for (const left of ['.vacuum', '.vacuum-journal']) writeFileSync(file + left, 'half a copy');
  openFile(file).close();
  expect(readdirSync(dirname(file))).toEqual(['errand.db']);
});

test('a file that another process has open stays as it is', () => {
  const file = oldFile();
  const other = new Connection(file);
  other.exec('INSERT INTO t (b) VALUES (1)');
  expect(() => vacuumFile(file)).toThrow(/open/);
  other.close();
  expect(lookAt(file)).toMatchObject({ autoVacuum: 0, check: 'ok', rows: 11 });
});
