// Deliveries: what attempts make of them, and how they are listed, repeated and removed.
import { beforeEach, expect, test } from 'vitest';
import { DELIVERY_MOVES, DELIVERY_STATES, type DeliveryState } from '../../../src/domain/webhooks/delivery.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook } from '../../support/store/webhooks.ts';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await storeFixture();
});

const FAILED = { at: 7, statusCode: 503, durationMs: 12, error: 'The receiver answered 503.', responseExcerpt: 'busy' };
const ARRIVED = { ...FAILED, statusCode: 200, error: null, responseExcerpt: 'ok' };
const EVERY = { owner: null, webhookId: null, eventId: null, eventType: null, state: null, since: null, until: null };
const PAGE = { ...EVERY, limit: 9, offset: 0 };

/** A run that ends, planned for every webhook there is. */
async function endRun(): Promise<number> {
  const { sessionSeq } = await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  await fixture.store.deliveries.plan();
  return sessionSeq;
}

async function deliver(over: Parameters<typeof aWebhook>[0] = {}) {
  const webhook = await fixture.store.webhooks.create(aWebhook(over));
  const sessionSeq = await endRun();
  const [delivery] = await fixture.store.deliveries.listPending(webhook.id, 9);
  return { webhook, sessionSeq, delivery: delivery! };
}

const record = (id: number, result = FAILED as typeof FAILED | typeof ARRIVED, retryAt: number | null = 99) =>
  fixture.store.deliveries.recordAttempt(id, { result, epoch: 1, retryAt });

test('each failure takes an attempt, and the last one ends the delivery', async () => {
  const { delivery, webhook } = await deliver({ retryCount: 1 });
  expect(delivery).toMatchObject({ attemptCount: 0, attemptsLeft: 2, eventType: 'session.completed' });
  const failingSince = fixture.clock.now();
  expect(await record(delivery.id)).toEqual({ state: 'pending', failures: 1, failingSince });
  expect(await fixture.store.deliveries.listPending(webhook.id, 9)).toMatchObject([
    { attemptsLeft: 1, nextAttemptAt: 99 },
  ]);
  fixture.clock.advance(5);
  expect(await record(delivery.id)).toEqual({ state: 'failed', failures: 2, failingSince });
  expect(await fixture.store.deliveries.find(delivery.id)).toMatchObject({
    state: 'failed',
    attemptCount: 2,
    nextAttemptAt: null,
    lastStatusCode: 503,
    lastError: FAILED.error,
    attempts: [
      { ...FAILED, no: 1 },
      { ...FAILED, no: 2 },
    ],
  });
});

test('one that must not be tried again fails at once, and a success ends the failures', async () => {
  const { delivery } = await deliver();
  expect(await record(delivery.id, FAILED, null)).toMatchObject({ state: 'failed', failures: 1 });
  await fixture.store.deliveries.redeliver(delivery.id);
  expect(await record(delivery.id, ARRIVED)).toEqual({ state: 'delivered', failures: 0, failingSince: null });
  expect(await fixture.store.deliveries.find(delivery.id)).toMatchObject({
    deliveredAt: fixture.clock.now(),
    lastError: null,
  });
});

test('what has arrived stays so when it is sent once more and fails', async () => {
  const { delivery } = await deliver();
  await record(delivery.id, ARRIVED);
  const { attempts, ...arrived } = (await fixture.store.deliveries.find(delivery.id))!;
  fixture.clock.advance(5);
  expect(await record(delivery.id)).toMatchObject({ state: 'delivered', failures: 1 });
  expect(await fixture.store.deliveries.find(delivery.id)).toEqual({
    ...arrived,
    attemptCount: 2,
    attempts: [...attempts, { ...FAILED, no: 2 }],
  });
});

/** Brings a delivery from `pending` to a state. */
const REACH: Readonly<Record<DeliveryState, (id: number, webhookId: number) => Promise<unknown>>> = {
  pending: async () => undefined,
  delivered: (id) => record(id, ARRIVED),
  failed: (id) => record(id, FAILED, null),
  canceled: (_, webhookId) => fixture.store.webhooks.change(webhookId, { enabled: false }),
};

test.each(DELIVERY_STATES)('from %s the table of moves is kept', async (from) => {
  const reached = new Set<DeliveryState>();
  const moves = [
    (id: number) => record(id, ARRIVED),
    (id: number) => record(id, FAILED, null),
    (id: number) => fixture.store.deliveries.redeliver(id),
    (_: number, webhookId: number) => fixture.store.webhooks.change(webhookId, { enabled: false }),
  ];
  for (const move of moves) {
    const { delivery, webhook } = await deliver();
    await REACH[from](delivery.id, webhook.id);
    await move(delivery.id, webhook.id);
    reached.add((await fixture.store.deliveries.find(delivery.id))!.state);
    await fixture.store.webhooks.delete(webhook.id);
  }
  reached.delete(from);
  expect([...reached].sort()).toEqual([...DELIVERY_MOVES[from]].sort());
});

test('what is delivered again has one more attempt at once, of the same bytes', { tags: ['H11'] }, async () => {
  const { delivery, webhook } = await deliver();
  await record(delivery.id, ARRIVED);
  fixture.clock.advance(1_000);
  expect(await fixture.store.deliveries.redeliver(delivery.id)).toBe(true);
  const again = { ...delivery, attemptCount: 1, attemptsLeft: 1, nextAttemptAt: fixture.clock.now() };
  expect(await fixture.store.deliveries.listPending(webhook.id, 9)).toEqual([again]);
  expect(await record(delivery.id)).toMatchObject({ state: 'failed' });
  expect(await fixture.store.deliveries.redeliver(404)).toBe(false);
});

test('what waits for its next attempt is tried at once, and keeps the attempts that it has left', async () => {
  const { delivery, webhook } = await deliver();
  await record(delivery.id);
  await fixture.store.deliveries.redeliver(delivery.id);
  const pending = await fixture.store.deliveries.listPending(webhook.id, 9);
  expect(pending).toMatchObject([{ attemptsLeft: 7, nextAttemptAt: fixture.clock.now() }]);
});

test('many are delivered again from a moment on, in batches that end', async () => {
  const { webhook, delivery } = await deliver();
  await record(delivery.id, FAILED, null);
  fixture.clock.advance(10);
  const since = fixture.clock.now();
  const test = { webhook, eventType: 'session.failed', sessionSeq: null, body: 'b' } as const;
  for (let no = 1; no <= 401; no += 1) await fixture.store.deliveries.recordTest({ ...test, eventId: `${no}` }, FAILED);
  const filter = { webhookId: webhook.id, state: 'failed', since } as const;
  const counts = [];
  for (let last = null as { createdAt: number; id: number } | null; ; ) {
    const batch = await fixture.store.deliveries.redeliverSome(filter, last);
    counts.push(batch.count);
    // They fail again at once.
    for (const { id } of await fixture.store.deliveries.listPending(webhook.id, 200)) await record(id, FAILED, null);
    if (batch.last === null) break;
    last = batch.last;
  }
  expect(counts).toEqual([200, 200, 1]);
  expect(await fixture.store.deliveries.find(delivery.id)).toMatchObject({ state: 'failed', attemptCount: 1 });
});

test('lists have each filter, the newest first, and say how many there are', { tags: ['H11'] }, async () => {
  const first = await deliver({ userSeq: fixture.user.seq });
  fixture.clock.advance(1_000);
  const second = await deliver();
  await record(second.delivery.id, ARRIVED);
  // The first webhook received the second session too.
  const ids = async (filter: object) =>
    (await fixture.store.deliveries.list({ ...PAGE, ...filter })).items.map(({ id }) => id);
  const [another] = (await ids({ webhookId: first.webhook.id })).filter((id) => id !== first.delivery.id);
  expect(await ids({ webhookId: first.webhook.id })).toEqual([another, first.delivery.id]);
  expect(new Set(await ids({}))).toEqual(new Set([first.delivery.id, another, second.delivery.id]));
  expect(await ids({ owner: 0 })).toEqual([second.delivery.id]);
  expect(await ids({ owner: fixture.user.seq, limit: 1, offset: 1 })).toEqual([first.delivery.id]);
  expect(await ids({ state: 'delivered' })).toEqual([second.delivery.id]);
  expect(await ids({ eventType: 'session.failed' })).toEqual([]);
  expect(await ids({ until: fixture.clock.now() })).toEqual([first.delivery.id]);
  expect(await ids({ since: fixture.clock.now(), owner: 0 })).toEqual([second.delivery.id]);
  expect(await ids({ eventId: first.delivery.eventId })).toEqual([first.delivery.id]);
  expect((await fixture.store.deliveries.list({ ...PAGE, limit: 1 })).total).toBe(3);
});

test('a webhook of the installation has owner 0 in its lane', async () => {
  await deliver({ userSeq: null });
  expect(await fixture.store.deliveries.listLanes()).toMatchObject([{ owner: 0 }]);
});

test('the sender sees what is pending of enabled webhooks whose owner is enabled', async () => {
  const { webhook, delivery } = await deliver({ userSeq: fixture.user.seq });
  const lane = {
    webhookId: webhook.id,
    owner: fixture.user.seq,
    host: 'ledger.example',
    nextAttemptAt: fixture.clock.now(),
    standing: 'untried',
  };
  expect(await fixture.store.deliveries.listLanes()).toEqual([lane]);
  await record(delivery.id);
  expect(await fixture.store.deliveries.findLane(webhook.id)).toEqual({
    ...lane,
    nextAttemptAt: 99,
    standing: 'failing',
  });
  await record(delivery.id, ARRIVED);
  expect(await fixture.store.deliveries.findLane(webhook.id)).toBeUndefined();
  await endRun();
  expect(await fixture.store.deliveries.findLane(webhook.id)).toEqual({ ...lane, standing: 'proven' });
  await fixture.store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  await fixture.store.users.change('mara', { disabled: true });
  expect(await fixture.store.deliveries.listLanes()).toEqual([]);
  expect(await fixture.store.deliveries.findTarget(webhook.id, 0)).toBeUndefined();
  await fixture.store.users.change('mara', { disabled: false });
  expect(await fixture.store.deliveries.listLanes()).toHaveLength(1);
});

test('a webhook that was given up has a reason; enabled again, it starts afresh without earlier deliveries', async () => {
  const { webhook, delivery } = await deliver();
  await record(delivery.id);
  expect(await fixture.store.webhooks.giveUp(webhook, 'The receiver answered 410.')).toBe(true);
  expect(await fixture.store.webhooks.giveUp(webhook, 'Again.')).toBe(false);
  expect(await fixture.store.webhooks.find(webhook.id)).toMatchObject({
    enabled: false,
    disabledReason: 'The receiver answered 410.',
    failures: 1,
  });
  expect(await fixture.store.deliveries.find(delivery.id)).toMatchObject({ state: 'canceled', nextAttemptAt: null });
  await fixture.store.webhooks.change(webhook.id, { enabled: true });
  expect(await fixture.store.webhooks.find(webhook.id)).toMatchObject({
    enabled: true,
    disabledReason: null,
    failures: 0,
  });
  expect(await fixture.store.deliveries.listLanes()).toEqual([]);
});

test('a long backlog of a disabled webhook is canceled in batches, and none of it is left when it is enabled', async () => {
  const { webhook } = await deliver();
  const many = { webhook, eventType: 'session.failed', sessionSeq: null, body: 'b' } as const;
  for (let no = 1; no <= 450; no += 1) await fixture.store.deliveries.recordTest({ ...many, eventId: `${no}` }, FAILED);
  for (let last = null; ; ) {
    const batch = await fixture.store.deliveries.redeliverSome(
      { webhookId: webhook.id, state: 'failed', since: 0 },
      last,
    );
    if (batch.last === null) break;
    last = batch.last as never;
  }
  const pending = () => fixture.rows("SELECT id FROM webhook_deliveries WHERE state = 'pending'").length;
  expect(pending()).toBe(451);
  await fixture.store.webhooks.change(webhook.id, { enabled: false });
  expect(pending()).toBe(251);
  expect(await fixture.store.deliveries.listLanes()).toEqual([]);
  await fixture.store.webhooks.change(webhook.id, { enabled: true });
  expect(pending()).toBe(0);
  // Disabled and enabled at the same time.
  for (let last = null; ; ) {
    const filter = { webhookId: webhook.id, state: 'canceled', since: 0 } as const;
    const batch = await fixture.store.deliveries.redeliverSome(filter, last);
    if (batch.last === null) break;
    last = batch.last as never;
  }
  expect(pending()).toBe(451);
  const toggle = (enabled: boolean) => fixture.store.webhooks.change(webhook.id, { enabled });
  expect((await Promise.all([toggle(false), toggle(true)])).map(({ enabled }) => enabled)).toEqual([false, true]);
  expect(pending()).toBe(0);
});

test.each<[string, (id: number) => Promise<unknown>]>([
  ['its address changed', (id) => fixture.store.webhooks.change(id, { url: 'https://new.example/' })],
  [
    'it was disabled and enabled',
    async (id) => {
      await fixture.store.webhooks.change(id, { enabled: false });
      await fixture.store.webhooks.change(id, { enabled: true });
    },
  ],
])('what came before %s says nothing of a webhook', async (_, change) => {
  const { webhook, delivery } = await deliver();
  await record(delivery.id);
  const fresh = { failures: 0, failingSince: null, lastSuccessAt: null, epoch: webhook.epoch + 1, enabled: true };
  await change(webhook.id);
  expect(await fixture.store.webhooks.find(webhook.id)).toMatchObject(fresh);
  // Attempts that were under way at the change.
  expect(await record(delivery.id)).toMatchObject({ failingSince: null, failures: 0 });
  await record(delivery.id, ARRIVED, null);
  expect(await fixture.store.webhooks.giveUp(webhook, 'The receiver answered 410.')).toBe(false);
  expect(await fixture.store.webhooks.find(webhook.id)).toMatchObject(fresh);
  expect(await fixture.store.deliveries.find(delivery.id)).toMatchObject({ attemptCount: 3, state: 'delivered' });
});

test('a name, or the same address, keeps what is known of a webhook', async () => {
  const { webhook, delivery } = await deliver();
  await record(delivery.id);
  const changed = await fixture.store.webhooks.change(webhook.id, { name: 'n', url: webhook.url, enabled: true });
  expect(changed).toMatchObject({ failures: 1, epoch: webhook.epoch });
});

test('the body of a test is not kept when its session was deleted meanwhile', async () => {
  const { webhook, sessionSeq } = await deliver();
  const sent = { webhook, eventType: 'session.failed', sessionSeq, body: 'of the session' } as const;
  const bodyOf = async (id: number) => (await fixture.store.deliveries.find(id))?.body;
  expect(await bodyOf(await fixture.store.deliveries.recordTest({ ...sent, eventId: 'a' }, ARRIVED))).toBe(
    'of the session',
  );
  await fixture.store.sessions.deleteSession(sessionSeq);
  expect(await bodyOf(await fixture.store.deliveries.recordTest({ ...sent, eventId: 'b' }, ARRIVED))).toBe('');
});

test('the record is pruned by age, and what belongs to a deleted webhook goes with it', async () => {
  const old = await deliver();
  await record(old.delivery.id, FAILED, null);
  fixture.clock.advance(1_000);
  const young = await deliver();
  await record(young.delivery.id, FAILED, null);
  while (await fixture.store.deliveries.pruneBefore(fixture.clock.now()));
  expect(await fixture.store.deliveries.find(old.delivery.id)).toBeUndefined();
  expect(fixture.rows('SELECT DISTINCT delivery_id AS id FROM webhook_attempts')).toEqual([{ id: young.delivery.id }]);
  await fixture.store.webhooks.delete(young.webhook.id);
  expect(await fixture.store.deliveries.find(young.delivery.id)).toBeUndefined();
  expect(await fixture.store.deliveries.listLanes()).toMatchObject([{ webhookId: old.webhook.id }]);
  while (await fixture.store.deliveries.pruneDeleted());
  expect(fixture.rows('SELECT id FROM webhook_attempts JOIN webhook_deliveries ON id = delivery_id')).toEqual([]);
});

test('a result that comes for a delivery that was removed changes nothing', async () => {
  const { webhook, delivery } = await deliver();
  await fixture.store.webhooks.delete(webhook.id);
  while (await fixture.store.deliveries.pruneDeleted());
  expect(await record(delivery.id)).toBeUndefined();
});

test('when the clock is set, due times after a moment move by as much, and each only once', async () => {
  const webhook = await fixture.store.webhooks.create(aWebhook());
  for (let count = 0; count < 3; count += 1) await endRun();
  const dueTimes = async () =>
    (await fixture.store.deliveries.listPending(webhook.id, 9)).map(({ nextAttemptAt }) => nextAttemptAt);
  const ids = (await fixture.store.deliveries.listPending(webhook.id, 9)).map(({ id }) => id);
  for (const [index, id] of ids.entries()) await record(id, FAILED, 1_000 * (index + 1));
  expect(await fixture.store.deliveries.moveDue(webhook.id, -600, { nextAttemptAt: 1_000, id: ids[0]! })).toBeNull();
  expect(await dueTimes()).toEqual([1_000, 1_400, 2_400]);
  const { failingSince } = (await fixture.store.webhooks.find(webhook.id))!;
  await fixture.store.deliveries.moveFailingSince(-600);
  expect(await fixture.store.webhooks.find(webhook.id)).toMatchObject({ failingSince: failingSince! - 600 });
});

test('webhooks that fail and those that were disabled are counted and listed, others are not', async () => {
  const { delivery, webhook: failing } = await deliver({ name: 'Fails' });
  await record(delivery.id);
  const gone = await fixture.store.webhooks.create(aWebhook({ name: 'Gone' }));
  await fixture.store.webhooks.giveUp(gone, 'It is gone.');
  for (const name of ['Well', 'Deleted', 'Off']) await fixture.store.webhooks.create(aWebhook({ name }));
  const off = gone.id + 3;
  await fixture.store.webhooks.giveUp({ id: off - 1, epoch: 1 }, 'It is gone.');
  await fixture.store.webhooks.delete(off - 1);
  await fixture.store.webhooks.change(off, { enabled: false });
  const [first, second] = [
    { id: gone.id, name: 'Gone', failingSince: null, failures: 0, disabledReason: 'It is gone.' },
    { id: failing.id, name: 'Fails', failingSince: fixture.clock.now(), failures: 1, disabledReason: null },
  ];
  expect(await fixture.store.webhooks.trouble(9)).toEqual({ failing: 1, disabled: 1, webhooks: [first, second] });
  expect(await fixture.store.webhooks.trouble(1)).toEqual({ failing: 1, disabled: 1, webhooks: [first] });
  await record(delivery.id, ARRIVED);
  expect(await fixture.store.webhooks.trouble(9)).toMatchObject({ failing: 0, disabled: 1 });
});
