// Everything that an SQLite file has, to be compared with another one: independent of how rows are copied.
import Connection from 'better-sqlite3';

/** By table, its rows in the order of their keys; and what the schema is made of. */
export function dumpFile(file: string): Record<string, unknown> {
  const connection = new Connection(file, { readonly: true });
  try {
    const made = connection
      .prepare<[], { type: string; name: string; sql: string | null }>('SELECT type, name, sql FROM sqlite_schema')
      .all();
    const rowsOf = (table: string) => connection.prepare(`SELECT * FROM ${table}`).safeIntegers().all();
    const tables = made.filter(({ type }) => type === 'table').map(({ name }) => name);
    return {
      ...Object.fromEntries(tables.map((name) => [name, rowsOf(name)])),
      // In any order: its rows have no key.
      sqlite_sequence: connection.prepare('SELECT * FROM sqlite_sequence ORDER BY name').all(),
      schema: made.map(({ type, name, sql }) => `${type} ${name} ${sql}`).sort(),
      version: connection.pragma('user_version', { simple: true }),
      vacuum: connection.pragma('auto_vacuum', { simple: true }),
      journal: connection.pragma('journal_mode', { simple: true }),
    };
  } finally {
    connection.close();
  }
}
