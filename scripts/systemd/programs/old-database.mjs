// Writes a database of the first schema, with this many megabytes of rows.
import { createRequire } from 'node:module';
import process from 'node:process';

const PACKAGE = '/usr/lib/node_modules/errand';
const [file = '', megabytes = '0'] = process.argv.slice(2);
const Connection = createRequire(`${PACKAGE}/`)('better-sqlite3');
const { foundation } = await import(new URL('001-foundation.ts', import.meta.url));
const connection = new Connection(file);
connection.exec(foundation);
connection.pragma('user_version = 1');
const insert = connection.prepare('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)');
connection.transaction(() => {
  for (let at = 0; at < Number(megabytes); at += 1) insert.run(`team ${at}`, 'x'.repeat(1_048_576) + String(at));
})();
connection.close();
