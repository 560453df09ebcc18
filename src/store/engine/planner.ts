// What SQLite's planner gets to know. A plan must not depend on what a store held once, nor on the values of one execution.
import type { Database as Connection } from 'better-sqlite3';

/** Where `ANALYZE` and `PRAGMA optimize` keep what they counted. */
const STATISTICS = "SELECT name FROM sqlite_master WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";

/**
 * Removes the planner's statistics from a file. They tell of the store as it was when somebody took them, and are never
 * brought up to date: after those of an almost empty store, whole tables are read in place of indexes. Answers whether
 * there were any: then the file has to be opened anew, because this connection goes on with what it has read.
 */
export function dropStatistics(connection: Connection): boolean {
  const tables = connection.prepare<[], { name: string }>(STATISTICS).all();
  for (const { name } of tables) connection.exec(`DROP TABLE ${name}`);
  return tables.length > 0;
}

/**
 * The text that is prepared for a statement: each parameter as an expression. Where a bare `?` meets an indexed column
 * or is a limit, SQLite plans by its value, and better-sqlite3 clears the values after each execution: the statement
 * would be parsed and planned anew each time, which costs several times its execution. `+?` has the same value, and no
 * affinity either.
 */
export function withSteadyPlan(sql: string): string {
  return sql.replaceAll('?', '+?');
}
