// Conditions that SQLite evaluates with each row: they admit what they always did, and none builds a temporary table.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { ENDED, RUN_STATES } from '../../../src/domain/sessions/run.ts';
import { migrate } from '../../../src/store/engine/sqlite/migrate.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const TABLES = ['sessions', 'runs', 'events', 'usage_records', 'messages', 'steps', 'session_totals'];

function filled(): Connection.Database {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  onTestFinished(() => void connection.close());
  migrate(connection, file);
  connection.exec(`INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
      VALUES ('u', 'ada', 'Ada', '', 'user', '', 0, 0);
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
      VALUES ('s', 1, 'api', 'Tides', 'completed', 0, 0);
    INSERT INTO runs (seq, id, session_seq, user_seq, protocol, status, schedule_mode, ready, requested_model,
      include_usage, opened_session, target, created_at)
    VALUES (1, 'r', 1, 1, 'chat', 'queued', 'immediate', 1, '', 0, 1, '', 0);
    INSERT INTO usage_records (at, session_seq, user_seq, model, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_usd) VALUES (0, 1, 1, '', 0, 0, 0, 0, 0)`);
  return connection;
}

test.each([
  ['sessions', 'kind', ['chat', 'api', 'scheduled']],
  ['sessions', 'status', ['pending', 'running', 'completed', 'failed', 'stopped']],
  ['runs', 'schedule_mode', ['immediate', 'queued', 'background', 'scheduled']],
  ['runs', 'artifact_status', ['pending', 'ready', 'failed', 'unavailable']],
  ['runs', 'outcome', [null, 'failed', 'incomplete']],
  ['runs', 'status', RUN_STATES.filter((state) => !(ENDED as readonly string[]).includes(state))],
  ['usage_records', 'purpose', [null, 'reply', 'agent', 'summary']],
  ['usage_records', 'outcome', ['ok', 'failed', 'stopped', 'lost']],
])('%s.%s is one of its values, and nothing else', (table, column, values) => {
  const connection = filled();
  const set = (value: string | null) => connection.prepare(`UPDATE ${table} SET ${column} = ?`).run(value);
  for (const value of values) expect(set(value).changes, String(value)).toBe(1);
  for (const other of ['', 'Chat', 'none']) expect(() => set(other), other).toThrow(/CHECK constraint failed/);
});

test('a session names why it was stopped, or was not stopped', () => {
  const connection = filled();
  const stop = (cause: string) =>
    connection.prepare('UPDATE sessions SET stop_requested_at = 1, stop_cause = ?').run(cause).changes;
  for (const cause of ['user_requested_stop', 'operator_requested_stop', 'session_deleted'])
    expect(stop(cause)).toBe(1);
  expect(() => stop('whim')).toThrow(/CHECK constraint failed/);
});

test('a run has an end exactly in the states that are ends', () => {
  const connection = filled();
  const set = (status: string, end: number | null) =>
    connection.prepare('UPDATE runs SET status = ?, finished_at = ?').run(status, end).changes;
  for (const status of RUN_STATES) {
    const isEnd = (ENDED as readonly string[]).includes(status);
    expect(set(status, isEnd ? 1 : null), status).toBe(1);
    expect(() => set(status, isEnd ? null : 1), status).toThrow(/CHECK constraint failed/);
  }
});

test.each(TABLES)('a row of %s is written without a temporary table', (table) => {
  const connection = filled();
  const columns = connection.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all() as string[];
  const values = columns.map(() => '?').join(', ');
  const statements = [
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`,
    `UPDATE ${table} SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE ${columns[0]} = 1`,
  ];
  for (const sql of statements) {
    const steps = connection.prepare(`EXPLAIN ${sql}`).all(...columns.map(() => null)) as {
      opcode: string;
      p4: string;
    }[];
    // One with a key of one column is made for a list.
    const lists = steps.filter(({ opcode, p4 }) => opcode === 'OpenEphemeral' && p4?.startsWith('k(1,'));
    expect(steps.length).toBeGreaterThan(20);
    expect(lists, sql).toEqual([]);
  }
});
