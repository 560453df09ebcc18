// PostgreSQL as an engine: runs a verb on one connection. It waits only for statements whose answers the verb needs.
import { makeRowMapper, type RowKind, type RowMapper } from '../../row.ts';
import { answersOf, type Statement, type Step, type Value } from '../../statement.ts';
import type { Answer, Connection, NamedText } from '../connections/connection.ts';
import { translate } from '../sql/dialect.ts';
import type { Keys } from './keys.ts';
import { keyOf } from '../sql/schema.ts';
import { fromPostgres, MARK_BYTES, toPostgres } from '../sql/text.ts';

/** A statement as it is sent, and what makes rows of its answers: known from the first one on. */
interface Prepared extends NamedText {
  toRow: RowMapper | undefined;
  /** How many columns that is for: another process may add some to a table. */
  width: number;
  /** Whether its bytes are those of text. */
  readonly hasBytesOfText: boolean;
  readonly namesEvents: boolean;
}

/** Statements by the text that a verb gives, for all connections. */
const prepared = new Map<string, Prepared>();

/** The text and the name of a verb's statement. */
export function prepare(sql: string, textOf = translate): Prepared {
  let found = prepared.get(sql);
  if (found === undefined) {
    found = {
      name: `s${prepared.size}`,
      text: textOf(sql),
      toRow: undefined,
      width: 0,
      hasBytesOfText: sql.includes(' AS BLOB)'),
      namesEvents: /\bevents\b/.test(sql),
    };
    prepared.set(sql, found);
  }
  return found;
}

/** Statements that were sent one after another; the first that fails is why all behind it fail. */
export interface Pipeline {
  readonly writing: Writing | null;
  /** Resolves with the answer; rejects with the error of the first statement that failed. */
  ask(statement: NamedText, values: Statement<unknown>['values']): Promise<Answer>;
  /** The same, for statements of the engine itself. */
  say(text: string): Promise<Answer>;
  /** Sends a statement that isn't waited for. */
  send(statement: NamedText, values: Statement<unknown>['values']): void;
  /** The first error that an answer brought; undefined without. */
  failure(): unknown;
}

/** Of those who write. */
interface Writing {
  readonly keys: Keys;
  /** Called before a statement that names the journal: it finds what verbs before it have added. */
  beforeEvents(): void;
}

export function makePipeline(connection: Connection, writing: Writing | null = null): Pipeline {
  let failure: unknown;
  const failed = (error: unknown): never => {
    failure ??= error;
    throw failure;
  };
  return {
    writing,
    ask: (statement, values) => connection.ask(statement, values).catch(failed),
    say: (text) => connection.say(text).catch(failed),
    send: (statement, values) => {
      connection.ask(statement, values).catch((error: unknown) => {
        failure ??= error;
      });
    },
    failure: () => failure,
  };
}

/** Executes a verb. Errors of the server are thrown at the statement that the verb waits for. */
export async function carryOut<Result>(pipeline: Pipeline, step: Step<Result>): Promise<Result> {
  const verb = step[Symbol.iterator]();
  const answer = (statement: Statement<unknown>) => execute(pipeline, statement);
  let next = verb.next(undefined);
  while (next.done !== true) {
    let result = answersOf(next.value, answer);
    if (Array.isArray(result)) result = Promise.all(result);
    if (result instanceof Promise) {
      try {
        result = await result;
      } catch (error) {
        next = verb.throw!(error);
        continue;
      }
    }
    next = verb.next(result);
  }
  return next.value;
}

/** The result, or a promise of it where it has to come from the server. */
function execute(pipeline: Pipeline, { kind, sql, values, rows }: Statement<unknown>): unknown {
  if (kind === 'insert') return insert(pipeline, sql, values);
  const statement = prepare(sql);
  if (statement.namesEvents) pipeline.writing?.beforeEvents();
  if (kind === 'run') return pipeline.send(statement, values);
  return pipeline.ask(statement, values).then((answer) => resultOf(kind, statement, answer, rows));
}

function resultOf(
  kind: Statement<unknown>['kind'],
  statement: Prepared,
  { columns, rows, count }: Answer,
  kindOfRows: RowKind<unknown> | undefined,
): unknown {
  if (kind === 'count') return count;
  if (statement.width !== columns.length) statement.toRow = undefined;
  statement.width = columns.length;
  const mapper = (statement.toRow ??= makeRowMapper(
    columns.map(({ name }) => name),
    kindOfRows,
  ));
  const toRow = statement.hasBytesOfText ? (row: (typeof rows)[number]) => mapper(row.map(bytesGiven)) : mapper;
  if (kind === 'all') return rows.map(toRow);
  const [first] = rows;
  return first && toRow(first);
}

const bytesGiven = (value: Value): Value =>
  Buffer.isBuffer(value) && value.includes(MARK_BYTES) ? Buffer.from(fromPostgres(value.toString())) : value;

const INSERT = /^INSERT INTO (\w+) \(/;

/** Text that is given in bytes is escaped as any other. */
const bytesStored = (value: Value): Value =>
  Buffer.isBuffer(value) && (value.includes(0) || value.includes(MARK_BYTES))
    ? Buffer.from(toPostgres(value.toString()))
    : value;

/** Adds a row, whose number is drawn ahead, or comes from the server. */
function insert(pipeline: Pipeline, sql: string, given: Statement<unknown>['values']): number | Promise<number> {
  const values = sql.includes(' AS BLOB) AS TEXT)') ? given.map(bytesStored) : given;
  const table = INSERT.exec(sql)![1]!;
  const drawn = pipeline.writing?.keys.take(table, pipeline);
  if (drawn === undefined) {
    const statement = prepare(sql, (text) => translate(`${text} RETURNING ${keyOf(table)!}`));
    return pipeline.ask(statement, values).then(({ rows }) => rows[0]![0] as number);
  }
  // Another text than that of the same statement without a number.
  const statement = prepare(`numbered ${sql}`, () =>
    translate(sql.replace(INSERT, (head) => `${head}${keyOf(table)!}, `).replace(/VALUES \(/, 'VALUES (?, ')),
  );
  const send = (number: number) => {
    pipeline.send(statement, [number, ...values]);
    return number;
  };
  return typeof drawn === 'number' ? send(drawn) : drawn.then(send);
}
