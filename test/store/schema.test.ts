import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate, SCHEMA_VERSION } from '../../src/store/schema.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a new file is brought to the schema of this code', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  await openDatabase(file, systemClock).close();
  const connection = new Connection(file);
  expect(connection.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
  const tables = connection.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all() as {
    name: string;
    sql: string;
  }[];
  expect(tables.length).toBeGreaterThan(8);
  for (const { name, sql } of tables) expect(sql, name).toMatch(/\) STRICT/);
  connection.close();
});

test('a file of a newer Errand is refused and left as it is', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  connection.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
  expect(() => migrate(connection, file)).toThrow(/newer than the/);
  expect(connection.prepare('SELECT count(*) AS n FROM sqlite_master').get()).toEqual({ n: 0 });
  connection.close();
});

test('a file that is up to date is neither migrated nor backed up', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  await openDatabase(file, systemClock).close();
  await openDatabase(file, systemClock).close();
  expect(existsSync(`${file}.v${SCHEMA_VERSION}.backup`)).toBe(false);
});
