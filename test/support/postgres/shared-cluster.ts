// The PostgreSQL server that the tests of one run share, and a database of its own for each of their stores.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { type PostgresAddress, readPostgresAddress } from '../../../src/store/engine/postgres/connections/address.ts';
import { translate } from '../../../src/store/engine/postgres/sql/dialect.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { keyOf } from '../../../src/store/engine/postgres/sql/schema.ts';
import { ROLE, startCluster, SUPERUSER, urlOf } from './cluster.ts';
import { programOf } from './programs.ts';

/** Whether the stores of the tests are databases of PostgreSQL. */
export const isPostgres = process.env['ERRAND_TEST_ENGINE'] === 'postgres';

/** Where the run keeps the directory of its server. */
const OF_THE_RUN = 'ERRAND_TEST_POSTGRES';
/** A database with the schema, which others are copied from. */
const TEMPLATE = 'errand_template';
/** The same with the rows that `errand init` makes. */
export const INITIALIZED = 'errand_initialized';

/** Before the first test of a run, once for all projects. Answers what ends the server. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[OF_THE_RUN] !== undefined) return undefined;
  const cluster = await startCluster();
  await cluster.query('postgres', `CREATE DATABASE ${TEMPLATE} OWNER ${ROLE}`);
  const database = openPostgres(addressOf(cluster.url(TEMPLATE)), systemClock);
  await database.answered();
  await database.close();
  // Opening has drawn some already.
  await cluster.query(TEMPLATE, "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'");
  process.env[OF_THE_RUN] = cluster.directory;
  return cluster.close;
}

/** Reads an address that must be right. */
export function addressOf(url: string): PostgresAddress {
  const read = readPostgresAddress(url);
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.address;
}

function sharedDirectory(): string {
  const directory = process.env[OF_THE_RUN];
  if (directory === undefined) throw new Error('There is no server: see globalSetup of the project.');
  return directory;
}

/** Executes statements at once, as the administrator, and answers what the last one printed. */
function execute(database: string, ...statements: readonly string[]): string {
  const where = ['-h', sharedDirectory(), '-U', SUPERUSER, '-d', database];
  const commands = statements.flatMap((statement) => ['-c', statement]);
  return execFileSync(programOf('psql'), [...where, '-XqAt', '-v', 'ON_ERROR_STOP=1', ...commands], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Databases that this process has made, by what they are of. */
const made = new Map<string, string>();

/** The address of the database that stands for a SQLite file at `path`: a fresh one with the schema at first, and then the same. */
export function databaseFor(path: string, template = TEMPLATE): string {
  const database = `t_${createHash('sha256').update(path).digest('hex').slice(0, 20)}`;
  if (!made.has(path)) {
    const gone = [...made].filter(([of]) => !existsSync(dirname(of)));
    for (const [of] of gone) made.delete(of);
    const drops = gone.map(([, name]) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    // It exists when another process of the test has made it.
    const exists = execute('postgres', ...drops, `SELECT 1 FROM pg_database WHERE datname = '${database}'`) !== '';
    if (!exists)
      execute('postgres', `CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${ROLE} STRATEGY FILE_COPY`);
    made.set(path, database);
  }
  return urlOf(sharedDirectory(), database);
}

/** Makes an empty database of this name. Answers its address. */
export function emptyDatabase(name: string): string {
  execute('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return urlOf(sharedDirectory(), name);
}

/** Rows of a query on it, beside its store. */
export function rowsIn<Row>(path: string, sql: string): Row[] {
  const { database } = addressOf(databaseFor(path));
  return JSON.parse(execute(database, `SELECT coalesce(json_agg(row), '[]') FROM (${translate(sql)}) AS row`)) as Row[];
}

/** Changes it, beside its store. */
export function changeIn(path: string, sql: string): void {
  execute(addressOf(databaseFor(path)).database, translate(sql), ...numbersAfter(sql));
}

/** The numbers of later rows are behind those that an insert has given, as SQLite's are. */
function numbersAfter(sql: string): readonly string[] {
  const [, table, column] = /^\s*INSERT INTO (\w+) \((\w+)/.exec(sql) ?? [];
  if (table === undefined || keyOf(table) !== column) return [];
  const last = `greatest(pg_sequence_last_value(name::regclass), (SELECT max(${column}) FROM ${table}))`;
  return [`SELECT setval(name, ${last}) FROM pg_get_serial_sequence('${table}', '${column}') AS name`];
}
