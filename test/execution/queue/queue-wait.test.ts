// The watch over waits in the queue: background runs that no worker takes fail at their time.
import { expect, test } from 'vitest';
import type { Settings } from '../../../src/domain/settings.ts';
import { makeQueueWait } from '../../../src/execution/queue/queue-wait.ts';
import type { Service } from '../../../src/services/service.ts';
import { makeLog } from '../../../src/log/log.ts';
import { SETTINGS } from '../../support/http/http-house.ts';
import { type StoreHouse, storeHouse } from '../../support/store/store-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const BACKGROUND = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };
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

/** Lets time pass second by second, with what is done in each. */
async function pass({ clock }: Pick<StoreHouse, 'clock'>, watch: Service, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await watch.settled();
  }
}

test('each run has its whole wait, also one that came while another waited, whatever the wall clock says', {
  tags: ['§3.1-queue-time-out', '§7-queue-time-out', '§8-queue-wait'],
}, async () => {
  const house = await storeHouse();
  const first = await house.accept({ background: BACKGROUND });
  const watch = watchOver(house, () => withLimit(60));
  watch.wake();
  await watch.settled();
  await pass(house, watch, 30);
  const second = await house.accept({ background: BACKGROUND });
  watch.wake();
  await watch.settled();
  house.clock.jump(7 * 24 * 3_600_000);
  await pass(house, watch, 29);
  expect(await statusOf(house, first)).toBe('queued');
  await pass(house, watch, 1);
  expect([await statusOf(house, first), await statusOf(house, second)]).toEqual(['failed', 'queued']);
  await pass(house, watch, 29);
  expect(await statusOf(house, second)).toBe('queued');
  await pass(house, watch, 1);
  expect(await statusOf(house, second)).toBe('failed');
  await watch.stop();
});

test('of many runs that come in a long wait, none ends early, and none later than a thousandth of it', async () => {
  const house = await storeHouse();
  const watch = watchOver(house, () => withLimit(10_000));
  const limits = { ...BACKGROUND.limits, capacity: 100 };
  const accept = async () => house.accept({ key: await house.makeKey(), background: { payload: null, limits } });
  const runs = [];
  for (let second = 0; second < 9; second += 1) {
    runs.push(await accept());
    watch.wake();
    await watch.settled();
    await pass(house, watch, 1);
  }
  // Marks of the first second and after ten: what came between is covered by the later one.
  await pass(house, watch, 9_990);
  expect(await statusOf(house, runs[0]!)).toBe('queued');
  await pass(house, watch, 1);
  expect(await Promise.all(runs.map((run) => statusOf(house, run)))).toEqual(['failed', ...Array(8).fill('queued')]);
  await pass(house, watch, 9);
  expect(await statusOf(house, runs[8]!)).toBe('queued');
  await pass(house, watch, 1);
  expect(await Promise.all(runs.map((run) => statusOf(house, run)))).toEqual(Array(9).fill('failed'));
  await watch.stop();
});

test('a run that waits through an outage has its whole wait again after it', async () => {
  const house = await storeHouse();
  const run = await house.accept({ background: BACKGROUND });
  const before = watchOver(house, () => withLimit(60));
  before.wake();
  await before.settled();
  await pass(house, before, 50);
  await before.stop();
  await house.store.runs.rescue();
  const watch = watchOver(house, () => withLimit(60));
  watch.wake();
  await watch.settled();
  await pass(house, watch, 59);
  expect(await statusOf(house, run)).toBe('queued');
  await pass(house, watch, 1);
  expect(await statusOf(house, run)).toBe('failed');
  await watch.stop();
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
