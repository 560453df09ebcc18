// A database as an earlier Errand has left it: of the oldest schema that is migrated, or of a later one.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { basename, join } from 'node:path';
import Connection from 'better-sqlite3';
import { OLDEST_SCHEMA as OLDEST } from '../../../src/store/engine/schema.ts';

const SCHEMA = readFileSync(join(import.meta.dirname, 'schema-35.sql'), 'utf8');
const MIGRATIONS = join(import.meta.dirname, '../../../src/store/engine/migrations');
const ROWS = `
  INSERT INTO users (id, username, full_name, department, role, password_hash, account, created_at, updated_at)
    VALUES ('u', 'ada', 'Ada', '', 'user', '', 'ada', 0, 0);
  INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
    VALUES ('6f1c0d3e-8f43-4b0e-9b55-6f0f6f0f6f0f', 1, 'api', 'Tides', 'completed', 0, 0);
  INSERT INTO session_totals (session_seq) VALUES (1);
  INSERT INTO runs (id, session_seq, user_seq, protocol, status, schedule_mode, ready, requested_model, include_usage,
      opened_session, target, created_at, finished_at)
    VALUES ('r', 1, 1, 'chat', 'completed', 'immediate', 0, '', 0, 1, '', 0, 1);
  INSERT INTO steps (run_seq, step, attempt, kind, message, text, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, created_at)
    VALUES (1, 1, 1, 'reply', '{}', 'High at six.', 10, 4, 0, 0, 0);
  INSERT INTO tool_calls VALUES (1, 1, 0, 'a', 'shell', '{}', 'ended', 1, 'out', 5, 0)`;

/** Makes the file, in which "ada" has one session with one run. */
export async function olderDatabase(file: string, version = OLDEST): Promise<void> {
  const connection = new Connection(file);
  connection.pragma('journal_mode = WAL');
  connection.exec(SCHEMA);
  connection.exec(ROWS);
  connection.pragma('foreign_keys = OFF');
  const files = readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const inOrder = files.toSorted((one, other) => basename(one).localeCompare(basename(other)));
  for (const name of inOrder.slice(0, version - OLDEST)) {
    const [sql] = Object.values((await import(pathToFileURL(join(MIGRATIONS, name)).href)) as Record<string, string>);
    connection.exec(sql!);
  }
  connection.pragma(`user_version = ${version}`);
  connection.close();
}
