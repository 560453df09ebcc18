// The table of runs is rebuilt for a status of its own for runs that wait: nothing of it is lost, whatever it was before.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { RUN_STATES } from '../../../src/domain/sessions/run.ts';
import { noClockInRows } from '../../../src/store/engine/migrations/014-no-clock-in-rows.ts';
import { migrate } from '../../../src/store/engine/schema.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('migrate-main.ts', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../../../src/store/engine/migrations', import.meta.url));
const BEFORE = 11;
const ENDED = ['completed', 'failed', 'canceled', 'incomplete'];

const migrations = await Promise.all(
  readdirSync(MIGRATIONS)
    .toSorted()
    .map(async (name) => Object.values((await import(join(MIGRATIONS, name))) as Record<string, string>)[0]!),
);

function openFile(file: string): Connection.Database {
  const connection = new Connection(file);
  onTestFinished(() => void connection.close());
  return connection;
}

/** A database of an earlier schema with a run in each state, and rows that refer to it. Every column of a run is filled. */
function oldDatabase(version: number): string {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = openFile(file);
  connection.function('account_of', String);
  for (const sql of migrations.slice(0, version)) connection.exec(sql);
  connection.pragma(`user_version = ${version}`);
  connection.exec(`
    INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'u', '', '', 'user', '', 0, 0);
    INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, target, created_at)
      VALUES ('k', 1, '', 'global', x'', '', '', 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at) VALUES ('s', 1, 'api', '', 'running', 0, 0)`);
  const columns = connection.prepare("SELECT name, type FROM pragma_table_info('runs')").all() as Column[];
  const filled = columns.filter(({ name }) => !['seq', 'status', 'waiting', 'finished_at'].includes(name));
  RUN_STATES.forEach((state, at) => {
    const values: Record<string, string | number | null> = {
      ...Object.fromEntries(filled.map(({ name, type }, place) => [name, valueOf(name, type, at * 100 + place)])),
      status: state === 'waiting' ? 'running' : state,
      waiting: Number(state === 'waiting'),
      finished_at: ENDED.includes(state) ? 77 + at : null,
    };
    const names = Object.keys(values);
    connection
      .prepare(`INSERT INTO runs (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`)
      .run(values);
    connection.exec(`INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
      VALUES (1, ${at + 1}, 'user', '[]', '', 0);
      INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
      VALUES (1, ${at + 1}, 1, 'run.queued', '{}', 0)`);
  });
  return file;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

const FIXED: Readonly<Record<string, string | number>> = {
  session_seq: 1,
  user_seq: 1,
  key_seq: 1,
  protocol: 'chat',
  schedule_mode: 'background',
  ready: 0,
  include_usage: 1,
  opened_session: 0,
  outcome: 'failed',
  artifact_status: 'pending',
};

function valueOf(name: string, type: string, number: number): string | number {
  return FIXED[name] ?? (type === 'TEXT' ? `${name} ${number}` : number);
}

type Row = Record<string, unknown>;

/** Columns that a later schema no longer has. */
const GONE: ReadonlySet<string> = new Set(['waited_ms', 'waiting', 'queued_steady_at', 'worked_until']);

const runsOf = (connection: Connection.Database) =>
  connection.prepare('SELECT * FROM runs ORDER BY seq').all() as Row[];

/** Of the columns and indexes of runs. */
const namesOf = (connection: Connection.Database) =>
  connection
    .prepare("SELECT name FROM pragma_table_info('runs') UNION ALL SELECT name FROM pragma_index_list('runs')")
    .pluck()
    .all() as string[];

test.each([2, 3, 4, 5, 6, 7, 8, 9, BEFORE])('every run of a store of schema %i is kept, in its state', (version) => {
  const file = oldDatabase(version);
  const connection = openFile(file);
  const before = runsOf(connection);
  migrate(connection, file);
  const after = runsOf(connection);
  expect(after.map(({ status }) => status)).toEqual([...RUN_STATES]);
  expect(after.every((row) => !('waiting' in row))).toBe(true);
  const names = Object.keys(before[0]!).filter((name) => name !== 'status' && !GONE.has(name));
  const shared = (rows: readonly Row[]) => rows.map((row) => names.map((name) => row[name]));
  expect(shared(after)).toEqual(shared(before));
  expect(connection.pragma('foreign_key_check')).toEqual([]);
  expect(connection.pragma('foreign_keys', { simple: true })).toBe(1);
  expect(() => connection.exec('DELETE FROM runs WHERE seq = 1')).toThrow('FOREIGN KEY');
});

test('the rebuilt table has all columns and all indexes that it had', () => {
  const file = oldDatabase(BEFORE);
  const connection = openFile(file);
  const before = namesOf(connection).filter((name) => name !== 'waiting');
  connection.pragma('foreign_keys = OFF');
  connection.exec(migrations[BEFORE]!);
  expect(namesOf(connection).toSorted()).toEqual(before.toSorted());
});

test('the columns of one process are dropped and every index stays; worker nodes have left', () => {
  const connection = openFile(oldDatabase(BEFORE));
  connection.pragma('foreign_keys = OFF');
  connection.exec(migrations[BEFORE]!);
  const before = namesOf(connection);
  connection.exec("INSERT INTO worker_nodes VALUES ('here', 8, 1, 1772366400000, 5)");
  connection.exec(noClockInRows);
  expect(namesOf(connection).toSorted()).toEqual(before.filter((name) => !GONE.has(name)).toSorted());
  expect(connection.prepare('SELECT * FROM worker_nodes').all()).toEqual([
    { id: 'here', capacity: 8, supports_openapi: 1, registered_at: 5, beats: null },
  ]);
});

test('a process that is killed in the middle of it leaves the table as it was, and the next start rebuilds it', () => {
  const file = oldDatabase(BEFORE);
  const before = runsOf(openFile(file));
  expect(spawnSync(process.execPath, [MAIN, file, String(BEFORE + 1)]).signal).toBe('SIGKILL');
  const connection = openFile(file);
  expect(connection.pragma('user_version', { simple: true })).toBe(BEFORE);
  expect(runsOf(connection)).toEqual(before);
  migrate(connection, file);
  expect(runsOf(connection).map(({ status }) => status)).toEqual([...RUN_STATES]);
});

test('a row that refers to no row is a fault that leaves the file as it was', () => {
  const file = oldDatabase(BEFORE);
  const connection = openFile(file);
  connection.pragma('foreign_keys = OFF');
  connection.exec('DELETE FROM runs WHERE seq = 3');
  expect(() => migrate(connection, file)).toThrow('refers to no row');
  expect(connection.pragma('user_version', { simple: true })).toBe(BEFORE);
  expect(runsOf(connection)).toHaveLength(RUN_STATES.length - 1);
});
