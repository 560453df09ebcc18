// Looks at a SQLite file from beside.
import Connection from 'better-sqlite3';
import type { FaultRequest, Inspector } from '../inspector.ts';
import { READER } from '../statement.ts';
import { cacheStatements, carryOut } from './execute.ts';
import { figuresOf } from './space.ts';

const MAX_FAULTS = 10;
const BUSY_MS = 5_000;

/** Opens the file for reading. Throws what SQLite throws: the file may be anything. */
export function openFileInspector(file: string): Inspector {
  const connection = new Connection(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
  const statements = cacheStatements(connection);
  const figures = async () => carryOut(statements, figuresOf(READER, file));
  return {
    schema: async () => {
      const version = connection.pragma('user_version', { simple: true }) as number;
      return { version, runsWith: version };
    },
    figures,
    tables: async () => tablesOf(connection),
    faults: async (request) => faultsOf(connection, (await figures()).bytes, request),
    look: async (verb) => carryOut(statements, verb(READER)),
    server: async () => null,
    close: async () => void connection.close(),
  };
}

/**
 * A search is one read, and during a read the write-ahead log only grows. So a large file is searched table by table; the schema
 * comes with the list of free pages.
 */
function faultsOf(connection: Connection.Database, bytes: number, { largeBytes, full }: FaultRequest): string[] | null {
  const isLarge = bytes >= largeBytes;
  if (isLarge && !full) return null;
  const faults: string[] = [];
  for (const part of isLarge ? ['sqlite_schema', ...tablesOf(connection)] : [null]) {
    // Without a limit: a table and a limit can't both be named.
    const found = connection.pragma(part === null ? `quick_check(${MAX_FAULTS})` : `quick_check('${part}')`);
    for (const { quick_check: words } of found as { quick_check: string }[]) {
      if (words !== 'ok') faults.push(words);
      if (faults.length === MAX_FAULTS) return faults;
    }
  }
  return faults;
}

/** Their names are ours: no quotes in them. */
function tablesOf(connection: Connection.Database): string[] {
  const sql = `SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name NOT GLOB '*[^a-z0-9_]*' AND name NOT LIKE 'sqlite_%' ORDER BY name`;
  return connection.prepare<[], string>(sql).pluck().all();
}
