// Many webhooks at once: dead ones delay no living ones, and what is pending costs nothing until its turn.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Store } from '../../src/store/open-store.ts';
import type { DeliveryTarget, Lane, PendingDelivery } from '../../src/store/webhooks/deliveries.ts';
import { LIMITS } from '../../src/webhooks/slots.ts';
import { makeSender } from '../../src/webhooks/sender.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { fakeReceivers, type Sent } from '../support/webhooks.ts';

type Standing = Lane['standing'];

/** Deliveries of a webhook: `/n` is its path. */
interface Endpoint {
  /** User seq. */
  readonly owner: number;
  readonly host: string;
  standing: Standing;
  left: number;
}

/** A store of endpoints that makes rows when they are read, and counts the most that were read at once. */
function makeStore(endpoints: Endpoint[], now: () => number) {
  const seen = { reads: 0, most: 0 };
  const idOf = (webhookId: number, number: number) => webhookId * 1_000_000 + number;
  const done = new Set<number>();
  const retries = new Map<number, number>();
  const laneOf = (webhookId: number): Lane => {
    const { owner, host, standing } = endpoints[webhookId]!;
    return { webhookId, owner, host, standing, nextAttemptAt: now() };
  };
  const listPending = async (webhookId: number, limit: number): Promise<PendingDelivery[]> => {
    const rows: PendingDelivery[] = [];
    for (let number = 0; rows.length < limit && number < endpoints[webhookId]!.left; number += 1) {
      const id = idOf(webhookId, number);
      if (done.has(id) || retries.has(id)) continue;
      rows.push({
        id,
        webhookId,
        eventId: `event-${id}`,
        eventType: 'session.completed',
        body: '{}',
        attemptCount: 0,
        attemptsLeft: 8,
        nextAttemptAt: now(),
        createdAt: now(),
      });
    }
    seen.reads += 1;
    seen.most = Math.max(seen.most, rows.length);
    return rows;
  };
  const deliveries: Partial<Store['deliveries']> = {
    listLanes: async () => endpoints.flatMap((one, webhookId) => (one.left > 0 ? [laneOf(webhookId)] : [])),
    findLane: async (webhookId) => (endpoints[webhookId]!.left > 0 ? laneOf(webhookId) : undefined),
    findTarget: async (id) => {
      const webhook = { id, url: `http://${endpoints[id]!.host}/${id}`, timeoutMs: 10_000, retryBackoffMs: 3_600_000 };
      return { webhook, secret: null, previousSecret: null } as unknown as DeliveryTarget;
    },
    listPending,
    recordAttempt: async (id, { result: { error }, retryAt }) => {
      endpoints[Math.floor(id / 1_000_000)]!.standing = error === null ? 'proven' : 'failing';
      if (error === null) done.add(id);
      else retries.set(id, retryAt!);
      return { state: error === null ? 'delivered' : 'pending', failingSince: error === null ? null : 1, failures: 1 };
    },
  };
  return { store: { deliveries, webhooks: {} } as unknown as Pick<Store, 'deliveries' | 'webhooks'>, seen };
}

/** Endpoints of which the first so many are dead: they never reply. */
function scene(endpoints: Endpoint[], dead: number) {
  const clock = fakeClock();
  const { store, seen } = makeStore(endpoints, clock.now);
  const isDead = ({ path }: Sent) => Number(path.slice(1)) < dead;
  let most = 0;
  const receivers = fakeReceivers((sent) => {
    most = Math.max(most, receivers.open().length);
    return isDead(sent) ? undefined : 200;
  });
  const sender = makeSender({
    store,
    secrets: { open: () => '' },
    pool: receivers,
    clock,
    log: pino({ level: 'silent' }),
    random: () => 0.5,
    happened: () => undefined,
  });
  sender.wake();
  const living = () => receivers.sent.filter((sent) => !isDead(sent));
  return { clock, sender, receivers, seen, living, isDead, most: () => most };
}

const endpoints = (count: number, over: (index: number) => Partial<Endpoint> = () => ({})): Endpoint[] =>
  Array.from({ length: count }, (_, index) => ({
    owner: index,
    host: `host-${index}.example`,
    standing: 'proven',
    left: 3,
    ...over(index),
  }));

test.each<[string, (index: number) => Partial<Endpoint>]>([
  ['known to fail', (index) => ({ standing: index < 900 ? 'failing' : 'proven' })],
  ['never tried', (index) => ({ standing: index < 900 ? 'untried' : 'proven' })],
  ['at one host that has just died', (index) => (index < 900 ? { host: 'dead.example' } : {})],
])('of 1,000 webhooks, the 100 living ones wait for none of 900 dead ones %s', async (_, over) => {
  const { clock, living, receivers, most, isDead } = scene(endpoints(1_000, over), 900);
  const startedAt = clock.now();
  await waitFor(() => living().length === 300);
  // No time has passed: not one attempt of a dead one had to end.
  expect(clock.now()).toBe(startedAt);
  expect(receivers.open().every(isDead)).toBe(true);
  expect(receivers.open().length).toBeGreaterThan(0);
  expect(most()).toBeLessThanOrEqual(LIMITS.all);
});

test('living webhooks that were never tried get their turn as dead ones time out', async () => {
  const { living, receivers, clock } = scene(
    endpoints(100, () => ({ standing: 'untried', left: 1 })),
    90,
  );
  for (let rounds = 1; living().length < 10; rounds += 1) {
    expect(rounds).toBeLessThanOrEqual(Math.ceil(90 / LIMITS.unproven) + 1);
    await waitFor(() => receivers.open().length === LIMITS.unproven || living().length === 10);
    clock.advance(10_000);
    for (const sent of receivers.open()) sent.reply(null);
  }
});

test('a webhook has one attempt in flight while it is not proven, else four', async () => {
  const { receivers, sender } = scene(
    endpoints(3, (index) => ({ standing: (['failing', 'untried', 'proven'] as const)[index]!, left: 9 })),
    3,
  );
  await sender.settled();
  const perPath = Object.groupBy(receivers.open(), ({ path }) => path);
  expect(Object.keys(perPath)).toHaveLength(3);
  expect([0, 1, 2].map((index) => perPath[`/${index}`]!.length)).toEqual([1, 1, 4]);
});

test('no more than 64 attempts are in flight, 32 of them of webhooks that are not proven', async () => {
  const half = (index: number): Partial<Endpoint> => ({ standing: index < 100 ? 'failing' : 'proven', left: 9 });
  const { receivers, sender } = scene(endpoints(200, half), 200);
  await sender.settled();
  expect(receivers.open()).toHaveLength(LIMITS.all);
  for (const sent of receivers.open()) sent.reply(null);
  await waitFor(() => receivers.open().length === LIMITS.all);
  const { length } = receivers.open().filter(({ path }) => Number(path.slice(1)) < 100);
  expect(length).toBeLessThanOrEqual(LIMITS.unproven);
});

/** The owners of what is in flight, each with a count. */
function owners(receivers: { open(): Sent[] }, of: (index: number) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { path } of receivers.open()) {
    const owner = of(Number(path.slice(1)));
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return counts;
}

test.each<[Standing, number]>([
  ['proven', LIMITS.perOwner],
  ['untried', LIMITS.perOwnerUnproven],
  ['failing', LIMITS.perOwnerUnproven],
])('a user whose %s webhooks never reply holds no more than %i places', async (standing, most) => {
  const all = endpoints(300, () => ({ owner: 7, standing, left: 9 }));
  const { receivers, sender } = scene(all, 300);
  await sender.settled();
  expect(receivers.open()).toHaveLength(most);
  for (const sent of receivers.open().slice(0, 3)) sent.reply(null);
  await waitFor(() => receivers.sent.length === most + 3);
  await sender.settled();
  expect(receivers.open().length).toBeLessThanOrEqual(most);
});

test('a user with 1,000 silent webhooks delays those of nobody else', async () => {
  const all = endpoints(1_100, (index) => (index < 1_000 ? { owner: 1_000_000, left: 9 } : {}));
  const { clock, living } = scene(all, 1_000);
  const startedAt = clock.now();
  await waitFor(() => living().length === 300);
  expect(clock.now()).toBe(startedAt);
});

test('when one host dies, its owner has places for other webhooks', async () => {
  const all = endpoints(60, (index) => (index < 50 ? { owner: 0, host: 'dead.example', left: 9 } : { owner: 0 }));
  const { clock, living } = scene(all, 50);
  const startedAt = clock.now();
  await waitFor(() => living().length === 30);
  expect(clock.now()).toBe(startedAt);
});

test('users take turns, however many webhooks one of them has', async () => {
  const ownerOf = (index: number) => (index < 500 ? 0 : index);
  const all = endpoints(600, (index) => ({ owner: ownerOf(index), standing: 'untried', left: 1 }));
  const { receivers, sender } = scene(all, 600);
  await sender.settled();
  const counts = owners(receivers, ownerOf);
  expect(counts.size).toBe(LIMITS.unproven);
  expect(counts.get(0)).toBe(1);
});

test('webhooks that fail and those that were never tried take turns', async () => {
  const standingOf = (index: number): Standing => (index < 500 ? 'untried' : 'failing');
  const { receivers, sender } = scene(
    endpoints(600, (index) => ({ standing: standingOf(index), left: 1 })),
    600,
  );
  await sender.settled();
  const failing = receivers.open().filter(({ path }) => standingOf(Number(path.slice(1))) === 'failing');
  expect([failing.length, receivers.open().length]).toEqual([LIMITS.unproven / 2, LIMITS.unproven]);
});

test('100,000 pending deliveries are read a few at a time, when it is their turn', async () => {
  const { sender, seen, receivers } = scene(
    endpoints(10, () => ({ left: 10_000 })),
    10,
  );
  await sender.settled();
  for (let count = 0; count < 50; count += 1) {
    sender.wake();
    await sender.settled();
  }
  expect(receivers.sent).toHaveLength(40);
  expect(seen.most).toBeLessThanOrEqual(2 * LIMITS.perWebhook + 1);
  expect(seen.reads).toBe(10);
});
