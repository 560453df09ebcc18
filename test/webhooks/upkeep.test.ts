// The upkeep of the record: what is a month old goes, and what disabled and deleted webhooks leave behind.
import { expect, onTestFinished, test } from 'vitest';
import { makeLog } from '../../src/log/log.ts';
import { makeUpkeep } from '../../src/webhooks/upkeep.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { waitFor } from '../support/time/wait-for.ts';

const DAY = 86_400_000;

async function upkeepFixture(retentionDays = 30) {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  const settings = () => ({ webhooks: { retentionDays } });
  const upkeep = makeUpkeep({ store, clock, log: makeLog({ level: 'fatal' }), settings });
  onTestFinished(() => upkeep.stop());
  const webhook = await store.webhooks.create(aWebhook());
  let no = 0;
  /** Deliveries that failed, and are pending again when they are `redelivered`. */
  const deliver = async (count: number, { redelivered = false } = {}) => {
    for (const until = no + count; no < until; no += 1) {
      const delivery = { webhook, eventId: `${no}`, eventType: 'session.failed', sessionSeq: null, body: 'b' } as const;
      const result = { at: 0, statusCode: 500, durationMs: 1, error: 'no', responseExcerpt: null };
      const id = await store.deliveries.recordTest(delivery, result);
      if (redelivered) await store.deliveries.redeliver(id);
    }
  };
  const count = (where = 'TRUE') =>
    fixture.rows<{ count: number }>(`SELECT count(*) AS count FROM webhook_deliveries WHERE ${where}`)[0]!.count;
  return { ...fixture, upkeep, webhook, deliver, count };
}

test('deliveries are kept for thirty days', async () => {
  const { upkeep, clock, deliver, count } = await upkeepFixture();
  await deliver(250);
  clock.advance(DAY);
  await deliver(1);
  clock.advance(29 * DAY - 1);
  upkeep.wake();
  await upkeep.settled();
  expect(count()).toBe(251);
  clock.advance(2);
  upkeep.wake();
  await upkeep.settled();
  expect(count()).toBe(1);
});

test('what is pending is never pruned, and kept for thirty days from its end', async () => {
  const { upkeep, store, clock, deliver, count, rows } = await upkeepFixture();
  await deliver(150, { redelivered: true });
  clock.advance(30 * DAY);
  upkeep.wake();
  await upkeep.settled();
  expect(count("state = 'pending'")).toBe(150);
  clock.advance(1);
  upkeep.wake();
  await upkeep.settled();
  expect(count("state = 'canceled'")).toBe(150);
  const [{ id }] = rows<{ id: number }>('SELECT min(id) AS id FROM webhook_deliveries') as [{ id: number }];
  expect((await store.deliveries.find(id))?.lastError).toBe(
    'It was canceled: it had been due for 30 days, in which it could not be sent.',
  );
  for (let day = 0; day <= 30; day += 1) {
    clock.advance(DAY);
    upkeep.wake();
    await upkeep.settled();
  }
  expect(count()).toBe(0);
});

test('a delivery that was delivered again is kept for thirty days from then on', async () => {
  const { upkeep, store, clock, deliver, count } = await upkeepFixture();
  await deliver(1, { redelivered: true });
  clock.advance(29 * DAY);
  await store.deliveries.recordAttempt(1, {
    result: { at: 0, statusCode: 200, durationMs: 1, error: null, responseExcerpt: null },
    epoch: 1,
    retryAt: null,
  });
  clock.advance(29 * DAY);
  upkeep.wake();
  await upkeep.settled();
  expect(count("state = 'delivered'")).toBe(1);
});

test('a secret before a rotation is removed once it signs no more', async () => {
  const { upkeep, store, clock, rows } = await upkeepFixture();
  const { id } = await store.webhooks.create(aWebhook({ sealSecret: () => Buffer.from('first') }));
  await store.webhooks.rotateSecret(id, Buffer.from('second'));
  const left = async () => {
    upkeep.wake();
    await upkeep.settled();
    return rows(
      `SELECT CAST(secret AS TEXT) AS secret, CAST(previous_secret AS TEXT) AS before FROM webhooks WHERE id = ${id}`,
    );
  };
  clock.advance(DAY - 1);
  expect(await left()).toEqual([{ secret: 'second', before: 'first' }]);
  clock.advance(1);
  expect(await left()).toEqual([{ secret: 'second', before: null }]);
});

test('a setting says how long they are kept', async () => {
  const { upkeep, clock, deliver, count } = await upkeepFixture(2);
  await deliver(1);
  clock.advance(2 * DAY + 1);
  upkeep.wake();
  await upkeep.settled();
  expect(count()).toBe(0);
});

test('nobody has to wake it for what becomes old', async () => {
  const { upkeep, clock, deliver, count } = await upkeepFixture();
  await deliver(1);
  upkeep.wake();
  await waitFor(async () => {
    await upkeep.settled();
    clock.advance(DAY);
    return count() === 0;
  });
});

test('a long list of a disabled webhook is canceled to its end', async () => {
  const { upkeep, store, webhook, deliver, count } = await upkeepFixture();
  await deliver(450, { redelivered: true });
  await store.webhooks.giveUp(webhook, 'gone');
  expect(count("state = 'pending'")).toBe(250);
  upkeep.wake();
  await upkeep.settled();
  expect(count("state = 'canceled'")).toBe(450);
});

test('a deleted webhook goes with all of its deliveries, and no other does', async () => {
  const { upkeep, store, rows, webhook, deliver, count } = await upkeepFixture();
  await deliver(250);
  const other = await store.webhooks.create(aWebhook());
  await store.webhooks.delete(webhook.id);
  upkeep.wake();
  await upkeep.settled();
  expect([count(), rows('SELECT id FROM webhooks')]).toEqual([0, [{ id: other.id }]]);
  expect(rows('SELECT delivery_id FROM webhook_attempts')).toEqual([]);
});

test('a clock that jumps ahead by a year prunes and cancels nothing for a day', async () => {
  const { upkeep, clock, deliver, count } = await upkeepFixture();
  await deliver(1);
  await deliver(1, { redelivered: true });
  const work = async (byMs: number) => {
    clock.advance(byMs);
    upkeep.wake();
    await upkeep.settled();
    return [count(), count("state = 'canceled'")];
  };
  expect(await work(0)).toEqual([2, 0]);
  expect(await work(365 * DAY)).toEqual([2, 0]);
  expect(await work(DAY - 1)).toEqual([2, 0]);
  expect(await work(1)).toEqual([1, 1]);
});
