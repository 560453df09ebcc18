// A database as an earlier Errand has left it: with its first migrations alone.
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { accountOf } from '../../../src/domain/people/account-name.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../src/store/engine/migrations');
const VERSION_1 = `
  INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
    VALUES ('u', 'ada', 'Ada', '', 'user', '', 0, 0);
  INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
    VALUES ('6f1c0d3e-8f43-4b0e-9b55-6f0f6f0f6f0f', 1, 'api', 'Tides', 'completed', 0, 0)`;

/** Makes the file, in which "ada" has one session since version 1 of the schema. */
export async function olderDatabase(file: string, version: number): Promise<void> {
  const connection = new Connection(file);
  connection.pragma('journal_mode = WAL');
  connection.pragma('foreign_keys = OFF');
  connection.unsafeMode(true);
  connection.function('account_of', { deterministic: true, directOnly: true }, (name) => accountOf(String(name)));
  for (const [index, name] of readdirSync(MIGRATIONS).sort().slice(0, version).entries()) {
    const [sql] = Object.values((await import(pathToFileURL(join(MIGRATIONS, name)).href)) as Record<string, string>);
    connection.exec(sql!);
    if (index === 0) connection.exec(VERSION_1);
    connection.pragma(`user_version = ${index + 1}`);
  }
  connection.close();
}
