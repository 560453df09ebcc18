// Listening to events: whose, from where on, for how long, and how many may wait.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../src/domain/webhooks/webhook.ts';
import { type Arrivals, makeArrivals } from '../../../src/events/arrivals.ts';
import { makeBus } from '../../../src/events/bus.ts';
import type { Caller } from '../../../src/domain/people/user.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { type ListenQuery, makeListenOperations } from '../../../src/operations/webhooks/listen.ts';
import { EVENT_BODIES } from '../../../src/wire/webhooks/event-bodies.ts';
import { auditOf } from '../../support/store/audit.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const ORIGIN = { address: 'socket', requestId: 'r' };
const OPERATOR: Caller = { kind: 'operator', reach: 'all', origin: ORIGIN };
const STAYS = new AbortController().signal;

let fixture: StoreFixture;
let self: Caller;
let draining: AbortController;
/** Resolves when the next request waits. */
let nextWait: () => Promise<void>;
let verbs: ReturnType<typeof makeListenOperations>;
let reads: number;

beforeEach(async () => {
  fixture = await storeFixture();
  const { store, clock, user } = fixture;
  self = { kind: 'token', user: { ...user, role: 'user' }, reach: 'user' };
  draining = new AbortController();
  const bus = makeBus();
  store.onCommitted((events) => bus.publish(events));
  let waits: (() => void)[] = [];
  nextWait = () => new Promise((resolve) => void waits.push(resolve));
  const inner = makeArrivals({ bus, clock });
  const arrivals: Arrivals = {
    expect: (types) => {
      const expected = inner.expect(types);
      return {
        ...expected,
        arrival: (...given) => {
          const arrived = expected.arrival(...given);
          for (const resolve of waits) resolve();
          waits = [];
          return arrived;
        },
      };
    },
  };
  reads = 0;
  const { readEvents, findTestFacts } = store.deliveries;
  const counted = {
    findTestFacts,
    readEvents: (...given: Parameters<typeof readEvents>) => {
      reads += 1;
      return readEvents(...given);
    },
  };
  const audit = auditOf({ store });
  const auditedAccess = makeAuditedAccess({ access: makeAccess(store), audit });
  const parts = { store: { deliveries: counted }, audit, auditedAccess, arrivals, clock, draining: draining.signal };
  verbs = makeListenOperations(parts as never);
  onTestFinished(() => draining.abort());
});

const QUERY: ListenQuery = { ownerScope: null, types: WEBHOOK_EVENT_TYPES, afterId: 0, limit: 9, waitMs: 0 };
const listen = (caller: Caller, over: Partial<ListenQuery> = {}, gone = STAYS) =>
  verbs.listenToEvents(caller, { ...QUERY, ...over }, gone);

async function stopRun(turn: Parameters<StoreFixture['accept']>[0] = {}): Promise<string> {
  const run = await fixture.accept(turn);
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  return run.sessionId;
}

async function anotherUser() {
  const user = await fixture.store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  const secretSha256 = Buffer.alloc(32);
  const key = await fixture.store.keys.create({ ...fixture.key, id: 'key-olga', userSeq: user.seq, secretSha256 });
  return { user, key };
}

const sessionsOf = ({ events }: Awaited<ReturnType<typeof listen>>) =>
  events.map(({ body }) => JSON.parse(body).session.session_id as string);

test("a user hears their own events, and never others'", async () => {
  const mine = await stopRun();
  await stopRun(await anotherUser());
  expect(sessionsOf(await listen(self))).toEqual([mine]);
  await expect(listen(self, { ownerScope: 'system' })).rejects.toMatchObject({ reason: 'forbidden' });
});

test("the operator hears everybody's, which is in the audit log", async () => {
  const both = [await stopRun(), await stopRun(await anotherUser())];
  expect(sessionsOf(await listen(OPERATOR))).toEqual(both);
  await expect(listen(OPERATOR, { ownerScope: 'user' })).rejects.toMatchObject({ reason: 'unprocessable' });
  expect(fixture.rows<{ action: string }>('SELECT action FROM audit_entries')).toEqual([{ action: 'house.follow' }]);
});

test('an administrator hears their own events unless they ask for all', async () => {
  const admin: Caller = { kind: 'token', user: fixture.user, reach: 'all', origin: ORIGIN };
  const mine = await stopRun();
  const others = await stopRun(await anotherUser());
  expect(sessionsOf(await listen(admin))).toEqual([mine]);
  expect(sessionsOf(await listen(admin, { ownerScope: 'system' }))).toEqual([mine, others]);
});

test('who waits hears an event when it is committed', async () => {
  const waits = nextWait();
  const heard = listen(self, { waitMs: 30_000 });
  await waits;
  const mine = await stopRun();
  expect(sessionsOf(await heard)).toEqual([mine]);
});

test('without a position to begin, who waits hears what comes from then on', async () => {
  await stopRun();
  const waits = nextWait();
  const heard = listen(self, { afterId: null, waitMs: 30_000 });
  await waits;
  const mine = await stopRun();
  expect(sessionsOf(await heard)).toEqual([mine]);
});

test('who waits hears the end of a run once it is known whether it has left files', async () => {
  await fixture.accept();
  const [run] = await fixture.claim();
  const heard = listen(self, { waitMs: 30_000 });
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  await waitFor(() => reads > 1);
  const files = [{ path: '/a', size: 1, sha256: 'a' }];
  await fixture.store.artifacts.recordArtifacts(run!.seq, { files, skipped: {} });
  let page: Awaited<typeof heard> | undefined;
  void heard.then((got) => (page = got));
  const { events: got } = await waitFor(() => {
    fixture.clock.advance(200);
    return page;
  });
  expect(got.map(({ body }) => JSON.parse(body).summary.has_artifacts)).toEqual([true]);
});

test('when the time is over, the reply is empty and says where to continue', async () => {
  const waits = nextWait();
  const heard = listen(self, { waitMs: 30_000 });
  await waits;
  fixture.clock.advance(30_000);
  expect(await heard).toEqual({ events: [], nextAfterId: 0, hasMore: false });
});

test("others' events, however many, make nobody read at each of them", async () => {
  const other = await anotherUser();
  const waits = nextWait();
  const heard = listen(self, { waitMs: 30_000 });
  await waits;
  await stopRun(other);
  await waitFor(() => reads === 2);
  for (let no = 0; no < 5; no += 1) await stopRun(other);
  expect(reads).toBe(2);
  const mine = await stopRun();
  fixture.clock.advance(200);
  expect(sessionsOf(await heard)).toEqual([mine]);
  expect(reads).toBe(3);
});

test('a position after the end of the journal is put back to its end', async () => {
  await stopRun();
  const newest = fixture.committed.at(-1)!.id;
  expect(await listen(self, { afterId: newest + 1_000 })).toEqual({ events: [], nextAfterId: newest, hasMore: false });
});

test('a client that leaves, and a daemon that ends, end the wait', async () => {
  const client = new AbortController();
  let waits = nextWait();
  const left = listen(self, { waitMs: 30_000 }, client.signal);
  await waits;
  client.abort();
  expect(await left).toMatchObject({ events: [] });
  waits = nextWait();
  const waiting = listen(self, { waitMs: 30_000 });
  await waits;
  draining.abort();
  await expect(waiting).rejects.toMatchObject({ reason: 'unavailable' });
});

test('only so many of one owner wait at a time, and who leaves makes room', async () => {
  const client = new AbortController();
  const waiting = [];
  for (let no = 0; no < 8; no += 1) {
    const waits = nextWait();
    waiting.push(listen(self, { waitMs: 30_000 }, client.signal));
    await waits;
  }
  await expect(listen(self, { waitMs: 1 })).rejects.toMatchObject({ reason: 'rate_limited' });
  expect(await listen(self)).toMatchObject({ events: [] });
  client.abort();
  await Promise.all(waiting);
  const waits = nextWait();
  const next = listen(self, { waitMs: 5 });
  await waits;
  fixture.clock.advance(5);
  expect(await next).toMatchObject({ events: [] });
});

test.each(WEBHOOK_EVENT_TYPES)('a sample of %s is a body of its type, made up or of a session', async (eventType) => {
  const read = (body: string, type: WebhookEventType) => EVENT_BODIES[type].read(JSON.parse(body), '');
  const madeUp = await verbs.getSampleEvent(self, { eventType, sessionId: null });
  expect(read(madeUp.body, eventType)).toMatchObject({ is_test: true, event_id: madeUp.eventId, webhook: { id: 0 } });
  const sessionId = await stopRun();
  const real = await verbs.getSampleEvent(self, { eventType, sessionId });
  expect(read(real.body, eventType)).toMatchObject({ is_test: true, user: { username: 'mara' } });
});

test('a sample of a session of another user is refused', async () => {
  const sessionId = await stopRun(await anotherUser());
  const sample = verbs.getSampleEvent(self, { eventType: 'session.stopped', sessionId });
  await expect(sample).rejects.toMatchObject({ reason: 'forbidden' });
});
