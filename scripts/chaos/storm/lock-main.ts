// Another process that holds the database: `CHAOS_DATABASE=FILE node lock-main.ts MILLISECONDS` prints {"from", "to"}, wall
// times in milliseconds. It ends itself with SIGKILL: closing a database moves its log into the file, and that is left to
// the daemon.
import { writeSync } from 'node:fs';
import Connection from 'better-sqlite3';

const TRIES_MS = 5_000;

const connection = new Connection(process.env['CHAOS_DATABASE'] ?? '', { timeout: TRIES_MS });
connection.exec('BEGIN IMMEDIATE');
const from = Date.now();
// The event loop does not run while the lock is held.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.argv[2]));
writeSync(1, `${JSON.stringify({ from, to: Date.now() })}\n`);
process.kill(process.pid, 'SIGKILL');
