// SQLite as an engine: runs a verb to its end in one turn of the event loop, so that verbs never interleave.
import type Connection from 'better-sqlite3';
import { withSteadyPlan } from './planner.ts';
import { makeRowMapper, type RowKind, type RowMapper } from '../row.ts';
import { answersOf, READER, type Reader, type Statement, type Step, type Value } from '../statement.ts';

/** A prepared statement, and what makes rows of its results if it has any. */
interface Prepared {
  readonly statement: Connection.Statement;
  readonly toRow: RowMapper;
}

export type Statements = (sql: string, rows?: RowKind<unknown>) => Prepared;

/** Prepares each statement once. */
export function cacheStatements(connection: Connection.Database): Statements {
  const cache = new Map<string, Prepared>();

  function prepare(sql: string, rows: RowKind<unknown> | undefined): Prepared {
    const statement = connection.prepare(withSteadyPlan(sql));
    if (!statement.reader) return { statement, toRow: NO_ROWS };
    const names = statement.columns().map(({ name }) => name);
    return { statement: statement.raw(), toRow: makeRowMapper(names, rows) };
  }

  return (sql, rows) => {
    let prepared = cache.get(sql);
    if (prepared === undefined) {
      prepared = prepare(sql, rows);
      cache.set(sql, prepared);
    }
    return prepared;
  };
}

const NO_ROWS: RowMapper = () => {
  throw new Error('The statement returns no rows.');
};

/** Executes a verb. Errors of SQLite are thrown at the statement that the verb has yielded. */
export function carryOut<Result>(statements: Statements, step: Step<Result>): Result {
  const verb = step[Symbol.iterator]();
  const answer = (statement: Statement<unknown>) => execute(statements(statement.sql, statement.rows), statement);
  let next = verb.next(undefined);
  while (next.done !== true) {
    let result: unknown;
    try {
      result = answersOf(next.value, answer);
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

/** The rows of a statement, one after another, on a connection of its own. */
export function* iterateOn<Row>(connection: Connection.Database, kind: RowKind<Row>, sql: string): Iterable<Row> {
  const { statement, toRow } = cacheStatements(connection)(sql, kind);
  for (const values of statement.iterate()) yield toRow(values as readonly Value[]) as Row;
}

function execute({ statement, toRow }: Prepared, { kind, values }: Statement<unknown>): unknown {
  if (kind === 'get') {
    const found = statement.get(...values) as readonly Value[] | undefined;
    return found && toRow(found);
  }
  if (kind === 'all') return (statement.all(...values) as readonly (readonly Value[])[]).map(toRow);
  const { changes, lastInsertRowid } = statement.run(...values);
  if (kind === 'insert') return Number(lastInsertRowid);
  return kind === 'count' ? changes : undefined;
}
