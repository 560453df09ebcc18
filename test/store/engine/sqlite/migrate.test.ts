import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { openDatabase } from '../../../../src/store/engine/sqlite/open-database.ts';
import { OLDEST_SCHEMA as OLDEST, SCHEMA_VERSION } from '../../../../src/store/engine/schema.ts';
import { migrate } from '../../../../src/store/engine/sqlite/migrate.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { olderDatabase } from '../../../support/store/older-database.ts';

const newFile = () => join(temporaryDirectory(), 'errand.db');

function openFile(file: string): Connection.Database {
  const connection = new Connection(file);
  onTestFinished(() => void connection.close());
  return connection;
}

test('a new file gets the schema of this code', async () => {
  const file = newFile();
  await openDatabase(file, systemClock).close();
  const connection = openFile(file);
  expect(connection.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
  const tables = connection
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all() as { name: string; sql: string }[];
  expect(tables.length).toBeGreaterThan(8);
  for (const { name, sql } of tables) expect(sql, name).toMatch(/\) STRICT/);
});

/** Tables, columns, indexes and triggers, by name: their words without comments and white space, and what SQLite makes of them. */
function schemaOf(connection: Connection.Database): Record<string, object> {
  const objects = connection
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { type: string; name: string; tbl_name: string; sql: string }[];
  const described = objects.map(({ type, name, tbl_name: table, sql }) => {
    const words = sql.replace(/--.*$/gm, '').replace(/["\s]+/g, '');
    const facts = {
      columns: connection.pragma(`table_xinfo(${name})`),
      references: connection.pragma(`foreign_key_list(${name})`),
      // In the order in which the planner looks at them.
      indexes: (connection.pragma(`index_list(${name})`) as { name: string }[]).filter(
        (index) => !index.name.startsWith('sqlite_'),
      ),
    };
    return [name, { type, table, words, ...(type === 'table' && facts) }] as const;
  });
  return Object.fromEntries(described);
}

test('a file of the oldest version is migrated to the same schema as a new file, column by column and index by index', async () => {
  const [old, fresh] = [newFile(), newFile()];
  await olderDatabase(old);
  const [migrated, made] = [openFile(old), openFile(fresh)];
  migrate(migrated, old);
  migrate(made, fresh);
  expect(schemaOf(migrated)).toEqual(schemaOf(made));
  expect(Object.keys(schemaOf(made)).length).toBeGreaterThan(150);
});

test('a file of the oldest version keeps its rows, and is sound', async () => {
  const file = newFile();
  await olderDatabase(file);
  const connection = openFile(file);
  migrate(connection, file);
  expect(connection.prepare('SELECT title FROM sessions').pluck().all()).toEqual(['Tides']);
  expect(
    connection.prepare('SELECT text, output FROM steps JOIN tool_calls USING (run_seq, step)').raw().all(),
  ).toEqual([['High at six.', 'out']]);
  expect(connection.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(connection.pragma('foreign_keys', { simple: true })).toBe(1);
  // The words of a table are protected again.
  expect(() => connection.exec("UPDATE sqlite_schema SET sql = ''")).toThrow(/may not be modified/);
});

test('nodes that were named by their hosts are gone: each registers anew by its id', async () => {
  const file = newFile();
  await olderDatabase(file);
  const connection = openFile(file);
  connection.exec(
    "INSERT INTO worker_nodes (id, capacity, supports_openapi, registered_at, beats) VALUES ('tide', 4, 1, 0, 7)",
  );
  migrate(connection, file);
  expect(connection.prepare('SELECT id FROM worker_nodes').all()).toEqual([]);
});

test.each([
  ['of a newer Errand', SCHEMA_VERSION + 1, /newer than the \d+ this Errand knows\. Run the Errand that wrote it/],
  ['that is too old', OLDEST - 1, /has schema version 34, older than .*Start it once with the last Errand 0\.1/],
])('a file %s is refused and left unchanged', (_, version, words) => {
  const file = newFile();
  const connection = openFile(file);
  connection.pragma(`user_version = ${version}`);
  expect(() => migrate(connection, file)).toThrow(words);
  expect(connection.prepare('SELECT count(*) AS n FROM sqlite_master').get()).toEqual({ n: 0 });
  expect(existsSync(`${file}.v${version}.backup`)).toBe(false);
});

test('a file that is up to date is neither migrated nor backed up', async () => {
  const file = newFile();
  await openDatabase(file, systemClock).close();
  await openDatabase(file, systemClock).close();
  expect(existsSync(`${file}.v${SCHEMA_VERSION}.backup`)).toBe(false);
});
