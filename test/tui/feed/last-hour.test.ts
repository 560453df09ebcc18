import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { makeLastHour } from '../../../src/tui/feed/last-hour.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type Action, initialState } from '../../../src/tui/state/state.ts';
import { aSnapshot, AT } from '../../support/http/office-server.ts';

/** A reader over a daemon whose answers the test gives. */
function reading() {
  let state = initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT);
  let now = AT;
  const asked: PromiseWithResolvers<never>[] = [];
  const client = {
    office: {
      lastHour: () => {
        asked.push(Promise.withResolvers<never>());
        return asked.at(-1)!.promise;
      },
    },
  } as unknown as Client;
  const dispatch = (action: Action) => void (state = reduce(state, action));
  const read = makeLastHour({ client, get: () => state, dispatch, now: () => now });
  const load = () => dispatch({ type: 'snapshot', snapshot: aSnapshot([]), queue: null, limit: 96, at: now });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async () => {
    asked.at(-1)!.resolve({ generated_at: '', step_seconds: 900, teams: [] } as never);
    await settled();
  };
  const refuse = async (error: Error) => {
    asked.at(-1)!.reject(error);
    await settled();
  };
  return { read, load, answer, refuse, asked, pass: (ms: number) => void (now += ms) };
}

test('the last hour is read once there are teams, one read at a time, and not again while nothing is missed', async () => {
  const { read, load, answer, asked, pass } = reading();
  read();
  expect(asked).toHaveLength(0);
  load();
  read();
  read();
  expect(asked).toHaveLength(1);
  await answer();
  pass(60_000);
  load();
  read();
  expect(asked).toHaveLength(1);
  pass(10 * 60_000);
  load();
  read();
  expect(asked).toHaveLength(2);
});

test('a daemon that does not answer is asked again after a while, not all the time', async () => {
  const { read, load, refuse, asked, pass } = reading();
  load();
  read();
  await refuse(new ClientError({ kind: 'refused', status: 404 }, 'Not found.'));
  pass(29_000);
  read();
  expect(asked).toHaveLength(1);
  pass(1_000);
  read();
  expect(asked).toHaveLength(2);
});
