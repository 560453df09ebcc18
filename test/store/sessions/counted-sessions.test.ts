// How many sessions a key lists is kept with the key, whoever writes them.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/store/engine/sqlite/migrate.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const KEYS = `INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
  VALUES ('u', 'ada', 'Ada', '', 'user', '', 0, 0);
  INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, target, created_at)
  VALUES ('a', 1, '', 'global', x'0a', '', '', 0), ('b', 1, '', 'global', x'0b', '', '', 0)`;
const OPEN = `INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at, deleted_at)
  VALUES (?, 1, ?, ?, '', 'completed', 0, 0, ?)`;

/** A key's sessions, one of which is deleted, others of its user, and one of another key. */
function openSome(connection: Connection.Database, name: string): void {
  const open = connection.prepare(OPEN);
  const rows = [
    [1, 'api', null],
    [1, 'api', null],
    [1, 'api', 7],
    [1, 'scheduled', null],
    [null, 'chat', null],
    [2, 'api', null],
  ] as const;
  for (const [index, row] of rows.entries()) open.run(`${name}${index}`, ...row);
}

test('each that opens or is deleted is counted', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  onTestFinished(() => void connection.close());
  migrate(connection, file);
  connection.exec(KEYS);
  openSome(connection, 'before');
  const counts = () => connection.prepare('SELECT listed_sessions FROM api_keys ORDER BY seq').pluck().all();
  expect(counts()).toEqual([2, 1]);
  openSome(connection, 'after');
  expect(counts()).toEqual([4, 2]);
  const remove = connection.prepare('UPDATE sessions SET deleted_at = ? WHERE id = ?');
  for (const [at, id] of [
    [8, 'before0'],
    [9, 'before0'],
    [8, 'after3'],
    [8, 'after4'],
    [8, 'after5'],
  ] as const) {
    remove.run(at, id);
  }
  expect(counts()).toEqual([3, 1]);
});
