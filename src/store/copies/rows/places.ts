// How far each table was copied, as a table of the target keeps it until the copy is finished.
import { SCHEMA_VERSION } from '../../engine/schema.ts';
import type { Value } from '../../engine/statement.ts';
import type { TablePlace } from './place.ts';
import type { StoredColumn, StoredTable } from './tables.ts';
import { makeTupleWriter, valuesAt } from './tuples.ts';

const COLUMNS = (text: string, number: string, bytes: string) =>
  `(table_name ${text} PRIMARY KEY, rows ${number} NOT NULL, last ${bytes}, is_whole ${number} NOT NULL)`;
/** A copy is continued by the version that began it. */
const NAME = `store_copy_${SCHEMA_VERSION}`;

/** The table. While it is there, the database is no store. */
export const PLACES = {
  name: NAME,
  sqlite: `CREATE TABLE ${NAME} ${COLUMNS('TEXT', 'INTEGER', 'BLOB')} STRICT`,
  postgres: `CREATE TABLE ${NAME} ${COLUMNS('TEXT', 'BIGINT', 'BYTEA')}`,
} as const;

/** The columns of a table's primary key. */
export const keysOf = ({ columns, key }: StoredTable): readonly StoredColumn[] => key.map((place) => columns[place]!);

/** Reads and makes its rows. */
export function makePlaces(tables: readonly StoredTable[]) {
  const byName = new Map(tables.map((table) => [table.name, table]));

  function keyBytes(key: readonly Value[]): Buffer {
    const writer = makeTupleWriter();
    writer.add(key);
    return writer.take();
  }

  return {
    rowOf: (table: StoredTable, { rows, last, isWhole }: TablePlace): Value[] => [
      table.name,
      rows,
      last && keyBytes(last),
      isWhole ? 1 : 0,
    ],
    read: (rows: readonly (readonly Value[])[]): ReadonlyMap<string, TablePlace> =>
      new Map(
        rows.map(([name, count, last, isWhole]) => {
          const table = byName.get(String(name))!;
          const key = last === null ? null : valuesAt(last as Buffer, 0, keysOf(table));
          return [table.name, { rows: Number(count), last: key, isWhole: Number(isWhole) === 1 }];
        }),
      ),
  };
}
