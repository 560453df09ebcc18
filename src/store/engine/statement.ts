// What a verb yields: statements, one after another, each resumed with its result. An engine executes them.
import type { NewEvent } from '../../domain/sessions/journal-event.ts';
import type { RowKind } from './row.ts';

export type Value = string | number | bigint | Buffer | null;

/**
 * A statement, which is also a step: it is yielded itself, and resumed with its result. `get`: the first row or undefined,
 * `all`: every row, `run`: nothing, `count`: how many rows changed, `insert`: the new row's integer key.
 */
export class Statement<Result> implements Iterator<Asked, Result, unknown> {
  readonly kind: 'get' | 'all' | 'run' | 'count' | 'insert';
  readonly sql: string;
  readonly values: readonly Value[];
  /** Of `get` and `all`: what its rows are. A statement has the same kind each time. */
  readonly rows: RowKind<unknown> | undefined;
  #yielded = false;

  constructor(kind: Statement<Result>['kind'], sql: string, values: readonly Value[], rows?: RowKind<unknown>) {
    this.kind = kind;
    this.sql = sql;
    this.values = values;
    this.rows = rows;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(result: unknown): IteratorResult<Asked, Result> {
    if (this.#yielded) return { done: true, value: result as Result };
    this.#yielded = true;
    return { done: false, value: this };
  }

  throw(error: unknown): never {
    throw error;
  }
}

/** Several statements that rest on nothing of each other are resumed with all their results. */
export type Asked = Statement<unknown> | readonly Statement<unknown>[];

/**
 * A verb or a part of one, run by `yield*`; merely calling it does nothing. It can only wait for its statements, so an
 * engine may run it to its end at once.
 */
export type Step<Result> = Iterable<Asked, Result, unknown>;

/** Runs steps that rest on nothing of each other, side by side: each round of their statements is waited for once. */
export function* together<Result>(steps: readonly Step<Result>[]): Step<Result[]> {
  const verbs = steps.map((step) => step[Symbol.iterator]());
  const states = verbs.map((verb) => verb.next(undefined));
  for (;;) {
    const asked = states.map((state) => (state.done === true ? [] : [state.value].flat()));
    const all = asked.flat();
    if (all.length === 0) return states.map(({ value }) => value as Result);
    const answers = (yield all) as readonly unknown[];
    let at = 0;
    for (const [place, state] of states.entries()) {
      if (state.done === true) continue;
      const own = answers.slice(at, (at += asked[place]!.length));
      states[place] = verbs[place]!.next(isList(state.value) ? own : own[0]);
    }
  }
}

const isList = (asked: Asked): asked is readonly Statement<unknown>[] => Array.isArray(asked);

/** What is asked, answered one by one. */
export function answersOf(asked: Asked, answer: (statement: Statement<unknown>) => unknown): unknown {
  return isList(asked) ? asked.map(answer) : answer(asked);
}

/** Reads rows, whose fields are the columns in camel case. */
export interface Reader {
  get<Row>(sql: string, ...values: Value[]): Step<Row | undefined>;
  all<Row>(sql: string, ...values: Value[]): Step<Row[]>;
  /** Reads rows of a kind: some of their columns are more than plain values. */
  rows<Row>(kind: RowKind<Row>): RowReader<Row>;
}

/** Reads rows of one kind. */
export interface RowReader<Row> {
  get(sql: string, ...values: Value[]): Step<Row | undefined>;
  all(sql: string, ...values: Value[]): Step<Row[]>;
}

/** What a write verb may do inside its transaction. */
export interface Transaction extends Reader {
  /**
   * The one wall time of this verb, epoch ms, by this process. Times that several processes compare are the database's: a statement has
   * them as `database_now()` (L3).
   */
  readonly now: number;
  /** Its result is nothing, so that an engine need not wait for it before the next statement. */
  run(sql: string, ...values: Value[]): Step<void>;
  count(sql: string, ...values: Value[]): Step<number>;
  insert(sql: string, ...values: Value[]): Step<number>;
  /** Adds an event to the journal, written when the verb has ended and published only after the commit. Not a step. */
  emit(sessionSeq: number, runSeq: number | null, event: NewEvent): void;
  /** Has something done once the verb is committed, by this process alone, and before its caller knows its result. Not a step. */
  afterCommit(work: () => void): void;
}

/** An event as its verb emitted it. */
export interface Emitted {
  readonly sessionSeq: number;
  readonly runSeq: number | null;
  readonly event: NewEvent;
}

class StepReader implements Reader {
  get<Row>(sql: string, ...values: Value[]): Step<Row | undefined> {
    return new Statement<Row | undefined>('get', sql, values);
  }

  all<Row>(sql: string, ...values: Value[]): Step<Row[]> {
    return new Statement<Row[]>('all', sql, values);
  }

  rows<Row>(kind: RowKind<Row>): RowReader<Row> {
    return {
      get: (sql, ...values) => new Statement<Row | undefined>('get', sql, values, kind),
      all: (sql, ...values) => new Statement<Row[]>('all', sql, values, kind),
    };
  }
}

export const READER: Reader = new StepReader();

/** A transaction with one timestamp. */
export class StepTransaction extends StepReader implements Transaction {
  readonly now: number;
  /** In order. */
  readonly emitted: Emitted[] = [];
  /** What is done once it is committed, in order. */
  readonly afterwards: (() => void)[] = [];

  constructor(now: number) {
    super();
    this.now = now;
  }

  run(sql: string, ...values: Value[]): Step<void> {
    return new Statement<void>('run', sql, values);
  }

  count(sql: string, ...values: Value[]): Step<number> {
    return new Statement<number>('count', sql, values);
  }

  insert(sql: string, ...values: Value[]): Step<number> {
    return new Statement<number>('insert', sql, values);
  }

  emit(sessionSeq: number, runSeq: number | null, event: NewEvent): void {
    this.emitted.push({ sessionSeq, runSeq, event });
  }

  afterCommit(work: () => void): void {
    this.afterwards.push(work);
  }
}
