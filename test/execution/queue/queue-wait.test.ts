// The watch over waits in the queue: background runs that no worker takes fail at their time.
import { expect, test } from 'vitest';
import type { Settings } from '../../../src/domain/settings.ts';
import { makeQueueWait } from '../../../src/execution/queue/queue-wait.ts';
import type { Service } from '../../../src/services/service.ts';
import { makeLog } from '../../../src/log/log.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const BACKGROUND = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };
const withLimit = (queueWaitSeconds: number): Settings => ({
  ...SETTINGS,
  background: { ...SETTINGS.background, queueWaitSeconds },
});

function watchOver(fixture: StoreFixture, settings: () => Settings) {
  const log = makeLog({ level: 'fatal' });
  return makeQueueWait({ store: fixture.store, clock: fixture.clock, log, settings });
}

const statusOf = async (fixture: StoreFixture, { seq }: { seq: number }) => (await fixture.store.runs.get(seq)).status;

test('a background run fails when it has waited for its time, and an ordinary one waits on', async () => {
  const fixture = await storeFixture();
  const ordinary = await fixture.accept();
  const run = await fixture.accept({ background: BACKGROUND });
  const watch = watchOver(fixture, () => withLimit(60));
  watch.wake();
  await watch.settled();
  for (let second = 0; second < 59; second += 1) {
    fixture.clock.advance(1_000);
    await watch.settled();
  }
  expect(await statusOf(fixture, run)).toBe('queued');
  fixture.clock.advance(1_000);
  await waitFor(async () => (await statusOf(fixture, run)) === 'failed');
  await watch.stop();
  expect(await statusOf(fixture, ordinary)).toBe('queued');
});

/** Lets time pass second by second, with what is done in each. */
async function pass({ clock }: Pick<StoreFixture, 'clock'>, watch: Service, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await watch.settled();
  }
}

test('each run has its whole wait, also one that came while another waited, whatever the wall clock says', {
  tags: ['§3.1-queue-time-out', '§7-queue-time-out', '§8-queue-wait'],
}, async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept({ background: BACKGROUND });
  const watch = watchOver(fixture, () => withLimit(60));
  watch.wake();
  await watch.settled();
  await pass(fixture, watch, 30);
  const second = await fixture.accept({ background: BACKGROUND });
  watch.wake();
  await watch.settled();
  fixture.clock.jump(7 * 24 * 3_600_000);
  await pass(fixture, watch, 29);
  expect(await statusOf(fixture, first)).toBe('queued');
  await pass(fixture, watch, 1);
  expect([await statusOf(fixture, first), await statusOf(fixture, second)]).toEqual(['failed', 'queued']);
  await pass(fixture, watch, 29);
  expect(await statusOf(fixture, second)).toBe('queued');
  await pass(fixture, watch, 1);
  expect(await statusOf(fixture, second)).toBe('failed');
  await watch.stop();
});

test('of many runs that come in a long wait, none ends early, and none later than a thousandth of it', async () => {
  const fixture = await storeFixture();
  const watch = watchOver(fixture, () => withLimit(10_000));
  const limits = { ...BACKGROUND.limits, capacity: 100 };
  const accept = async () => fixture.accept({ key: await fixture.makeKey(), background: { payload: null, limits } });
  const runs = [];
  for (let second = 0; second < 9; second += 1) {
    runs.push(await accept());
    watch.wake();
    await watch.settled();
    await pass(fixture, watch, 1);
  }
  // Marks of the first second and after ten: what came between is covered by the later one.
  await pass(fixture, watch, 9_990);
  expect(await statusOf(fixture, runs[0]!)).toBe('queued');
  await pass(fixture, watch, 1);
  expect(await Promise.all(runs.map((run) => statusOf(fixture, run)))).toEqual(['failed', ...Array(8).fill('queued')]);
  await pass(fixture, watch, 9);
  expect(await statusOf(fixture, runs[8]!)).toBe('queued');
  await pass(fixture, watch, 1);
  expect(await Promise.all(runs.map((run) => statusOf(fixture, run)))).toEqual(Array(9).fill('failed'));
  await watch.stop();
});

test('a run that waits through an outage has its whole wait again after it', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept({ background: BACKGROUND });
  const before = watchOver(fixture, () => withLimit(60));
  before.wake();
  await before.settled();
  await pass(fixture, before, 50);
  await before.stop();
  await fixture.store.runs.rescue('here');
  const watch = watchOver(fixture, () => withLimit(60));
  watch.wake();
  await watch.settled();
  await pass(fixture, watch, 59);
  expect(await statusOf(fixture, run)).toBe('queued');
  await pass(fixture, watch, 1);
  expect(await statusOf(fixture, run)).toBe('failed');
  await watch.stop();
});

test('a shorter limit is noticed within five seconds', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept({ background: BACKGROUND });
  let limit = 3_600;
  const watch = watchOver(fixture, () => withLimit(limit));
  watch.wake();
  await watch.settled();
  limit = 1;
  fixture.clock.advance(5_000);
  await waitFor(async () => (await statusOf(fixture, run)) === 'failed');
  await watch.stop();
});
