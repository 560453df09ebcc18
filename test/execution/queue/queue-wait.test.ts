// The watch over waits in the queue: background runs that no worker takes fail at their time.
import { expect, test } from 'vitest';
import type { Settings } from '../../../src/domain/settings.ts';
import { makeQueueWait } from '../../../src/execution/queue/queue-wait.ts';
import { makeLog } from '../../../src/log/log.ts';
import { SETTINGS } from '../../support/http/http-house.ts';
import { type StoreHouse, storeHouse } from '../../support/store/store-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const BACKGROUND = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9 } };
const withLimit = (queueWaitSeconds: number): Settings => ({
  ...SETTINGS,
  background: { ...SETTINGS.background, queueWaitSeconds },
});

function watchOver(house: StoreHouse, settings: () => Settings) {
  const log = makeLog({ level: 'fatal' });
  return makeQueueWait({ store: house.store, clock: house.clock, log, settings });
}

const statusOf = async (house: StoreHouse, { seq }: { seq: number }) => (await house.store.runs.get(seq)).status;

test('a background run fails when it has waited for its time, and an ordinary one waits on', async () => {
  const house = await storeHouse();
  const ordinary = await house.accept();
  const run = await house.accept({ background: BACKGROUND });
  const watch = watchOver(house, () => withLimit(60));
  watch.wake();
  await watch.settled();
  for (let second = 0; second < 59; second += 1) {
    house.clock.advance(1_000);
    await watch.settled();
  }
  expect(await statusOf(house, run)).toBe('queued');
  house.clock.advance(1_000);
  await waitFor(async () => (await statusOf(house, run)) === 'failed');
  await watch.stop();
  expect(await statusOf(house, ordinary)).toBe('queued');
});

test('a shorter limit is noticed within five seconds', async () => {
  const house = await storeHouse();
  const run = await house.accept({ background: BACKGROUND });
  let limit = 3_600;
  const watch = watchOver(house, () => withLimit(limit));
  watch.wake();
  await watch.settled();
  limit = 1;
  house.clock.advance(5_000);
  await waitFor(async () => (await statusOf(house, run)) === 'failed');
  await watch.stop();
});
