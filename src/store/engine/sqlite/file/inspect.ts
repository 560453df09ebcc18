// Figures of a database file, read through a connection of its own that can't write: beside a daemon, or without one.
import { statSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../schema.ts';

/** Rows of a table. `more`: there are more than were counted. */
export interface TableCount {
  readonly name: string;
  readonly rows: number;
  readonly more: boolean;
}

export interface DatabaseFigures {
  /** The version of the schema in the file, and the one of this program. */
  readonly schemaVersion: number;
  readonly knownVersion: number;
  readonly sqliteVersion: string;
  readonly sizeBytes: number;
  readonly walBytes: number;
  readonly freePages: number;
  readonly pageSize: number;
  readonly tables: readonly TableCount[];
}

/** So many rows of a table are counted, which takes about a millisecond. */
const COUNTED = 10_000;

/** Reads the figures. Throws what SQLite throws when the file can't be read. */
export function inspectDatabase(file: string): DatabaseFigures {
  const connection = new Connection(file, { readonly: true, fileMustExist: true, timeout: 1_000 });
  try {
    const pragma = (name: string) => Number(connection.pragma(name, { simple: true }));
    const names = connection
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .pluck()
      .all() as string[];
    return {
      schemaVersion: pragma('user_version'),
      knownVersion: SCHEMA_VERSION,
      sqliteVersion: connection.prepare('SELECT sqlite_version()').pluck().get() as string,
      sizeBytes: bytesOf(file),
      walBytes: bytesOf(`${file}-wal`),
      freePages: pragma('freelist_count'),
      pageSize: pragma('page_size'),
      tables: names.map((name) => countRows(connection, name)),
    };
  } finally {
    connection.close();
  }
}

function countRows(connection: Connection.Database, name: string): TableCount {
  const sql = `SELECT count(*) FROM (SELECT 1 FROM "${name.replaceAll('"', '""')}" LIMIT ${COUNTED + 1})`;
  const rows = connection.prepare(sql).pluck().get() as number;
  return { name, rows: Math.min(rows, COUNTED), more: rows > COUNTED };
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
