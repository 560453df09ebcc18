// The connections that read: verbs that only read share a few of them.
import type { Database } from '../database.ts';
import { READER, type Statement, type Step } from '../statement.ts';
import type { Connection } from './connection.ts';
import { carryOut, makePipeline, type Pipeline } from './execute.ts';
import { faultKindOf, refusalOf } from './faults.ts';
import type { Health } from './health.ts';

export interface ReaderFigures {
  readonly open: number;
  readonly busy: number;
  readonly waiting: number;
}

export interface Readers {
  readonly read: Database['read'];
  figures(): ReaderFigures;
  close(): Promise<void>;
}

interface Parts {
  readonly health: Health;
  readonly most: number;
  open(): Promise<Connection>;
}

/** Statements of one verb see one state of the rows. */
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

export function makeReaders({ health, most, open }: Parts): Readers {
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let count = 0;

  async function take(): Promise<Connection> {
    for (;;) {
      const found = idle.pop();
      if (found !== undefined && !found.isLost()) return found;
      if (found !== undefined) {
        count -= 1;
        continue;
      }
      if (count >= most) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      count += 1;
      try {
        return await open();
      } catch (error) {
        count -= 1;
        waiting.shift()?.();
        throw error;
      }
    }
  }

  function give(connection: Connection): void {
    if (connection.isLost()) count -= 1;
    else idle.push(connection);
    waiting.shift()?.();
  }

  async function readOnce<Result>(make: () => Step<Result>, alone: boolean): Promise<Result | typeof SEVERAL> {
    const connection = await take();
    try {
      return alone ? await readAlone(makePipeline(connection), make()) : await readTogether(connection, make());
    } finally {
      give(connection);
    }
  }

  const read: Database['read'] = (verb) => {
    // Most verbs read with one statement, which sees one state by itself. Others are known once they were carried out.
    let isAlone = true;
    return async (...args) => {
      const make = () => verb(READER, ...args);
      for (let tries = 1; ; tries += 1) {
        try {
          const result = await readOnce(make, isAlone);
          if (result !== SEVERAL) return result;
          isAlone = false;
        } catch (error) {
          if (faultKindOf(error) === 'away' && tries === 1) continue;
          health.failed(error);
          throw refusalOf(error);
        }
      }
    };
  };

  return {
    read,
    figures: () => ({ open: count, busy: count - idle.length, waiting: waiting.length }),
    close: async () => {
      await Promise.all(idle.map((connection) => connection.close().catch(() => undefined)));
    },
  };
}

/** A verb needs several statements. */
const SEVERAL = Symbol('several');

/** Carries out a verb of one statement; `SEVERAL`, with nothing done, when it wants another one. */
async function readAlone<Result>(pipeline: Pipeline, step: Step<Result>): Promise<Result | typeof SEVERAL> {
  let isFirst = true;
  function* first(): Generator<Statement<unknown>, Result | typeof SEVERAL, unknown> {
    const verb = step[Symbol.iterator]();
    let next = verb.next(undefined);
    while (next.done !== true) {
      if (!isFirst) return SEVERAL;
      isFirst = false;
      next = verb.next(yield next.value);
    }
    return next.value;
  }
  return carryOut(pipeline, { [Symbol.iterator]: first });
}

/** Carries out a verb in a transaction, whose end isn't waited for. */
async function readTogether<Result>(connection: Connection, step: Step<Result>): Promise<Result> {
  const pipeline = makePipeline(connection);
  pipeline.say(BEGIN).catch(() => undefined);
  try {
    return await carryOut(pipeline, step);
  } finally {
    connection.say('COMMIT').catch(() => undefined);
  }
}
