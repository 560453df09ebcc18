// The connections that read: verbs that only read share a few of them.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import type { Database } from '../../database.ts';
import { type Asked, READER, type Step } from '../../statement.ts';
import type { Connection } from '../connections/connection.ts';
import { carryOut, makePipeline, type Pipeline } from './execute.ts';
import { faultKindOf, refusalOf } from '../connections/faults.ts';
import type { Health } from '../connections/health.ts';
import type { Pool } from '../connections/pool.ts';

/** Statements of one verb see one state of the rows. */
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Until a verb whose connection was lost is tried again. */
const RETRY_MS = 100;

interface Parts {
  readonly pool: Pool;
  readonly health: Health;
  readonly clock: Clock;
}

/** Makes the verbs that only read. */
export function makeRead({ pool, health, clock }: Parts): Database['read'] {
  return (verb) => {
    // Most verbs read with one statement, which sees one state by itself. Others are known once they were carried out.
    let isAlone = true;
    const once = <Result>(step: Step<Result>) =>
      pool.use<Result | typeof SEVERAL>((connection) =>
        isAlone ? readAlone(makePipeline(connection), step) : readTogether(connection, step),
      );
    return async (...args) => {
      // One that was idle may have been lost long ago: the first failure says nothing of the server.
      for (let [isFirst, until] = [true, 0]; ; ) {
        try {
          const result = await once(verb(READER, ...args));
          if (result !== SEVERAL) return result;
          isAlone = false;
        } catch (error) {
          if (isFirst) until = clock.monotonic() + health.patienceMs();
          const mayRepeat = isFirst || clock.monotonic() < until;
          if (faultKindOf(error) !== 'away' || !mayRepeat) {
            health.failed(error);
            throw refusalOf(error);
          }
          if (!isFirst) await pauseAlive(clock, RETRY_MS);
          isFirst = false;
        }
      }
    };
  };
}

/** A verb needs several statements. */
const SEVERAL = Symbol('several');

/** Carries out a verb of one statement; `SEVERAL`, with nothing done, when it wants another one. */
async function readAlone<Result>(pipeline: Pipeline, step: Step<Result>): Promise<Result | typeof SEVERAL> {
  let isFirst = true;
  function* first(): Generator<Asked, Result | typeof SEVERAL, unknown> {
    const verb = step[Symbol.iterator]();
    let next = verb.next(undefined);
    while (next.done !== true) {
      if (!isFirst || Array.isArray(next.value)) return SEVERAL;
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
    const result = await carryOut(pipeline, step);
    // A verb that went on after an error of the server has not read what it answers.
    const failure = pipeline.failure();
    if (failure !== undefined) throw failure;
    return result;
  } finally {
    connection.say('COMMIT').catch(() => undefined);
  }
}
