// The sender over a real store: what is sent when, and what is left after failures, stops and changes.
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../src/store/open-store.ts';
import type { NewWebhook } from '../../src/store/webhooks/webhooks.ts';
import type { SenderParts } from '../../src/webhooks/attempts.ts';
import { makeSender } from '../../src/webhooks/sender.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { type FakeReceivers, fakeReceivers, type Sent } from '../support/webhooks.ts';

const DAY_MS = 86_400_000;

let fixture: StoreFixture;
let store: Store;
let receivers: FakeReceivers;
let lines: { readonly msg: string }[];
let disabled: number;
beforeEach(async () => {
  fixture = await storeFixture();
  ({ store } = fixture);
  receivers = fakeReceivers();
  [lines, disabled] = [[], 0];
});

function startSender(over: Partial<SenderParts> = {}) {
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) });
  const sender = makeSender({
    store,
    secrets: { open: (sealed) => Buffer.from(sealed).toString() },
    pool: receivers,
    clock: fixture.clock,
    log,
    random: () => 0.5,
    happened: (occasion) => void (disabled += Number(occasion === 'webhook disabled')),
    ...over,
  });
  onTestFinished(async () => {
    const stopped = sender.stop();
    fixture.clock.advance(3_000);
    await stopped;
  });
  sender.wake();
  return sender;
}

/** Ends runs, and plans a delivery of each for every webhook that wants it. */
async function endRuns(count = 1): Promise<void> {
  for (let ended = 0; ended < count; ended += 1) {
    await fixture.accept();
    const [run] = await fixture.claim();
    await store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await store.runs.settle(fenceOf(run!));
  }
  while ((await store.deliveries.plan()).more);
}

const create = (over: Partial<NewWebhook> = {}) => store.webhooks.create(aWebhook(over));

/** Resolves with a request once so many were sent in all. */
const nth = (count: number): Promise<Sent> => waitFor(() => receivers.sent[count - 1]);

const get = async (webhookId: number) => (await store.webhooks.find(webhookId))!;

const pending = (webhookId: number) => store.deliveries.listPending(webhookId, 99);

/** Resolves when the newest delivery of a webhook has had so many attempts. */
async function recorded(webhookId: number, attempts = 1) {
  const page = { owner: null, eventId: null, eventType: null, state: null, since: null, until: null };
  return waitFor(async () => {
    const { items } = await store.deliveries.list({ ...page, webhookId, limit: 1, offset: 0 });
    return items[0]?.attemptCount === attempts ? items[0] : undefined;
  });
}

/** Lets time pass, and what it made due begin. */
async function pass(ms: number, sender: { settled(): Promise<void> }): Promise<void> {
  fixture.clock.advance(ms);
  await sender.settled();
}

test('a delivery is sent once, with the body that was planned, and recorded', async () => {
  const webhook = await create({ timeoutMs: 7_000 });
  await endRuns();
  const [planned] = await pending(webhook.id);
  const sender = startSender();
  const sent = await nth(1);
  expect(sent).toMatchObject({ url: webhook.url, timeoutMs: 7_000, text: planned!.body, eventId: planned!.eventId });
  sent.reply(200);
  expect(await recorded(webhook.id)).toMatchObject({ state: 'delivered', lastStatusCode: 200, lastError: null });
  await pass(DAY_MS, sender);
  expect(receivers.sent).toHaveLength(1);
});

test('a woken webhook sends what was planned since', async () => {
  const webhook = await create();
  const sender = startSender();
  await sender.settled();
  await endRuns();
  expect(receivers.sent).toEqual([]);
  sender.wake([webhook.id]);
  (await nth(1)).reply(204);
  await recorded(webhook.id);
});

test('what the change of one webhook planned for another is sent at once', async () => {
  const [webhook, other] = [await create(), await create()];
  const sender = startSender();
  store.onPlanned(({ webhookIds }) => sender.wake(webhookIds));
  await sender.settled();
  await fixture.accept();
  const [run] = await fixture.claim();
  await store.runs.stopSession(run!.sessionSeq, 'user_requested_stop');
  await store.webhooks.change(other.id, { enabled: false });
  (await nth(1)).reply(204);
  await recorded(webhook.id);
});

test('a failure is repeated after a pause that grows, with the same body and a signature of its own', {
  tags: ['H3-retries'],
}, async () => {
  const webhook = await create({ retryBackoffMs: 5_000, sealSecret: () => Buffer.from('a secret of 16 bytes') });
  await endRuns();
  const sender = startSender();
  for (const [index, pauseMs] of [5_000, 20_000, 80_000].entries()) {
    (await nth(index + 1)).reply(503);
    await recorded(webhook.id, index + 1);
    await sender.settled();
    await pass(pauseMs - 1, sender);
    expect(receivers.sent).toHaveLength(index + 1);
    fixture.clock.advance(1);
  }
  (await nth(4)).reply(200);
  await recorded(webhook.id, 4);
  const [first, , , last] = receivers.sent;
  expect(last).toMatchObject({ eventId: first!.eventId, text: first!.text });
  expect(last!.headers['X-Service-Signature']).not.toBe(first!.headers['X-Service-Signature']);
  expect(await get(webhook.id)).toMatchObject({ failures: 0, failingSince: null });
});

test('after the last attempt a delivery has failed, and others of the webhook are still sent', async () => {
  const webhook = await create({ retryCount: 0 });
  await endRuns();
  const sender = startSender();
  (await nth(1)).reply(null);
  expect(await recorded(webhook.id)).toMatchObject({ state: 'failed', lastError: 'The request was unreachable.' });
  await endRuns();
  sender.wake([webhook.id]);
  (await nth(2)).reply(200);
  expect(await recorded(webhook.id)).toMatchObject({ state: 'delivered' });
});

test.each([
  ['120', 120_000],
  ['604800', DAY_MS],
  ['1', 5_000],
])('Retry-After: %s is a pause of %i ms', { tags: ['H3-retries'] }, async (header, pauseMs) => {
  const webhook = await create();
  await endRuns();
  startSender();
  (await nth(1)).reply(429, { 'retry-after': header });
  expect(await recorded(webhook.id)).toMatchObject({ state: 'pending', nextAttemptAt: fixture.clock.now() + pauseMs });
});

test('410 disables the webhook with a reason and a line in the log, and cancels what is pending', {
  tags: ['H3-410'],
}, async () => {
  const webhook = await create();
  await endRuns(3);
  const sender = startSender();
  (await nth(1)).reply(410);
  await waitFor(() => lines.length > 0);
  expect(lines).toMatchObject([{ msg: 'A webhook was disabled.', webhook_id: webhook.id }]);
  const disabledReason = 'The receiver replied with status 410: it wants no more deliveries.';
  expect(await get(webhook.id)).toMatchObject({ enabled: false, disabledReason });
  expect([await pending(webhook.id), disabled]).toEqual([[], 1]);
  await pass(DAY_MS, sender);
  expect(receivers.sent).toHaveLength(1);
});

test('five days without a success disable a webhook', async () => {
  receivers = fakeReceivers(() => 500);
  const webhook = await create({ retryCount: 20, retryBackoffMs: 3_600_000 });
  await endRuns();
  const sender = startSender();
  const startedAt = fixture.clock.now();
  for (let attempts = 1; (await get(webhook.id)).enabled; attempts += 1) {
    await recorded(webhook.id, attempts);
    // What follows the record, and then the next attempt.
    await waitFor(async () => (await get(webhook.id)).enabled || lines.length > 0);
    await pass(10 * 3_600_000, sender);
    await waitFor(() => receivers.sent.length > attempts || lines.length > 0);
  }
  expect(lines).toMatchObject([{ msg: 'A webhook was disabled.' }]);
  expect(fixture.clock.now() - startedAt).toBeGreaterThanOrEqual(5 * DAY_MS);
  const { disabledReason } = await get(webhook.id);
  expect(disabledReason).toMatch(/^All \d+ attempts of 5 days have failed\. The last error: .* status 500\.$/);
});

test('a 410 of the address before disables nothing', async () => {
  const webhook = await create();
  await endRuns();
  startSender();
  const sent = await nth(1);
  await store.webhooks.change(webhook.id, { url: 'https://new.example/hook' });
  sent.reply(410);
  await recorded(webhook.id);
  expect(await get(webhook.id)).toMatchObject({ enabled: true, disabledReason: null, failures: 0 });
});

test('days on which no daemon ran do not disable a webhook at its next failure', async () => {
  receivers = fakeReceivers(() => 500);
  const webhook = await create({ retryCount: 20 });
  await endRuns();
  const [delivery] = await pending(webhook.id);
  const failed = { at: 0, statusCode: 500, durationMs: 1, error: 'It failed.', responseExcerpt: null };
  const retryAt = fixture.clock.now();
  for (let count = 0; count < 12; count += 1)
    await store.deliveries.recordAttempt(delivery!.id, { result: failed, epoch: 1, retryAt });
  fixture.clock.advance(6 * DAY_MS);
  startSender();
  await recorded(webhook.id, 13);
  expect(await get(webhook.id)).toMatchObject({ enabled: true, failures: 13 });
  for (const attempts of [14, 15]) {
    fixture.clock.advance(10 * 3_600_000);
    await recorded(webhook.id, attempts);
  }
  await waitFor(() => lines.some(({ msg }) => msg === 'A webhook was disabled.'));
});

test('a due time survives a restart', async () => {
  const webhook = await create();
  await endRuns();
  const first = startSender();
  (await nth(1)).reply(500);
  await recorded(webhook.id);
  await first.stop();
  fixture.clock.advance(4_000);
  const second = startSender();
  await pass(999, second);
  expect(receivers.sent).toHaveLength(1);
  fixture.clock.advance(1);
  await nth(2);
});

test('an attempt in flight may end while the daemon stops, for three seconds', async () => {
  const webhook = await create();
  await endRuns(2);
  await store.deliveries.recordAttempt((await pending(webhook.id))[0]!.id, {
    result: ARRIVED,
    epoch: 1,
    retryAt: null,
  });
  await endRuns(1);
  const sender = startSender();
  const [fast, slow] = [await nth(1), await nth(2)];
  const stopped = sender.stop();
  fast.reply(200);
  await waitFor(async () => (await pending(webhook.id)).length === 1);
  fixture.clock.advance(3_000);
  await stopped;
  // It was not recorded: the next daemon sends it again.
  expect(await pending(webhook.id)).toMatchObject([{ eventId: slow.eventId, attemptCount: 0 }]);
  startSender();
  expect(await nth(3)).toMatchObject({ eventId: slow.eventId, text: slow.text });
});

const ARRIVED = { at: 0, statusCode: 200, durationMs: 1, error: null, responseExcerpt: null };

test('a clock that is set back by a day delays no retry', async () => {
  const webhook = await create();
  await endRuns();
  const sender = startSender();
  (await nth(1)).reply(500);
  await recorded(webhook.id);
  await sender.settled();
  const { failingSince } = await get(webhook.id);
  fixture.clock.jump(-DAY_MS);
  await pass(5_000, sender);
  await waitFor(() => (sender.wake(), receivers.sent.length === 2));
  expect(await get(webhook.id)).toMatchObject({ failingSince: failingSince! - DAY_MS });
});

test('a clock that is set forward by a week disables no webhook', async () => {
  receivers = fakeReceivers(() => 500);
  const webhook = await create({ retryCount: 20, retryBackoffMs: 100 });
  await endRuns(4);
  const sender = startSender();
  // Its receiver is tried once a second.
  const failures = async (count: number) =>
    waitFor(async () => {
      await pass(1_000, sender);
      return (await get(webhook.id)).failures >= count;
    });
  await failures(4);
  fixture.clock.jump(7 * DAY_MS);
  await failures(4 + 4);
  fixture.clock.advance(3_600_000);
  await failures(12);
  expect(await get(webhook.id)).toMatchObject({ enabled: true });
});

test('a failing webhook is tried once a second, whatever it has to send, and at full pace once it succeeds', async () => {
  let status = 500;
  receivers = fakeReceivers(() => status);
  const webhook = await create({ retryBackoffMs: 3_600_000 });
  await endRuns(9);
  const sender = startSender();
  await waitFor(async () => (await get(webhook.id)).failures === 1);
  await sender.settled();
  for (const seconds of [1, 2, 3]) {
    expect(receivers.sent).toHaveLength(seconds);
    await pass(1_000, sender);
    await waitFor(async () => (await get(webhook.id)).failures === seconds + 1);
    await sender.settled();
  }
  status = 200;
  await pass(1_000, sender);
  await waitFor(() => receivers.sent.length === 9);
});

test('a webhook that is disabled in flight sends nothing more, and what arrived is recorded', {
  tags: ['H17'],
}, async () => {
  const webhook = await create();
  await endRuns(2);
  const sender = startSender();
  const sent = await nth(1);
  await store.webhooks.change(webhook.id, { enabled: false });
  sent.reply(200);
  await waitFor(async () => (await get(webhook.id)).lastSuccessAt !== null);
  await pass(DAY_MS, sender);
  expect(receivers.sent).toHaveLength(1);
});

test('a webhook that is deleted in flight sends nothing more', { tags: ['H17'] }, async () => {
  const webhook = await create();
  await endRuns(2);
  const sender = startSender();
  const sent = await nth(1);
  await store.webhooks.delete(webhook.id);
  while (await store.deliveries.pruneDeleted());
  sent.reply(500);
  await waitFor(() => receivers.open().length === 0);
  await pass(DAY_MS, sender);
  expect(receivers.sent).toHaveLength(1);
  expect(lines).toEqual([]);
});

test('the webhooks of a disabled user rest, and go on within a minute of being enabled again', async () => {
  const webhook = await create({ userSeq: fixture.user.seq });
  await endRuns();
  const { fullName, department, teamId, functionalRole, scenario } = fixture.user;
  const other = { username: 'noor', role: 'admin', passwordHash: 'x' } as const;
  await store.users.create({ ...other, fullName, department, teamId, functionalRole, scenario });
  await store.users.change(fixture.user.username, { disabled: true });
  const sender = startSender();
  await pass(120_000, sender);
  expect(receivers.sent).toEqual([]);
  await store.users.change(fixture.user.username, { disabled: false });
  fixture.clock.advance(60_000);
  (await nth(1)).reply(200);
  await recorded(webhook.id);
});

test('during a rotation both secrets sign, afterwards one', async () => {
  const webhook = await create({ sealSecret: () => Buffer.from('the first of secrets') });
  await store.webhooks.rotateSecret(webhook.id, Buffer.from('the second of secrets'));
  await endRuns();
  const sender = startSender();
  const sent = await nth(1);
  expect(sent.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(sent.headers['X-Service-Signature-Previous']).toBeDefined();
  sent.reply(200);
  await recorded(webhook.id);
  fixture.clock.advance(DAY_MS);
  await endRuns();
  sender.wake([webhook.id]);
  expect((await nth(2)).headers['X-Service-Signature-Previous']).toBeUndefined();
});

test('a secret of another master key is a failure in words, and nothing is sent', async () => {
  const webhook = await create({ sealSecret: () => Buffer.from('sealed by another key') });
  await endRuns();
  const refuse = () => {
    throw new Error('another key');
  };
  startSender({ secrets: { open: refuse } });
  expect(await recorded(webhook.id)).toMatchObject({
    state: 'pending',
    lastError: "The webhook's secret can't be read: it belongs to another master key.",
  });
  expect(receivers.sent).toEqual([]);
});

test('a result that cannot be recorded is recorded later, and nothing is sent twice', async () => {
  const webhook = await create();
  await endRuns();
  let refusals = 0;
  const full: Store = {
    ...store,
    deliveries: {
      ...store.deliveries,
      recordAttempt: async (...args) => {
        refusals += 1;
        if (refusals <= 2) throw new Error('The disk is full.');
        return store.deliveries.recordAttempt(...args);
      },
    },
  };
  const sender = startSender({ store: full });
  (await nth(1)).reply(200);
  for (const count of [1, 2]) {
    await waitFor(() => lines.length === count);
    sender.wake();
    await sender.settled();
    fixture.clock.advance(5_000);
  }
  expect(await recorded(webhook.id)).toMatchObject({ state: 'delivered' });
  expect(receivers.sent).toHaveLength(1);
});

test('what ends while the store is read for its webhook is not sent again', async () => {
  const webhook = await create();
  await endRuns(2);
  let during = async () => undefined as void;
  const slow: Store = {
    ...store,
    deliveries: {
      ...store.deliveries,
      listPending: async (...args) => {
        const rows = await store.deliveries.listPending(...args);
        await during();
        return rows;
      },
    },
  };
  const sender = startSender({ store: slow });
  (await nth(1)).reply(200);
  const second = await nth(2);
  await sender.settled();
  await endRuns();
  during = async () => {
    during = async () => undefined;
    second.reply(200);
    await waitFor(async () => (await pending(webhook.id)).length === 1);
    // The attempt is told after its record.
    await new Promise((resolve) => setImmediate(resolve));
  };
  sender.wake([webhook.id]);
  (await nth(3)).reply(200);
  await waitFor(async () => (await pending(webhook.id)).length === 0);
  await sender.settled();
  expect(new Set(receivers.sent.map(({ eventId }) => eventId)).size).toBe(3);
  expect(receivers.sent).toHaveLength(3);
});

test('what becomes due while all webhooks are looked at is sent at once, and so it is when the look fails', async () => {
  const webhook = await create();
  await endRuns();
  const [delivery] = await pending(webhook.id);
  const sender = startSender();
  (await nth(1)).reply(200);
  await recorded(webhook.id);
  const { listLanes, redeliver } = store.deliveries;
  const meanwhile = async () => {
    await redeliver(delivery!.id);
    sender.wake();
  };
  const look = vi.spyOn(store.deliveries, 'listLanes');
  look.mockImplementationOnce(async () => {
    const lanes = await listLanes();
    await meanwhile();
    return lanes;
  });
  sender.wake();
  (await nth(2)).reply(200);
  await recorded(webhook.id, 2);
  look.mockImplementationOnce(async () => {
    await meanwhile();
    throw new Error('The disk is full.');
  });
  sender.wake();
  await waitFor(() => lines.some(({ msg }) => msg === 'Webhooks could not be sent.'));
  await pass(5_000, sender);
  await nth(3);
});

test('a backlog is sent oldest first, at 20 a second', async () => {
  receivers = fakeReceivers(() => 200);
  const webhook = await create();
  await endRuns(60);
  const planned = (await pending(webhook.id)).map(({ eventId }) => eventId);
  fixture.clock.advance(DAY_MS);
  const sender = startSender();
  await waitFor(() => receivers.sent.length === 20);
  await waitFor(async () => (await pending(webhook.id)).length === 40);
  await sender.settled();
  expect(receivers.sent).toHaveLength(20);
  for (let second = 1; second <= 2; second += 1) {
    for (let step = 1; step <= 20; step += 1) {
      const count = second * 20 + step;
      fixture.clock.advance(50);
      await waitFor(() => receivers.sent.length === count);
      await sender.settled();
    }
  }
  expect(receivers.sent.map(({ eventId }) => eventId)).toEqual(planned);
});

test('a webhook has one attempt in flight until one succeeded, then four', async () => {
  const webhook = await create();
  await endRuns(12);
  const sender = startSender();
  (await nth(1)).reply(200);
  await nth(5);
  sender.wake();
  await sender.settled();
  expect(receivers.open()).toHaveLength(4);
  receivers.open()[0]!.reply(500);
  await waitFor(async () => receivers.open().length === 3);
  for (const one of receivers.open()) one.reply(500);
  await waitFor(async () => (await get(webhook.id)).failures === 4);
  await sender.settled();
  await pass(1_000, sender);
  const last = await nth(6);
  sender.wake();
  await sender.settled();
  expect(receivers.open()).toEqual([last]);
});
