import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openDatabase } from '../../../src/store/engine/database.ts';
import { foundation } from '../../../src/store/engine/migrations/001-foundation.ts';
import { realWork } from '../../../src/store/engine/migrations/002-real-work.ts';
import { migrate, SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

test('sessions that were deleted by an earlier Errand are cleaned up once more, for their texts', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  for (const schema of [foundation, realWork]) connection.exec(schema);
  connection.pragma('user_version = 2');
  connection.exec(`
    INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'u', '', '', 'user', '', 0, 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at, deleted_at)
      VALUES ('stays', 1, 'api', '', 'completed', 0, 0, NULL), ('gone', 1, 'api', '', 'completed', 0, 0, 7),
        ('going', 1, 'api', '', 'completed', 0, 0, 8);
    INSERT INTO cleanups (session_seq, created_at) VALUES (3, 9)`);
  migrate(connection, file);
  expect(connection.prepare('SELECT * FROM cleanups').all()).toEqual([
    { session_seq: 2, created_at: 7 },
    { session_seq: 3, created_at: 9 },
  ]);
  connection.close();
});

test("the model of a team's lead is found in sessions that an earlier Errand opened", () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  for (const schema of [foundation, realWork]) connection.exec(schema);
  connection.pragma('user_version = 2');
  connection.exec(`
    INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'u', '', '', 'user', '', 0, 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at, orchestration)
      VALUES ('own', 1, 'api', '', 'completed', 0, 0, '{"lead":{"model":"large"},"members":[]}'),
        ('none', 1, 'api', '', 'completed', 0, 0, '{"lead":{"model":null},"members":[]}'),
        ('alone', 1, 'api', '', 'completed', 0, 0, NULL)`);
  migrate(connection, file);
  const models = connection.prepare('SELECT lead_model FROM sessions ORDER BY seq').pluck().all();
  expect(models).toEqual(['large', null, null]);
  connection.close();
});
