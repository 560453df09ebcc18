// A clock that is set while the disk is full, or while the owner of a webhook is disabled.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { makeClockWatch } from '../../src/webhooks/clock-watch.ts';
import { fenceOf, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';

const HOUR_MS = 3_600_000;
const FAILED = { at: 1, statusCode: 500, durationMs: 1, error: 'no', responseExcerpt: null };

/** A fixture with webhooks of its user, each with a delivery that is due in an hour. */
async function scene(count: number) {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  const ids: number[] = [];
  for (let made = 0; made < count; made += 1)
    ids.push((await store.webhooks.create(aWebhook({ userSeq: fixture.user.seq }))).id);
  await fixture.accept();
  const [run] = await fixture.claim();
  await store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await store.runs.settle(fenceOf(run!));
  while ((await store.deliveries.plan()).more);
  const pending = async (id: number) => (await store.deliveries.listPending(id, 9))[0]!;
  const failed = { result: FAILED, epoch: 1, retryAt: clock.now() + HOUR_MS };
  for (const id of ids) await store.deliveries.recordAttempt((await pending(id)).id, failed);
  /** In ms from now. */
  const dueIn = async () => Promise.all(ids.map(async (id) => (await pending(id)).nextAttemptAt - clock.now()));
  const failingSince = async () => Promise.all(ids.map(async (id) => (await store.webhooks.find(id))!.failingSince));
  return { fixture, store, clock, ids, dueIn, failingSince };
}

const log = pino({ level: 'silent' });

test.each(['moveFailingSince', 'listWithPending', 'moveDue'] as const)(
  'when %s fails, the next check does what is left, and nothing twice',
  async (verb) => {
    const { store, clock, dueIn, failingSince } = await scene(4);
    let calls = 0;
    const failing = async (...given: never[]) => {
      calls += 1;
      // Of several calls the second one.
      if (calls === (verb === 'moveDue' ? 2 : 1)) throw new Error('The disk is full.');
      return (store.deliveries[verb] as (...all: never[]) => Promise<unknown>)(...given);
    };
    const deliveries = { ...store.deliveries, [verb]: failing };
    const check = makeClockWatch({ store: { deliveries }, clock, log });
    expect(await check()).toBe(false);
    const since = await failingSince();
    clock.jump(-24 * HOUR_MS);
    await expect(check()).rejects.toThrow('The disk is full.');
    expect(await check()).toBe(true);
    expect(await dueIn()).toEqual([HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS]);
    expect(await failingSince()).toEqual(since.map((at) => at! - 24 * HOUR_MS));
    expect(await check()).toBe(false);
    expect(await dueIn()).toEqual([HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS]);
  },
);

test('a clock that is set again before all has moved moves it by both', async () => {
  const { store, clock, dueIn } = await scene(3);
  let calls = 0;
  const moveDue: typeof store.deliveries.moveDue = async (...given) => {
    calls += 1;
    if (calls === 2) throw new Error('The disk is full.');
    return store.deliveries.moveDue(...given);
  };
  const check = makeClockWatch({ store: { deliveries: { ...store.deliveries, moveDue } }, clock, log });
  expect(await check()).toBe(false);
  clock.jump(-24 * HOUR_MS);
  await expect(check()).rejects.toThrow('The disk is full.');
  clock.jump(-2 * HOUR_MS);
  expect(await check()).toBe(true);
  expect(await dueIn()).toEqual([HOUR_MS, HOUR_MS, HOUR_MS]);
});

test('what rests with a disabled user moves too', async () => {
  const { fixture, store, clock, dueIn } = await scene(1);
  await store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  await store.users.change(fixture.user.username, { disabled: true });
  const check = makeClockWatch({ store, clock, log });
  expect(await check()).toBe(false);
  clock.jump(-24 * HOUR_MS);
  expect(await check()).toBe(true);
  expect(await dueIn()).toEqual([HOUR_MS]);
});

test('what a clock jumped before the first check is of another process', { tags: ['L7'] }, async () => {
  const { store, clock, dueIn } = await scene(1);
  const check = makeClockWatch({ store, clock, log });
  clock.jump(-24 * HOUR_MS);
  expect(await check()).toBe(false);
  expect(await dueIn()).toEqual([25 * HOUR_MS]);
  clock.jump(-HOUR_MS);
  expect(await check()).toBe(true);
  expect(await dueIn()).toEqual([25 * HOUR_MS]);
});
