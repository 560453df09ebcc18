// Verbs that read while the server is away.
import { expect, test } from 'vitest';
import { NO_ALARMS } from '../../../../../src/store/engine/database.ts';
import type { Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeHealth } from '../../../../../src/store/engine/postgres/connections/health.ts';
import type { Pool } from '../../../../../src/store/engine/postgres/connections/pool.ts';
import { makeRead } from '../../../../../src/store/engine/postgres/statements/read.ts';
import type { Reader, Step } from '../../../../../src/store/engine/statement.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

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
