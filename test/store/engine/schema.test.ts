import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { openDatabase } from '../../../src/store/engine/database.ts';
import { foundation } from '../../../src/store/engine/migrations/001-foundation.ts';
import { realWork } from '../../../src/store/engine/migrations/002-real-work.ts';
import { upkeep } from '../../../src/store/engine/migrations/003-upkeep.ts';
import { timeAtWork } from '../../../src/store/engine/migrations/004-time-at-work.ts';
import { migrate, SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

test('a new file is brought to the schema of this code', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  await openDatabase(file, systemClock).close();
  const connection = new Connection(file);
  expect(connection.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
  const tables = connection
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all() as {
    name: string;
    sql: string;
  }[];
  expect(tables.length).toBeGreaterThan(8);
  for (const { name, sql } of tables) expect(sql, name).toMatch(/\) STRICT/);
  connection.close();
});

test('a file of a newer Errand is refused and left unchanged', () => {
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

test('sums of sessions are counted from what a file of before holds; its model calls get no rows', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  for (const schema of [foundation, realWork]) connection.exec(schema);
  connection.pragma('user_version = 2');
  const run = (seq: number, session: number) => `INSERT INTO runs (seq, id, session_seq, user_seq, key_seq, protocol,
      status, schedule_mode, ready, requested_model, include_usage, opened_session, target, queued_steady_at, created_at,
      finished_at, input_tokens, output_tokens, cost_usd)
    VALUES (${seq}, 'r${seq}', ${session}, 1, 1, 'chat', 'completed', 'queued', 0, '', 0, 0, '', 0, 0, 1, 10, 4, 0.5);
    INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
      VALUES (${session}, ${seq}, 'user', '[]', '', 0), (${session}, ${seq}, 'assistant', '[]', '', 0);
    INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, created_at) VALUES (${seq}, 2, 0, '{}', 0);
    INSERT INTO steps VALUES (${seq}, 1, 1, '', 'null', '', 10, 4, 0, 0, 0);
    INSERT INTO tool_calls VALUES (${seq}, 1, 0, 'a', 'shell', '{}', 'ended', 1, '', 5, 0),
      (${seq}, 1, 1, 'b', 'shell', '{}', 'waiting', NULL, NULL, NULL, 0);`;
  connection.exec(`
    INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'u', '', '', 'user', '', 0, 0);
    INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, target, created_at)
      VALUES ('k', 1, '', 'global', x'', '', '', 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
      VALUES ('two', 1, 'api', '', 'completed', 0, 0), ('none', 1, 'api', '', 'completed', 0, 0);
    INSERT INTO workspace_files VALUES (1, '/a', 7, 'x'), (1, '/b', 5, 'y');
    ${run(1, 1)} ${run(2, 1)}`);
  migrate(connection, file);
  expect(connection.prepare('SELECT * FROM session_totals').raw().all()).toEqual([
    [1, 4, 2, 2, 4, 20, 8, 0, 0, 1, 0, 12],
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ]);
  expect(connection.prepare('SELECT workspace_bytes FROM users').pluck().all()).toEqual([12]);
  expect(connection.prepare('SELECT tool_count FROM runs').pluck().all()).toEqual([1, 1]);
  expect(connection.prepare('SELECT count(*) FROM usage_records').pluck().get()).toBe(0);
  connection.close();
});

test('pictures are found by their session, and time at work is counted, in a file of before', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  for (const schema of [foundation, realWork, upkeep, timeAtWork]) connection.exec(schema);
  connection.pragma('user_version = 4');
  const run = (seq: number, status: string, finishedAt: number | null) => `INSERT INTO runs (seq, id, session_seq,
      user_seq, key_seq, protocol, status, schedule_mode, ready, requested_model, include_usage, opened_session, target,
      queued_steady_at, created_at, finished_at, worked_ms)
    VALUES (${seq}, 'r${seq}', 1, 1, 1, 'chat', '${status}', 'queued', 0, '', 0, 0, '', 0, 0, ${finishedAt}, ${seq}000);`;
  connection.exec(`
    INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'u', '', '', 'user', '', 0, 0);
    INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, target, created_at)
      VALUES ('k', 1, '', 'global', x'', '', '', 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
      VALUES ('one', 1, 'api', '', 'running', 0, 0), ('none', 1, 'api', '', 'completed', 0, 0);
    ${run(1, 'completed', 1)} ${run(2, 'failed', 1)} ${run(4, 'running', null)}
    INSERT INTO screenshots VALUES (2, 'a', 'aa', 'image/png', 1, 0)`);
  migrate(connection, file);
  expect(connection.prepare('SELECT worked_ms FROM session_totals ORDER BY session_seq').pluck().all()).toEqual([
    3_000, 0,
  ]);
  expect(connection.prepare('SELECT session_seq FROM screenshots').pluck().all()).toEqual([1]);
  connection.close();
});
