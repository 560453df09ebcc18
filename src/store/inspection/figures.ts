// Figures of a store, read from beside: with a daemon, or without one.
import type { EngineFigures } from '../engine/database.ts';
import { SCHEMA_VERSION } from '../engine/schema.ts';
import type { StoreLocation } from '../location.ts';
import { openInspector } from './open-inspector.ts';

/** Rows of a table. `more`: there are more than were counted. */
export interface TableCount {
  readonly name: string;
  readonly rows: number;
  readonly more: boolean;
}

export interface DatabaseFigures {
  /** The version of the schema in the database, and the one of this program. */
  readonly schemaVersion: number;
  readonly knownVersion: number;
  readonly engine: EngineFigures['engine'];
  readonly engineVersion: string;
  /** Null for another engine. */
  readonly sqliteVersion: string | null;
  readonly sizeBytes: number;
  /** Of the write-ahead log beside the database; 0 without. */
  readonly walBytes: number;
  readonly freePages: number;
  readonly pageSize: number;
  readonly tables: readonly TableCount[];
}

/** So many rows of a table are counted, which takes about a millisecond. */
const COUNTED = 10_000;

/** Reads the figures. Throws what the engine throws when the database can't be read. */
export async function readFigures(location: StoreLocation): Promise<DatabaseFigures> {
  const store = await openInspector(location);
  try {
    const tables: TableCount[] = [];
    for (const name of await store.tables()) {
      const sql = `SELECT count(*) AS total FROM (SELECT 1 FROM ${name} LIMIT ${COUNTED + 1}) AS counted`;
      const { total } = (await store.look((tx) => tx.get<{ total: number }>(sql)))!;
      tables.push({ name, rows: Math.min(total, COUNTED), more: total > COUNTED });
    }
    const { engine, version, bytes, pageBytes, freeBytes, logBytes } = await store.figures();
    return {
      schemaVersion: (await store.schema()).version,
      knownVersion: SCHEMA_VERSION,
      engine,
      engineVersion: version,
      sqliteVersion: engine === 'sqlite' ? version : null,
      sizeBytes: bytes,
      walBytes: logBytes ?? 0,
      freePages: freeBytes / pageBytes,
      pageSize: pageBytes,
      tables,
    };
  } finally {
    await store.close();
  }
}
