// What SQLite's planner knows. A plan must depend neither on what a store once contained nor on the values of one execution.
import type { Database as Connection } from 'better-sqlite3';

/** Where `ANALYZE` and `PRAGMA optimize` keep what they counted. */
const STATISTICS = "SELECT name FROM sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";

/**
 * Removes the planner's statistics from a file. They describe the store at the time when they were collected, and are never
 * updated: with those of an almost empty store, whole tables are scanned instead of indexes. Returns whether there were any:
 * then the file has to be opened again, because this connection continues to use what it has read.
 */
export function dropStatistics(connection: Connection): boolean {
  const tables = connection.prepare<[], { name: string }>(STATISTICS).all();
  for (const { name } of tables) connection.exec(`DROP TABLE ${name}`);
  return tables.length > 0;
}

/**
 * The text that is prepared for a statement, with each parameter as an expression. Where a bare `?` is compared with an
 * indexed column or is a limit, SQLite plans by its value, and better-sqlite3 clears the values after each execution: the
 * statement would be parsed and planned again each time, which costs several times its execution. `+?` has the same value,
 * and also no affinity.
 */
export function withSteadyPlan(sql: string): string {
  return sql.replaceAll('?', '+?');
}
