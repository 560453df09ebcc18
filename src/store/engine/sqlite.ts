// SQLite as an engine: runs a verb to its end in one turn of the event loop, so that verbs never interleave.
import type Connection from 'better-sqlite3';
import { withSteadyPlan } from './planner.ts';
import { READER, type Reader, type Statement, type Step } from './statement.ts';

export type Statements = (sql: string) => Connection.Statement;

/** Prepares each statement once. */
export function cacheStatements(connection: Connection.Database): Statements {
  const cache = new Map<string, Connection.Statement>();
  return (sql) => {
    let statement = cache.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(withSteadyPlan(sql));
      cache.set(sql, statement);
    }
    return statement;
  };
}

/** Executes a verb. Errors of SQLite are thrown at the statement that the verb has yielded. */
export function carryOut<Result>(statements: Statements, step: Step<Result>): Result {
  const verb = step[Symbol.iterator]();
  let next = verb.next(undefined);
  while (next.done !== true) {
    let result: unknown;
    try {
      result = execute(statements(next.value.sql), next.value);
    } catch (error) {
      next = verb.throw!(error);
      continue;
    }
    next = verb.next(result);
  }
  return next.value;
}

/** Executes a verb that only reads on a connection of its own. */
export function readOn<Result>(connection: Connection.Database, verb: (tx: Reader) => Step<Result>): Result {
  return carryOut(cacheStatements(connection), verb(READER));
}

function execute(prepared: Connection.Statement, { kind, values }: Statement<unknown>): unknown {
  if (kind === 'get') return prepared.get(...values);
  if (kind === 'all') return prepared.all(...values);
  const { changes, lastInsertRowid } = prepared.run(...values);
  return kind === 'run' ? changes : Number(lastInsertRowid);
}
