// Opens a store as the daemon does, with the bodies of webhook events; and its rows without verbs, for tests that look or change.
import Connection from 'better-sqlite3';
import type { Clock } from '../../../src/domain/clock.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import { openDatabase } from '../../../src/store/engine/sqlite/open-database.ts';
import { openStore as open, type Store, type StoreOptions } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';

/** The engine of all stores of the tests. */
const isPostgres = process.env['ERRAND_TEST_ENGINE'] === 'postgres';

export function openStore(file: string, clock: Clock, options: Partial<StoreOptions> = {}): Store {
  return open(file, clock, { renderBody, ...options });
}

/** The same rows without verbs, also beside an open store. */
export function openRows(file: string, clock: Clock): Database {
  return openDatabase(file, clock);
}

/** Rows of a query, beside the store. */
export function rowsOf<Row>(file: string, sql: string): Row[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection.prepare(sql).all() as Row[];
  } finally {
    connection.close();
  }
}

/** Changes rows, beside the store. */
export function changeRows(file: string, sql: string): void {
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
