// SQLite as an engine: runs a verb to its end in one turn of the event loop, so that verbs never interleave.
import type Connection from 'better-sqlite3';
import { withSteadyPlan } from './planner.ts';
import { makeRowMapper, type RowMapper, type RowType } from './row-type.ts';
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

function execute(prepared: Connection.Statement, { kind, values, rowType }: Statement<unknown>): unknown {
  if (kind === 'get') {
    const row = prepared.get(...values) as object | undefined;
    return row === undefined || rowType === undefined ? row : mapperOf(prepared, rowType)(row);
  }
  if (kind === 'all') {
    const rows = prepared.all(...values) as object[];
    return rowType === undefined ? rows : rows.map(mapperOf(prepared, rowType));
  }
  const { changes, lastInsertRowid } = prepared.run(...values);
  return kind === 'run' ? changes : Number(lastInsertRowid);
}

/** By statement; one is read as rows of one type. */
const mappers = new WeakMap<Connection.Statement, { readonly rowType: RowType<unknown>; readonly map: RowMapper }>();

function mapperOf(prepared: Connection.Statement, rowType: RowType<unknown>): RowMapper {
  const known = mappers.get(prepared);
  if (known?.rowType === rowType) return known.map;
  const map = makeRowMapper(
    prepared.columns().map(({ name }) => name),
    rowType,
  );
  mappers.set(prepared, { rowType, map });
  return map;
}
