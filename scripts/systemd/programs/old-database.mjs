// Writes a database of the oldest schema that is migrated, with this many megabytes of rows.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';

const PACKAGE = '/usr/lib/node_modules/errand';
const [file = '', megabytes = '0'] = process.argv.slice(2);
const Connection = createRequire(`${PACKAGE}/`)('better-sqlite3');
const connection = new Connection(file);
connection.exec(readFileSync(new URL('schema-35.sql', import.meta.url), 'utf8'));
const insert = connection.prepare('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)');
connection.transaction(() => {
  for (let at = 0; at < Number(megabytes); at += 1) insert.run(`team ${at}`, 'x'.repeat(1_048_576) + String(at));
})();
connection.close();
