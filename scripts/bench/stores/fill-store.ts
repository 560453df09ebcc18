// Fills a closed store with copies of real rows, so that the copies look as the daemon writes them.
import Connection, { type Database } from 'better-sqlite3';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** How a column of a copied row differs from its original; `n` is the number of the copy. */
type Rewrites = Readonly<Record<string, string>>;

export interface Copied {
  readonly table: string;
  /** The integer key that is incremented, if the table has one of its own. */
  readonly key?: string;
  readonly where: string;
  readonly rewrites: Rewrites;
}

const SECOND = 1000;

/** An id of the right form, different for each table and copy, which sorts by time like the daemon's own. */
const newId = (table: number, n = 'n'): string =>
  `printf('%08x-%04x-7%03x-8%03x-%012x', 25000000 + ${n} / 65536, ${n} % 65536, ${table}, ${n} % 4096, ${n})`;

/** A key can be used for one submission only; a run without one gets none. */
const idempotency_key = "idempotency_key || '-' || n";

/**
 * Copies the session with this id, its run, messages, steps and events `count` times. The daemon must be stopped. Returns
 * how many events the store then has.
 */
export function fillStore(dataDir: string, sessionId: string, count: number): number {
  return inStore(dataDir, (database) => {
    const session = database.prepare('SELECT seq FROM sessions WHERE id = ?').pluck().get(sessionId) as number;
    copySession(database, session, count);
    return database.prepare('SELECT count(*) FROM events').pluck().get() as number;
  });
}

/** Copies a run of a session `count` times into the same session, after it. The store must be closed. */
export function fillSession(dataDir: string, runId: string, count: number): void {
  inStore(dataDir, (database) => {
    const run = database.prepare('SELECT seq FROM runs WHERE id = ?').pluck().get(runId) as number;
    copyRun(database, run, count);
  });
}

/** Runs `fill` in one transaction on the store of a data directory, which must be closed. */
export function inStore<Answer>(dataDir: string, fill: (database: Database) => Answer): Answer {
  const database = new Connection(storeFileOf(dataDir));
  try {
    database.pragma('synchronous = OFF');
    database.pragma('cache_size = -200000');
    const answer = database.transaction(() => fill(database))();
    database.pragma('synchronous = FULL');
    database.pragma('wal_checkpoint(TRUNCATE)');
    return answer;
  } finally {
    database.close();
  }
}

function copySession(database: Database, session: number, count: number): void {
  const runs = database.prepare('SELECT seq FROM runs WHERE session_seq = ?').pluck().all(session) as number[];
  const [run] = runs;
  if (runs.length !== 1 || run === undefined) throw new Error('The copied session must have exactly one run.');
  const times = { created_at: `created_at - n * ${SECOND}`, updated_at: `updated_at - n * ${SECOND}` };
  const session_seq = `${nextKey(database, 'sessions', 'seq')} + n`;
  const run_seq = `${nextKey(database, 'runs', 'seq')} + n`;
  const copies: readonly Copied[] = [
    { table: 'sessions', where: `seq = ${session}`, rewrites: { seq: session_seq, id: newId(1), ...times } },
    {
      table: 'runs',
      where: `seq = ${run}`,
      rewrites: { seq: run_seq, id: newId(2), session_seq, idempotency_key, created_at: times.created_at },
    },
    { table: 'messages', key: 'id', where: `run_seq = ${run}`, rewrites: { session_seq, run_seq } },
    { table: 'steps', where: `run_seq = ${run}`, rewrites: { run_seq } },
    { table: 'tool_calls', where: `run_seq = ${run}`, rewrites: { run_seq } },
    { table: 'events', key: 'id', where: `run_seq = ${run}`, rewrites: { session_seq, run_seq } },
    {
      table: 'events',
      key: 'id',
      where: `session_seq = ${session} AND run_seq IS NULL`,
      rewrites: { session_seq },
    },
  ];
  for (const copied of copies) copyRows(database, copied, count);
}

function copyRun(database: Database, run: number, count: number): void {
  const run_seq = `${nextKey(database, 'runs', 'seq')} + n`;
  const copies: readonly Copied[] = [
    { table: 'runs', where: `seq = ${run}`, rewrites: { seq: run_seq, id: newId(3, `(${run_seq})`), idempotency_key } },
    { table: 'messages', key: 'id', where: `run_seq = ${run}`, rewrites: { run_seq } },
    { table: 'steps', where: `run_seq = ${run}`, rewrites: { run_seq } },
    { table: 'tool_calls', where: `run_seq = ${run}`, rewrites: { run_seq } },
    { table: 'events', key: 'id', where: `run_seq = ${run}`, rewrites: { run_seq } },
  ];
  for (const copied of copies) copyRows(database, copied, count);
}

/** The first key of a table that is free. */
export function nextKey(database: Database, table: string, key: string): number {
  return (database.prepare(`SELECT coalesce(max(${key}), 0) FROM ${table}`).pluck().get() as number) + 1;
}

/** Copies rows `count` times. */
export function copyRows(database: Database, { table, key, where, rewrites }: Copied, count: number): void {
  const rows = database.prepare(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck().get() as number;
  if (rows === 0) return;
  const columns = (database.pragma(`table_info(${table})`) as { name: string }[]).map((column) => column.name);
  const moved: Rewrites = key === undefined ? {} : { [key]: `${nextKey(database, table, key)} + n * ${rows} + place` };
  const values = columns.map((column) => ({ ...rewrites, ...moved })[column] ?? column);
  database.exec(`
    CREATE TEMP TABLE original AS
      SELECT *, row_number() OVER (ORDER BY ${key ?? columns[0]}) - 1 AS place FROM ${table} WHERE ${where};
    WITH RECURSIVE counter (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count - 1})
    INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM counter, original ORDER BY n, place;
    DROP TABLE original;`);
}

/** The one database in a data directory that has sessions; the daemon chooses its name. */
export function storeFileOf(dataDir: string): string {
  const files = readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(dataDir, entry.name))
    .filter((file) => startOf(file).startsWith('SQLite format 3') && hasSessions(file));
  const [file] = files;
  if (files.length !== 1 || file === undefined) throw new Error(`Found ${files.length} stores in ${dataDir}.`);
  return file;
}

function startOf(file: string): string {
  const handle = openSync(file, 'r');
  const bytes = Buffer.alloc(16);
  readSync(handle, bytes, 0, 16, 0);
  closeSync(handle);
  return bytes.toString('latin1');
}

function hasSessions(file: string): boolean {
  const database = new Connection(file, { readonly: true });
  try {
    return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sessions'").get() !== undefined;
  } finally {
    database.close();
  }
}
