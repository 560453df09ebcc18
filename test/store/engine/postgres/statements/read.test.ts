// Verbs that read while the server is away.
import { expect, test } from 'vitest';
import { NO_ALARMS } from '../../../../../src/store/engine/database.ts';
import type { Answer, Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeHealth } from '../../../../../src/store/engine/postgres/connections/health.ts';
import type { Pool } from '../../../../../src/store/engine/postgres/connections/pool.ts';
import { makeRead } from '../../../../../src/store/engine/postgres/statements/read.ts';
import type { Reader, Step } from '../../../../../src/store/engine/statement.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

const LOST = new Error('Connection terminated unexpectedly');
const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A verb on a server that is away for the first tries. */
function reading({ awayFor }: { readonly awayFor: number }) {
  const clock = fakeClock();
  const health = makeHealth('errand', NO_ALARMS);
  let tries = 0;
  const use: Pool['use'] = async (work) => {
    tries += 1;
    if (tries <= awayFor) throw AWAY;
    return work({} as Connection);
  };
  const read = makeRead({ pool: { use } as Pool, health, clock });
  // oxlint-disable-next-line require-yield
  const verb = read(function* (_tx: Reader): Step<string> {
    return 'read';
  });
  return { clock, health, tries: () => tries, verb };
}

/** A verb that goes on where its last statement fails, once; it sends some before that. */
function goingOn({ before }: { readonly before: number }) {
  let sent = 0;
  const none: Answer = { columns: [], rows: [], count: 0, command: 'SELECT' };
  const connection = {
    say: async () => none,
    ask: async ({ text }: { readonly text: string }) => {
      if (!text.endsWith('2')) return none;
      sent += 1;
      if (sent === 1) throw LOST;
      return none;
    },
  } as unknown as Connection;
  const pool = { use: (work) => work(connection) } satisfies Pick<Pool, 'use'>;
  const read = makeRead({ pool: pool as Pool, health: makeHealth('errand', NO_ALARMS), clock: fakeClock() });
  return read(function* (tx: Reader): Step<string> {
    for (let no = 0; no < before; no += 1) yield* tx.all('SELECT 1');
    try {
      yield* tx.all('SELECT 2');
    } catch {
      return 'without it';
    }
    return 'whole';
  });
}

/** Lets what is due happen. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a read waits for a server that comes back, and for its second try not at all', async () => {
  const once = reading({ awayFor: 1 });
  expect(await once.verb()).toBe('read');
  const often = reading({ awayFor: 4 });
  const result = often.verb();
  for (let at = 0; at < 10; at += 1) {
    await turn();
    often.clock.advance(100);
  }
  expect(await result).toBe('read');
  expect(often.health.fault()).toBe(null);
});

test.each([0, 2])(
  'a verb that went on after a statement had failed is begun again: behind %s others',
  async (before) => {
    expect(await goingOn({ before })()).toBe('whole');
  },
);

test('a server that stays away is reported, and the reads after that wait no more', async () => {
  const { clock, health, tries, verb } = reading({ awayFor: Infinity });
  const refused = expect(verb()).rejects.toMatchObject({ reason: 'unavailable' });
  for (let at = 0; at < 60; at += 1) {
    await turn();
    clock.advance(100);
  }
  await refused;
  expect(health.fault()).toContain('not reachable');
  const before = tries();
  await expect(verb()).rejects.toMatchObject({ reason: 'unavailable' });
  expect(tries() - before).toBe(2);
});
