// Opens a store as the daemon does, with the bodies of webhook events; and its rows without verbs, for tests that look or change.
import Connection from 'better-sqlite3';
import type { Clock } from '../../../src/domain/clock.ts';
import { ledgerFaultsIn } from '../../../src/selftest/checks/ledger-faults.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { type DatabaseOptions, openDatabase } from '../../../src/store/engine/sqlite/open-database.ts';
import { makeStore, openStore as open, type Store, type StoreOptions } from '../../../src/store/open-store.ts';
import type { StoreLocation } from '../../../src/store/location.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { addressOf } from '../postgres/address-of.ts';
import { changeIn, databaseFor, isPostgres, rowsIn } from '../postgres/shared-cluster.ts';
import { newFile } from './new-file.ts';

/** Opens the store of a SQLite file, or of the database that stands for it. */
export function openStore(file: string, clock: Clock, options: Partial<StoreOptions> = {}): Store {
  if (isPostgres) return makeStore(openRows(file, clock, options), options.renderBody ?? renderBody);
  newFile(file);
  return open({ kind: 'sqlite', file }, clock, { renderBody, ...options });
}

/** Where the rows of a file are. */
export function locationOf(file: string): StoreLocation {
  if (!isPostgres) return { kind: 'sqlite', file };
  return { kind: 'postgres', address: addressOf(databaseFor(file)), connections: 4 };
}

/** The same rows without verbs, also beside an open store. */
export function openRows(file: string, clock: Clock, { alarms }: Pick<DatabaseOptions, 'alarms'> = {}): Database {
  const options = alarms === undefined ? {} : { alarms };
  if (!isPostgres) {
    newFile(file);
    return openDatabase(file, clock, options);
  }
  return openPostgres(addressOf(databaseFor(file)), clock, { ...options, connections: 4, isLocked: false });
}

/** Rows of a query, beside the store. */
export function rowsOf<Row>(file: string, sql: string): Row[] {
  if (isPostgres) return rowsIn(file, sql);
  const connection = new Connection(file, { readonly: true });
  try {
    return connection.prepare(sql).all() as Row[];
  } finally {
    connection.close();
  }
}

/** What is wrong with its ledger. */
export const ledgerFaultsOf = (file: string): string[] => ledgerFaultsIn((sql) => rowsOf(file, sql));

const COLUMNS = isPostgres
  ? `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`
  : `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`;

/** Whether a column has a text, as text or as its bytes. */
const holds = (column: string, text: string) =>
  isPostgres
    ? `strpos("${column}"::text, ${text}) + strpos("${column}"::text, encode(convert_to(${text}, 'UTF8'), 'hex')) > 0`
    : `instr("${column}", ${text})`;

/** Where a text occurs in it, by table and column, in order. */
export function placesOf(file: string, text: string): string[] {
  const columns = Map.groupBy(rowsOf<{ table: string; column: string }>(file, COLUMNS), ({ table }) => table);
  return [...columns]
    .flatMap(([table, of]) => {
      const counts = of.map(
        ({ column }) => `count(CASE WHEN ${holds(column, literal(text))} THEN 1 END) AS "${table}.${column}"`,
      );
      const [row] = rowsOf<Record<string, number>>(file, `SELECT ${counts.join()} FROM ${table}`);
      return Object.entries(row!).flatMap(([place, count]) => (count > 0 ? [place] : []));
    })
    .sort();
}
/** Changes rows, beside the store. */
export function changeRows(file: string, sql: string): void {
  if (isPostgres) return changeIn(file, sql);
  const connection = new Connection(file);
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

/** A value as it is written in a statement. */
export const literal = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** Options of a test that is about SQLite or its file. `_why`: what of it. */
export const onlyOnSqlite = (_why: string) => ({ skip: isPostgres });
