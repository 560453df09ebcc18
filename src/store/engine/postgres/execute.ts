// PostgreSQL as an engine: runs a verb on one connection. It waits only for statements whose answers the verb needs.
import { makeRowMapper, type RowKind, type RowMapper } from '../row.ts';
import type { Statement, Step } from '../statement.ts';
import type { Answer, Connection, NamedText } from './connection.ts';
import { translate } from './dialect.ts';
import { keyOf } from './schema.ts';

/** A statement as it is sent, and what makes rows of its answers: known from the first one on. */
interface Prepared extends NamedText {
  toRow: RowMapper | undefined;
}

/** Statements by the text that a verb gives, for all connections. */
const prepared = new Map<string, Prepared>();

/** The text and the name of a verb's statement. `returnsKey`: it inserts a row, whose number is wanted. */
export function prepare(sql: string, returnsKey = false): Prepared {
  let found = prepared.get(sql);
  if (found === undefined) {
    const text = returnsKey ? `${sql} RETURNING ${keyOf(/INSERT INTO (\w+)/.exec(sql)![1]!)}` : sql;
    found = { name: `s${prepared.size}`, text: translate(text), toRow: undefined };
    prepared.set(sql, found);
  }
  return found;
}

/** Statements that were sent one after another; the first that fails is why all behind it fail. */
export interface Pipeline {
  /** Resolves with the answer; rejects with the error of the first statement that failed. */
  ask(statement: NamedText, values: Statement<unknown>['values']): Promise<Answer>;
  /** The same, for statements of the engine itself. */
  say(text: string): Promise<Answer>;
  /** Sends a statement that isn't waited for. */
  send(statement: NamedText, values: Statement<unknown>['values']): void;
  /** The first error that an answer brought; undefined without. */
  failure(): unknown;
}

export function makePipeline(connection: Connection): Pipeline {
  let failure: unknown;
  const failed = (error: unknown): never => {
    failure ??= error;
    throw failure;
  };
  return {
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
  let next = verb.next(undefined);
  while (next.done !== true) {
    const { kind, sql, values, rows } = next.value;
    const statement = prepare(sql, kind === 'insert');
    if (kind === 'run') {
      pipeline.send(statement, values);
      next = verb.next(undefined);
      continue;
    }
    let answer: Answer;
    try {
      answer = await pipeline.ask(statement, values);
    } catch (error) {
      next = verb.throw!(error);
      continue;
    }
    next = verb.next(resultOf(kind, statement, answer, rows));
  }
  return next.value;
}

function resultOf(kind: string, statement: Prepared, answer: Answer, kindOfRows: RowKind<unknown> | undefined) {
  if (kind === 'count') return answer.count;
  if (kind === 'insert') return answer.rows[0]![0];
  const toRow = (statement.toRow ??= makeRowMapper(answer.columns, kindOfRows));
  if (kind === 'all') return answer.rows.map(toRow);
  const [first] = answer.rows;
  return first && toRow(first);
}
