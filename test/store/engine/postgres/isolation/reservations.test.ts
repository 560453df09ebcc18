// A reservation reads while calls are recorded and let go: whenever that happens, what they have used is spent or held, never neither.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeReservations } from '../../../../../src/store/budgets/reserve.ts';
import { makeBudgetKit } from '../../../../../src/store/budgets/budget-kit.ts';
import type { Database } from '../../../../../src/store/engine/database.ts';
import type { Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { carryOut, makePipeline } from '../../../../../src/store/engine/postgres/statements/execute.ts';
import { READER } from '../../../../../src/store/engine/statement.ts';
import { makeRecordProgress } from '../../../../../src/store/lifecycle/record-progress.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { patientConnection } from '../../../../support/postgres/patient-connection.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { openRows } from '../../../../support/store/open-store.ts';
import { aSpentCall, fenceOf, FREE, storeFixture } from '../../../../support/store/store-fixture.ts';

const USAGE = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const CALL = { most: { tokens: 1_000, usd: 0 }, prompt: { model: 'm', inputTokens: 1, costUsd: 0 } };

/** Of a reservation. */
const STATEMENTS = 3;

/** Reads as the engine does, and calls back before each statement, and behind the last. */
function readSlowly(connection: Connection, at: (statement: number) => Promise<void>): Database['read'] {
  return (verb) =>
    async (...args) => {
      await connection.say('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const pipeline = makePipeline(connection);
      let count = 0;
      const result = await carryOut(
        {
          ...pipeline,
          ask: async (statement, values) => {
            await at(count);
            count += 1;
            return pipeline.ask(statement, values);
          },
        },
        verb(READER, ...args),
      );
      await at(count);
      await connection.say('COMMIT');
      return result;
    };
}

test('a call that is recorded and let go between any statements of a reservation counts once', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const fixture = await storeFixture(file);
  const { store, user, clock } = fixture;
  const terms = { subject: 'user', unit: 'tokens', period: 'month', timeZone: 'UTC' } as const;
  const payer = { keySeq: null, userSeq: user.seq, teamId: null };
  const database = openRows(file, clock);
  onTestFinished(() => database.close());
  const connection = await patientConnection(databaseFor(file));
  await fixture.accept();
  await fixture.accept();
  const [one, other] = (await fixture.claim(2)).map((run) => fenceOf(run));
  const order = { now: clock.now(), awaited: new Set<number>() };

  let limit = 0;
  for (let recorded = 0; recorded <= STATEMENTS; recorded += 1) {
    for (let released = recorded; released <= STATEMENTS; released += 1) {
      // Leaves room for one call.
      limit += 1_000;
      await store.budgets.set({ ...terms, payer, limit }, clock.now);
      const kit = makeBudgetKit(database);
      const { recordSpent } = makeRecordProgress(database, kit);
      const [granted] = await makeReservations(database, kit).reserve([{ ...one!, ...CALL }], order);
      if (granted?.kind !== 'granted') throw new Error(granted?.kind);
      const seen: number[] = [];
      const read = readSlowly(connection, async (statement) => {
        seen.push(statement);
        if (statement === recorded) await recordSpent(one!, aSpentCall(USAGE), FREE);
        if (statement === released) kit.held.release(granted.held!);
      });
      const [slow] = await makeReservations({ ...database, read }, kit).reserve([{ ...other!, ...CALL }], order);
      expect(seen.at(-1)).toBe(STATEMENTS);
      expect(slow!.kind, `${recorded}, ${released}`).not.toBe('granted');
      const [later] = await makeReservations(database, kit).reserve([{ ...other!, ...CALL }], order);
      expect(later!.kind).toBe('used up');
    }
  }
});
