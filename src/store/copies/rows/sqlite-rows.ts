// Rows in SQLite files, read in the order of their keys.
import { rmSync, statSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { ErrandError } from '../../../domain/errors.ts';
import type { Value } from '../../engine/statement.ts';
import { type Batch, BATCH_BYTES, type Key, type RowsPlace } from './place.ts';
import { keysOf } from './places.ts';
import { requireSchema } from './require-schema.ts';
import type { StoredTable } from './tables.ts';
import { makeTupleWriter } from './tuples.ts';

const listOf = (names: readonly string[]) => names.join(', ');
export const namesOf = (columns: readonly { readonly name: string }[]): string =>
  listOf(columns.map(({ name }) => `"${name}"`));
export const marksFor = (columns: readonly unknown[]): string => listOf(columns.map(() => '?'));

/** Opens a file that nobody writes to meanwhile. Throws `not_found`, and `conflict` when it is of another schema. */
export function openFileToRead(file: string, tables: readonly StoredTable[]): RowsPlace {
  if (!isThere(file)) throw new ErrandError('not_found', `${file} does not exist.`);
  const hadLog = isThere(`${file}-wal`);
  const connection = new Connection(file, { readonly: true, fileMustExist: true });
  const close = () => {
    connection.close();
    // A connection that only reads leaves them, empty.
    if (!hadLog) for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  };
  try {
    requireSchema(connection.pragma('user_version', { simple: true }) as number, file);
    return { ...readerOf(connection, file, tables), close: async () => close() };
  } catch (error) {
    close();
    throw error;
  }
}

const isThere = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined;

export function readerOf(connection: Connection.Database, file: string, tables: readonly StoredTable[]) {
  const numberOf = (sql: string) => connection.prepare<[], bigint | null>(sql).pluck().safeIntegers().get() ?? null;
  return {
    name: file,
    batches: (table: StoredTable, after?: Key) => batchesOf(connection, table, after),
    about: async () => tables.reduce((sum, { name }) => sum + Number(numberOf(`SELECT count(*) FROM ${name}`)), 0),
    numbers: async () => {
      const numbers = new Map<string, bigint>();
      for (const { name, columns, key, counts } of tables) {
        const column = columns[key[0]!]!;
        if (key.length > 1 || column.type !== 'INTEGER') continue;
        const sql = counts
          ? `SELECT seq FROM sqlite_sequence WHERE name = '${name}'`
          : `SELECT max(${column.name}) FROM ${name}`;
        numbers.set(name, numberOf(sql) ?? 0n);
      }
      return numbers;
    },
  };
}

async function* batchesOf(connection: Connection.Database, table: StoredTable, after?: Key): AsyncIterable<Batch> {
  const { name, columns, key } = table;
  const keys = namesOf(keysOf(table));
  const where = after === undefined ? '' : `WHERE (${keys}) > (${marksFor(key)})`;
  const statement = connection.prepare<Value[], Value[]>(
    `SELECT ${namesOf(columns)} FROM ${name} ${where} ORDER BY ${keys}`,
  );
  const writer = makeTupleWriter();
  let rows = 0;
  let last: readonly Value[] | undefined;
  const batch = (row: readonly Value[]): Batch => {
    const made = { bytes: writer.take(), rows, last: key.map((place) => row[place]!) };
    rows = 0;
    return made;
  };
  for (const row of statement
    .raw()
    .safeIntegers()
    .iterate(...(after ?? []))) {
    writer.add(row);
    rows += 1;
    last = row;
    if (writer.bytes() >= BATCH_BYTES) yield batch(row);
  }
  if (rows > 0) yield batch(last!);
}
