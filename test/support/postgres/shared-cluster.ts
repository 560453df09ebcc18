// The PostgreSQL server that the tests of one run share, and a database of its own for each of their stores.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { translate } from '../../../src/store/engine/postgres/sql/dialect.ts';
import { keyOf } from '../../../src/store/engine/postgres/sql/schema.ts';
import { addressOf } from './address-of.ts';
import { keepNewFiles, makeCluster, ROLE, startCluster, urlOf } from './cluster.ts';
import { NOTES, takeDatabase } from './databases.ts';
import { FIRST_NUMBERS, KEEP_FIRST_ROWS } from './emptying.ts';
import { type Execute, makeExecute } from './statements-at-once.ts';

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
  keepNewFiles(cluster.directory);
  mkdirSync(join(cluster.directory, NOTES));
  await cluster.query('postgres', `CREATE DATABASE ${TEMPLATE} OWNER ${ROLE}`);
  const database = openPostgres(addressOf(cluster.url(TEMPLATE)), systemClock);
  await database.answered();
  await database.close();
  await cluster.query(TEMPLATE, `${FIRST_NUMBERS}; ${KEEP_FIRST_ROWS}`);
  process.env[OF_THE_RUN] = cluster.directory;
  return cluster.close;
}

function sharedDirectory(): string {
  const directory = process.env[OF_THE_RUN];
  if (directory === undefined) throw new Error('There is no server: see globalSetup of the project.');
  return directory;
}

let executing: Execute | undefined;

const execute: Execute = (database, sql) => (executing ??= makeExecute(sharedDirectory()))(database, sql);

/** The address of the database that stands for a SQLite file at `path`: an empty one with the schema at first, and then the same. */
export const databaseFor = (path: string, template = TEMPLATE): string =>
  urlOf(sharedDirectory(), takeDatabase({ directory: sharedDirectory(), path, template, execute }));

/** Completes the database that those of daemons are copied from. */
export async function completeInitialized(): Promise<void> {
  // A connection that stays would keep others from copying it.
  await makeCluster(sharedDirectory(), null, '').query(INITIALIZED, KEEP_FIRST_ROWS);
}

/** Makes an empty database of this name. Answers its address. */
export function emptyDatabase(name: string): string {
  execute('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return urlOf(sharedDirectory(), name);
}

/** What no verb uses. */
const CONCAT = /\bgroup_concat\(((?:[^()]|\([^()]*\))*)\)/g;

/** Rows of a query on it, beside its store. */
export function rowsIn<Row>(path: string, sql: string): Row[] {
  const { database } = addressOf(databaseFor(path));
  const words = translate(sql.replaceAll(CONCAT, "string_agg($1, ',')"));
  const rows = execute(database, `SELECT coalesce(json_agg(row), '[]') AS rows FROM (${words}) AS row`);
  return (rows[0] as { readonly rows: Row[] }).rows;
}

/** Changes it, beside its store. */
export function changeIn(path: string, sql: string): void {
  const statements = [`SET ROLE ${ROLE}`, translate(sql), ...numbersAfter(sql), 'RESET ROLE'];
  execute(addressOf(databaseFor(path)).database, statements.join(';\n'));
}

/** The numbers of later rows are behind those that an insert has given, as SQLite's are. */
function numbersAfter(sql: string): readonly string[] {
  const [, table, column] = /^\s*INSERT INTO (\w+) \((\w+)/.exec(sql) ?? [];
  if (table === undefined || keyOf(table) !== column) return [];
  const last = `greatest(pg_sequence_last_value(name::regclass), (SELECT max(${column}) FROM ${table}))`;
  return [`SELECT setval(name, ${last}) FROM pg_get_serial_sequence('${table}', '${column}') AS name`];
}
