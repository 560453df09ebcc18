// Rows written into a new SQLite file, which has another name until it is whole.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Connection from 'better-sqlite3';
import { syncPath } from '../../../disk/sync-path.ts';
import { ErrandError } from '../../../domain/errors.ts';
import { SCHEMA_VERSION } from '../../engine/schema.ts';
import { leaveToOwner } from '../../engine/sqlite/file/lock.ts';
import { makePrivateFile } from '../../engine/sqlite/file/private-file.ts';
import type { Value } from '../../engine/statement.ts';
import type { Addition, RowsTarget } from './place.ts';
import { makePlaces, PLACES } from './places.ts';
import { marksFor, namesOf, readerOf } from './sqlite-rows.ts';
import type { FileSchema, StoredTable } from './tables.ts';
import { startsOf, valuesAt } from './tuples.ts';

interface Lasting {
  /** Whether it can be continued after the process has ended at any moment, or the power has failed. */
  readonly lasts: boolean;
}

/** What the file is called until it is whole. */
export const unfinishedOf = (file: string): string => `${file}.copy`;

/** Makes a file, or opens what is there of one. Throws `conflict` when the file itself is there. */
export function openFileToWrite(file: string, schema: FileSchema, { lasts }: Lasting): RowsTarget {
  if (existsSync(file))
    throw new ErrandError('conflict', `${file} exists already. Name another file, or move it away.`);
  const unfinished = unfinishedOf(file);
  makePrivateFile(unfinished);
  leaveToOwner(dirname(file), unfinished);
  let connection = new Connection(unfinished);
  try {
    // Complete, but without its name: a crash came between.
    if (connection.pragma('user_version', { simple: true }) !== 0) connection = anew(connection, unfinished);
    return targetIn(connection, { file, unfinished, schema, lasts });
  } catch (error) {
    connection.close();
    throw error;
  }
}

function anew(connection: Connection.Database, unfinished: string): Connection.Database {
  connection.close();
  rmSync(unfinished);
  makePrivateFile(unfinished);
  return new Connection(unfinished);
}

interface Writing extends Lasting {
  readonly file: string;
  readonly unfinished: string;
  readonly schema: FileSchema;
}

function targetIn(connection: Connection.Database, { file, unfinished, schema, lasts }: Writing): RowsTarget {
  connection.pragma('auto_vacuum = INCREMENTAL');
  connection.pragma(`journal_mode = ${lasts ? 'WAL' : 'OFF'}`);
  connection.pragma(`synchronous = ${lasts ? 'NORMAL' : 'OFF'}`);
  // References are verified once, in the end.
  connection.pragma('foreign_keys = OFF');
  const has = connection.prepare<[string], number>('SELECT 1 FROM sqlite_schema WHERE name = ?').pluck();
  if (has.get(PLACES.name) === undefined) makeTables(connection, unfinished, schema);
  const places = makePlaces(schema.tables);
  const keep = connection.prepare(`INSERT OR REPLACE INTO ${PLACES.name} VALUES (?, ?, ?, ?)`);

  function begin(table: StoredTable): Addition {
    const { name, columns } = table;
    const insert = connection.prepare(`INSERT INTO ${name} (${namesOf(columns)}) VALUES (${marksFor(columns)})`);
    connection.exec('BEGIN');
    return {
      add: async ({ bytes }) => {
        for (const start of startsOf(bytes)) insert.run(valuesAt(bytes, start, columns));
      },
      commit: async (place) => {
        keep.run(...places.rowOf(table, place));
        connection.exec('COMMIT');
      },
      undo: async () => void connection.exec('ROLLBACK'),
    };
  }

  return {
    ...readerOf(connection, file, schema.tables),
    places: async () => places.read(connection.prepare<[], Value[]>(`SELECT * FROM ${PLACES.name}`).raw().all()),
    begin: async (table) => begin(table),
    complete: async (progress) => {
      const rest = [...schema.makeRest].filter(([name]) => has.get(name) === undefined);
      for (const [done, [, sql]] of rest.entries()) {
        progress(done, rest.length);
        connection.exec(sql);
      }
      // Of a backup, its verification says that.
      if (!lasts) return;
      const [broken] = connection.pragma('foreign_key_check') as { readonly table: string }[];
      if (broken !== undefined) throw new Error(`A row of ${broken.table} refers to no row.`);
    },
    publish: async (numbers) => {
      finish(connection, schema.tables, numbers);
      connection.close();
      if (lasts) syncPath(unfinished);
      renameSync(unfinished, file);
      if (lasts) syncPath(dirname(file));
    },
    close: async () => void connection.close(),
  };
}

function makeTables(connection: Connection.Database, unfinished: string, { tables, makeTables: all }: FileSchema) {
  const [known] = tables;
  if (connection.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(known!.name) !== undefined)
    throw new ErrandError(
      'conflict',
      `${unfinished} was begun by another version of Errand. Remove it, and begin anew.`,
    );
  connection.transaction(() => {
    for (const sql of [...all, PLACES.sqlite]) connection.exec(sql);
  })();
}

function finish(connection: Connection.Database, tables: readonly StoredTable[], numbers: ReadonlyMap<string, bigint>) {
  const number = connection.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?');
  const first = connection.prepare('INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)');
  connection.transaction(() => {
    for (const { name } of tables.filter(({ counts }) => counts)) {
      const given = numbers.get(name) ?? 0n;
      if (number.run(given, name).changes === 0 && given > 0n) first.run(given, name);
    }
    connection.exec(`DROP TABLE ${PLACES.name}`);
    connection.pragma(`user_version = ${SCHEMA_VERSION}`);
  })();
  // As the daemon keeps it.
  connection.pragma('journal_mode = WAL');
  connection.pragma('wal_checkpoint(TRUNCATE)');
}
