// Events read without a webhook, as one would receive them.
import { beforeEach, expect, test } from 'vitest';
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhooks/webhook.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook } from '../../support/store/webhooks.ts';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await storeFixture();
});

async function stopRun(turn: Parameters<StoreFixture['accept']>[0] = {}): Promise<string> {
  const run = await fixture.accept(turn);
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  return run.sessionId;
}

type Wanted = Parameters<StoreFixture['store']['deliveries']['readEvents']>[0];
async function read(over: Partial<Wanted> = {}) {
  const wanted = { owner: 0, types: WEBHOOK_EVENT_TYPES, afterId: 0, limit: 9, ...over };
  const { events, ...page } = await fixture.store.deliveries.readEvents(wanted);
  return { ...page, events, sessions: events.map(({ body }) => JSON.parse(body).session.session_id as string) };
}

/** A user with a key of their own. */
async function another() {
  const user = await fixture.store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  const secretSha256 = Buffer.alloc(32);
  const key = await fixture.store.keys.create({ ...fixture.key, id: 'key-olga', userSeq: user.seq, secretSha256 });
  return { user, key };
}

test('an event has the body and the id that a webhook would be sent, but for the webhook', async () => {
  const { id } = await fixture.store.webhooks.create(aWebhook());
  await stopRun();
  await fixture.store.deliveries.plan();
  const [sent] = await fixture.store.deliveries.listPending(id, 9);
  const [event] = (await read()).events;
  expect(event).toMatchObject({ eventId: sent!.eventId, eventType: 'session.stopped' });
  const body = JSON.parse(sent!.body);
  expect(JSON.parse(event!.body)).toEqual({ ...body, webhook: { id: 0, owner_scope: 'system' } });
});

test('a user reads their own events, the system scope all', async () => {
  const mine = await stopRun();
  const other = await another();
  const hers = await stopRun(other);
  expect((await read()).sessions).toEqual([mine, hers]);
  expect((await read({ owner: fixture.user.seq })).sessions).toEqual([mine]);
  const [event] = (await read({ owner: other.user.seq })).events;
  expect(JSON.parse(event!.body)).toMatchObject({ session: { session_id: hers }, webhook: { owner_scope: 'user' } });
});

test('pages follow one another without a gap, also over events of others', async () => {
  const other = await another();
  const mine = [];
  for (let no = 0; no < 5; no += 1) {
    mine.push(await stopRun());
    await stopRun(other);
  }
  const found = [];
  let [afterId, more] = [0, true];
  while (more) {
    const { sessions, nextAfterId, hasMore } = await read({ owner: fixture.user.seq, afterId, limit: 2 });
    found.push(...sessions);
    [afterId, more] = [nextAfterId, hasMore];
  }
  expect(found).toEqual(mine);
  const next = await stopRun();
  expect((await read({ owner: fixture.user.seq, afterId })).sessions).toEqual([next]);
});

test('without a place to begin, only what comes is read; of the types that are asked for', async () => {
  await stopRun();
  const { events, nextAfterId } = await read({ afterId: null });
  expect(events).toEqual([]);
  const next = await stopRun();
  expect((await read({ afterId: nextAfterId })).sessions).toEqual([next]);
  expect((await read({ afterId: nextAfterId, types: ['session.failed', 'publish_page.failed'] })).events).toEqual([]);
});

test('an event that cannot be read is left out with its fault, and stops none that come after it', async () => {
  await stopRun();
  const second = await stopRun();
  fixture.change(
    "UPDATE events SET payload = 'no JSON' WHERE id = (SELECT min(id) FROM events WHERE type = 'run.stopped')",
  );
  expect(await read()).toMatchObject({ sessions: [second], faults: [expect.any(SyntaxError)] });
});
