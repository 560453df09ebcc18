// What a run has used of its time limit is the time that it had a worker: no queue, no outage, no clock that is set.
import { onTestFinished, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import type { ClaimedRun } from '../../../src/store/runs/claim-runs.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import {
  aStep,
  BACKGROUND_ORDER,
  fenceOf,
  FREE,
  type StoreHouse,
  storeHouse,
} from '../../support/store/store-house.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ORDER = { limit: 1, leaseMs: 60_000, background: BACKGROUND_ORDER, modelFor: () => 'scripted' };

/** The house's store as a daemon finds it that starts later, after a crash unless it was let go of before. */
async function startAgain(house: StoreHouse, downMs: number): Promise<Store> {
  await house.store.close();
  const store = openStore(house.file, fakeClock(house.clock.now() + downMs));
  onTestFinished(() => store.close());
  await store.runs.rescue();
  return store;
}

async function begin(house: StoreHouse): Promise<ClaimedRun> {
  await house.accept();
  const [run] = await house.claim();
  expect(run!.workedMs).toBe(0);
  return run!;
}

const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };

/** What each kind of progress keeps of the time until then. */
const KEEPERS: Readonly<Record<string, (house: StoreHouse, run: ClaimedRun) => Promise<unknown>>> = {
  'a reply of the model': ({ store }, run) => store.runs.recordStep(fenceOf(run), aStep(), FREE),
  'the result of a tool': ({ store }, run) => store.runs.recordToolResult(fenceOf(run), result),
  'what a sub-agent has used': ({ store }, run) => store.runs.recordSpent(fenceOf(run), aStep().usage, FREE),
  'the renewal of its lease': ({ store }, run) => store.runs.renewLeases([run.seq], 60_000),
  'a drain': ({ store }, run) => store.runs.interrupt(fenceOf(run), 'drain'),
  'the loss of its thread': ({ store }, run) => store.runs.interrupt(fenceOf(run), 'crash'),
};

test.each(Object.keys(KEEPERS))(
  '%s keeps what the run has used, and a night without a daemon adds nothing',
  async (by) => {
    const house = await storeHouse();
    const run = await begin(house);
    house.clock.advance(5 * MINUTE_MS);
    await KEEPERS[by]!(house, run);
    const store = await startAgain(house, DAY_MS / 3);
    const [again] = await store.runs.claim(ORDER);
    expect(again!.run).toMatchObject({ seq: run.seq, attempt: 2, workedMs: 5 * MINUTE_MS });
  },
);

test('the wait of a claimed run for its worker adds nothing, whatever comes meanwhile or ends it', async () => {
  const house = await storeHouse();
  const run = await begin(house);
  const fence = fenceOf(run);
  house.clock.advance(MINUTE_MS);
  expect(await house.store.runs.waitForWorker(fence)).toBe(true);
  for (let i = 0; i < 3; i += 1) {
    house.clock.advance(MINUTE_MS / 3);
    await house.store.runs.renewLeases([run.seq], 60_000);
  }
  await house.store.runs.interrupt(fence, 'drain');
  expect(await house.store.runs.beginWork(fence)).toBe(false);
  const [again] = await house.claim();
  expect(again).toMatchObject({ attempt: 2, workedMs: 0 });
  await house.store.runs.waitForWorker(fenceOf(again!));
  house.clock.advance(MINUTE_MS);
  await house.store.runs.beginWork(fenceOf(again!));
  house.clock.advance(2 * MINUTE_MS);
  await house.store.runs.interrupt(fenceOf(again!), 'drain');
  expect((await house.claim())[0]).toMatchObject({ attempt: 3, workedMs: 2 * MINUTE_MS });
});

test('attempts add up, and the time between them in the queue does not', async () => {
  const house = await storeHouse();
  let run = await begin(house);
  for (const attempt of [2, 3, 4]) {
    house.clock.advance(MINUTE_MS);
    await house.store.runs.recordStep(fenceOf(run), aStep({ step: attempt }), FREE);
    house.clock.advance(MINUTE_MS);
    await house.store.runs.interrupt(fenceOf(run), 'drain');
    house.clock.advance(DAY_MS);
    run = (await house.claim())[0]!;
    expect(run).toMatchObject({ attempt, workedMs: 2 * MINUTE_MS * (attempt - 1) });
  }
});

test.each([-7 * DAY_MS, 7 * DAY_MS])('a clock that is set by %d ms adds and takes nothing', async (jumpMs) => {
  const house = await storeHouse();
  const run = await begin(house);
  house.clock.advance(MINUTE_MS);
  house.clock.jump(jumpMs);
  await house.store.runs.renewLeases([run.seq], 60_000);
  house.clock.advance(MINUTE_MS);
  await house.store.runs.interrupt(fenceOf(run), 'drain');
  house.clock.jump(jumpMs);
  expect((await house.claim())[0]).toMatchObject({ workedMs: 2 * MINUTE_MS });
});

test('a clock that was set back while no daemon ran adds and takes nothing', async () => {
  const house = await storeHouse();
  const run = await begin(house);
  house.clock.advance(MINUTE_MS);
  await house.store.runs.recordStep(fenceOf(run), aStep(), FREE);
  const store = await startAgain(house, -DAY_MS);
  const [again] = await store.runs.claim(ORDER);
  expect(again!.run.workedMs).toBe(MINUTE_MS);
});

test('a run that lost its worker unnoticed has used what it had until its last lease', async () => {
  const house = await storeHouse();
  const run = await begin(house);
  house.clock.advance(MINUTE_MS / 2);
  await house.store.runs.renewLeases([run.seq], 60_000);
  house.clock.advance(2 * MINUTE_MS);
  expect(await house.store.runs.renewLeases([], 60_000)).toBe(1);
  expect((await house.claim())[0]).toMatchObject({ workedMs: MINUTE_MS / 2 });
});

test.each([DAY_MS / 3, -DAY_MS])(
  'background runs that wait through an outage (the clock %d ms on) have their whole wait again after it',
  async (downMs) => {
    const house = await storeHouse();
    await house.store.nodes.beat('here', 5);
    const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9 } };
    const run = await house.accept({ background, idempotencyKey: 'b' });
    house.clock.advance(50 * MINUTE_MS);
    await house.store.close();
    const clock = fakeClock(house.clock.now() + downMs);
    const store = openStore(house.file, clock);
    onTestFinished(() => store.close());
    await store.runs.rescue();
    expect(await store.runs.oldestQueuedAt()).toBe(clock.steady());
    clock.advance(59 * MINUTE_MS);
    expect(await store.runs.expireQueued(60 * MINUTE_MS)).toBe(0);
    clock.advance(MINUTE_MS);
    expect(await store.runs.expireQueued(60 * MINUTE_MS)).toBe(1);
    expect(await store.runs.get(run.seq)).toMatchObject({ status: 'failed', error: { type: 'queue_timeout_error' } });
  },
);
