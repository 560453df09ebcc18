// Webhooks over HTTP and a real store: who may, what is refused, what is kept, and what a test reports.
import { Resolver } from 'node:dns/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AttemptResult } from '../../../src/domain/webhooks/delivery.ts';
import type { EgressPolicy } from '../../../src/outbound/egress.ts';
import { makeGuardedPool } from '../../../src/outbound/guarded-pool.ts';
import type { DeliveryTarget } from '../../../src/store/webhooks/deliveries.ts';
import { type Message, sendOnce } from '../../../src/webhooks/send-once.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeDeliveryOperations } from '../../../src/operations/webhooks/deliveries.ts';
import { makeTestWebhook } from '../../../src/operations/webhooks/test-webhook.ts';
import { makeWebhookOperations } from '../../../src/operations/webhooks/webhooks.ts';
import { auditOf } from '../../support/store/audit.ts';
import { type Fixture, loggedLines, openFixture, type Sent, send, SETTINGS } from '../../support/http/http-fixture.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook } from '../../support/store/webhooks.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const WEBHOOKS = '/api/v1/webhooks';
const DELIVERIES = '/api/v1/webhook-deliveries';
const SECRET = 'a secret of 24 bytes....';
const NEW = { name: 'Ledger', url: 'https://ledger.example/hook', events: ['session.completed'] };

let rows: StoreFixture;
let fixture: Fixture;
let happened: string[];
let sent: { readonly url: string; readonly body: string }[];
let result: AttemptResult;
/** Attempts of tests wait for it. */
let replying: Promise<void>;
/** Under which tests send; they play their result when there is none. */
let egress: EgressPolicy | null;
/** Of the user of every token, of another user, and of the system. */
let own: number;
let ofOther: number;
let ofSystem: number;

beforeEach(async () => {
  rows = await storeFixture();
  const { store, clock, user } = rows;
  [happened, sent] = [[], []];
  result = { at: clock.now(), statusCode: 204, durationMs: 3, error: null, responseExcerpt: null };
  [replying, egress] = [Promise.resolve(), null];
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const otto = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  const make = async (userSeq: number | null) => (await store.webhooks.create(aWebhook({ userSeq }))).id;
  [own, ofOther, ofSystem] = [await make(user.seq), await make(otto.seq), await make(null)];
  const access = makeAccess(store);
  const logged = loggedLines();
  const audit = auditOf({ store, log: logged.log });
  const auditedAccess = makeAuditedAccess({ access, audit });
  const note = (occasion: string) => void happened.push(occasion);
  const secrets = { seal: (text: string, context: string) => Buffer.from(`${context}|${text}`) };
  const settings = () => SETTINGS;
  const operations = {
    ...makeWebhookOperations({ store, access, auditedAccess, audit, secrets, settings, happened: note }),
    ...makeDeliveryOperations({ store, access, audit, happened: note }),
    testWebhook: makeTestWebhook({
      store,
      access,
      audit,
      clock,
      webhooks: {
        sendOnce: async (target, message) => {
          sent.push({ url: target.webhook.url, body: message.body });
          await replying;
          return egress === null ? result : sendUnder(egress, target, message);
        },
      },
    }),
  };
  fixture = await openFixture({ logged, operations });
});

async function sendUnder(policy: EgressPolicy, ...sent: [DeliveryTarget, Message]): Promise<AttemptResult> {
  const pool = makeGuardedPool({ policy: () => policy, maxIdle: 0, clock: rows.clock });
  onTestFinished(pool.close);
  return sendOnce({ pool, secrets: { open: () => '' }, clock: rows.clock }, ...sent);
}

const data = ({ json }: { json: unknown }) => (json as { data: Record<string, never> }).data;
const message = ({ json }: { json: unknown }) => (json as { message: string }).message;
const as = (credential: string) => (sending: Sent) => send(fixture, { as: credential, ...sending });
const [user, admin] = [as('token-of-user'), as('token-of-admin')];
const create = (body: object, by = user) => by({ method: 'POST', path: WEBHOOKS, body: { ...NEW, ...body } });
const change = (body: object, id = own) => user({ method: 'PATCH', path: `${WEBHOOKS}/${id}`, body });

const CALLERS: readonly (readonly [string, Partial<Sent>, number])[] = [
  ['nobody', {}, 401],
  ['a disabled user', { as: 'disabled-token' }, 403],
  ['a key of scope global', { as: 'global-key' }, 403],
  ['an admin key of no administrator', { as: 'demoted-admin-key' }, 403],
  ['the owner with a login token', { as: 'token-of-user' }, 200],
  ["an administrator's token", { as: 'token-of-admin' }, 200],
  ["an administrator's key", { as: 'admin-key' }, 200],
  ['the operator', { via: 'socket' }, 200],
];

describe.each(CALLERS)('%s', (_name, who, status) => {
  test.each([
    ['lists webhooks', () => ({ path: WEBHOOKS })],
    ['reads one', () => ({ path: `${WEBHOOKS}/${own}` })],
    ['changes one', () => ({ method: 'PATCH', path: `${WEBHOOKS}/${own}`, body: { enabled: false } })],
    ['tests one', () => ({ method: 'POST', path: `${WEBHOOKS}/${own}/test`, body: { event_type: 'session.failed' } })],
    ['lists its deliveries', () => ({ path: `${WEBHOOKS}/${own}/deliveries` })],
    ['lists deliveries', () => ({ path: DELIVERIES })],
    ['deletes one', () => ({ method: 'DELETE', path: `${WEBHOOKS}/${own}` })],
  ] as const)(`${status}: %s`, { tags: ['§4.9-test', 'H8'] }, async (_what, request) => {
    const got = await send(fixture, { ...request(), ...who });
    expect([got.status, Object.keys(got.json as object).sort()]).toEqual([status, ['code', 'data', 'message']]);
  });
});

test("another user's webhook and a system webhook are 403, an unknown one and a malformed id 404", {
  tags: ['A8-ids', 'H8'],
}, async () => {
  const statusOf = async (id: number | string) => (await user({ path: `${WEBHOOKS}/${id}` })).status;
  expect(await Promise.all([ofOther, ofSystem, 999, 'x', '0', '1e3'].map(statusOf))).toEqual([
    403, 403, 404, 404, 404, 404,
  ]);
  expect((await user({ method: 'DELETE', path: `${WEBHOOKS}/${ofOther}` })).status).toBe(403);
});

test('a new webhook has the documented defaults, and never shows its secret', {
  tags: ['§2.15-fields', 'H1'],
}, async () => {
  const got = await create({ secret: SECRET });
  expect(got.status).toBe(201);
  const { id } = data(got) as unknown as { id: number };
  expect(data(got)).toEqual({
    ...NEW,
    id,
    scope: 'global',
    project_id: null,
    session_kinds: null,
    has_secret: true,
    timeout_ms: 10_000,
    retry_count: 7,
    retry_backoff_ms: 5_000,
    enabled: true,
    owner_scope: 'user',
    username: 'mara',
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    disabled_reason: null,
    failing_since: null,
    last_success_at: null,
  });
  const target = await rows.store.deliveries.findTarget(id, rows.clock.now());
  expect(target?.secret?.toString()).toBe(`webhook:${id}|${SECRET}`);
  expect(happened).toEqual(['webhook changed']);
  expect(JSON.stringify(fixture.lines)).not.toContain(SECRET);
});

test.each([
  ['no events', { events: [] }, 'events'],
  ['an unknown event', { events: ['session.done'] }, 'events[0]'],
  ['an event twice', { events: ['session.failed', 'session.failed'] }, 'events'],
  ['no session kinds', { session_kinds: [] }, 'session_kinds'],
  ['an odd session kind', { session_kinds: ['web'] }, 'session_kinds[0]'],
  ['a relative address', { url: '/hook' }, 'url'],
  ['another scheme', { url: 'ftp://ledger.example/' }, 'url'],
  ['an address with a user', { url: 'https://ann@ledger.example/' }, 'url'],
  ['a short secret', { secret: '15 bytes, short' }, 'secret'],
  ['a secret of two lines', { secret: 'a secret of\ntwo lines, long enough' }, 'secret'],
  ['a lone surrogate', { secret: 'a secret, long enough \ud800' }, 'secret'],
  ['a secret of 1,025 bytes', { secret: 'ü'.repeat(513) }, 'secret'],
  ['too short a timeout', { timeout_ms: 99 }, 'timeout_ms'],
  ['too many retries', { retry_count: 21 }, 'retry_count'],
  ['too long a backoff', { retry_backoff_ms: 3_600_001 }, 'retry_backoff_ms'],
  ['a project in the scope global', { scope: 'global', project_id: rowsUuid() }, 'project_id'],
  ['the scope project without one', { scope: 'project' }, 'project_id'],
])('%s is 422, and nothing is kept', { tags: ['§2.15-addresses', 'H17'] }, async (_name, body, field) => {
  const got = await create(body);
  expect([got.status, message(got)]).toEqual([422, expect.stringMatching(`^${field.replace(/[[\]]/g, '\\$&')}: `)]);
  expect(data(await user({ path: WEBHOOKS }))).toMatchObject({ total: 1 });
});

function rowsUuid(): string {
  return '0190f6a0-0000-7000-8000-000000000000';
}

test.each([
  'http://127.0.0.1:9/',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://169.254.169.254/latest',
  'https://localhost/hook',
  'https://a.localhost/hook',
  'https://ledger.example:8443/',
  'http://0x7f000001/',
])('%s may not be reached: 400 when it is saved, new or changed', { tags: ['H7'] }, async (url) => {
  const got = await create({ url });
  expect([got.status, message(got)]).toEqual([400, expect.stringContaining('may not be reached')]);
  expect((await change({ url })).status).toBe(400);
  expect((await rows.store.webhooks.find(own))!.url).toBe('https://ledger.example/hook');
});

test('a name is saved without being looked up: the reply tells nothing of the names that the network knows', async () => {
  const asked = vi.spyOn(Resolver.prototype, 'resolve4');
  for (const url of ['https://db.corp.internal/hook', 'https://nowhere.invalid/hook']) {
    const got = await create({ url });
    expect([got.status, data(got)['url']]).toEqual([201, url]);
    expect((await change({ url })).status).toBe(200);
  }
  expect(asked).not.toHaveBeenCalled();
});

test('system webhooks are made, listed and seen by administrators, in the scope global', {
  tags: ['§4.9-list'],
}, async () => {
  expect((await create({ owner_scope: 'system' })).status).toBe(403);
  expect((await create({ owner_scope: 'system', project_id: rowsUuid() }, admin)).status).toBe(422);
  const made = await create({ owner_scope: 'system' }, admin);
  expect(data(made)).toMatchObject({ owner_scope: 'system', username: null });
  expect((await user({ path: `${WEBHOOKS}?owner_scope=system` })).status).toBe(403);
  expect(data(await admin({ path: `${WEBHOOKS}?owner_scope=system` }))).toMatchObject({ total: 2 });
  expect(data(await admin({ path: `${WEBHOOKS}?owner_scope=user` }))).toMatchObject({ total: 2 });
  expect(data(await user({ path: WEBHOOKS }))).toMatchObject({ total: 1, items: [{ id: own }] });
});

test('the operator makes system webhooks, or names whose they are', async () => {
  const bySocket = (body: object) =>
    send(fixture, { via: 'socket', method: 'POST', path: WEBHOOKS, body: { ...NEW, ...body } });
  expect(data(await bySocket({}))).toMatchObject({ owner_scope: 'system' });
  expect(data(await bySocket({ user: 'otto' }))).toMatchObject({ owner_scope: 'user', username: 'otto' });
  expect((await bySocket({ user: 'nobody' })).status).toBe(404);
  expect((await bySocket({ owner_scope: 'user' })).status).toBe(422);
  expect((await create({ user: 'otto' })).status).toBe(403);
});

test('changes touch what they name; a new secret overlaps with the one before, null removes it', async () => {
  expect(data(await change({ name: 'Other', session_kinds: ['api'], secret: SECRET }))).toMatchObject({
    name: 'Other',
    session_kinds: ['api'],
    has_secret: true,
    url: 'https://ledger.example/hook',
  });
  await change({ secret: `${SECRET}2` });
  const target = await rows.store.deliveries.findTarget(own, rows.clock.now());
  expect([target!.secret, target!.previousSecret].map(String)).toEqual([
    `webhook:${own}|${SECRET}2`,
    `webhook:${own}|${SECRET}`,
  ]);
  expect(data(await change({ secret: null }))).toMatchObject({ has_secret: false });
  expect(data(await change({ project_id: rowsUuid() }))).toMatchObject({ scope: 'project', project_id: rowsUuid() });
  expect(data(await change({ scope: 'global' }))).toMatchObject({ scope: 'global', project_id: null });
});

test('a deleted webhook is gone, with its deliveries', { tags: ['H17'] }, async () => {
  expect(data(await user({ method: 'DELETE', path: `${WEBHOOKS}/${own}` }))).toEqual({ id: own });
  expect((await user({ path: `${WEBHOOKS}/${own}/deliveries` })).status).toBe(404);
  expect(happened).toEqual(['webhook changed']);
});

test.each([
  ['disabled', { enabled: false, events: ['session.completed'] }],
  ['event_type_filtered', { events: ['session.completed'], session_kinds: ['scheduled'] }],
  ['session_kind_filtered', { session_kinds: ['scheduled'], scope: 'project', project_id: rowsUuid() }],
  ['session_project_missing', { scope: 'project', project_id: rowsUuid() }],
])(
  'a test is held back by %s, the first filter that applies, and nothing is sent',
  { tags: ['§6.6-reasons', 'H5'] },
  async (reason, filters) => {
    await change(filters);
    const got = await user({ method: 'POST', path: `${WEBHOOKS}/${own}/test`, body: { event_type: 'session.failed' } });
    expect(data(got)).toMatchObject({ delivered: false, matched: false, filtered_reason: reason, event_id: null });
    expect([sent, data(await user({ path: `${WEBHOOKS}/${own}/deliveries` }))['total']]).toEqual([[], 0]);
  },
);

test('a caller has two tests in flight, and a third is 429 until one has ended', async () => {
  const { promise, resolve: reply } = Promise.withResolvers<void>();
  replying = promise;
  const request = { method: 'POST', path: `${WEBHOOKS}/${own}/test`, body: { event_type: 'session.failed' } };
  const going = [user(request), user(request)];
  await waitFor(() => sent.length === 2);
  const refused = await user(request);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '2']);
  going.push(send(fixture, { ...request, via: 'socket' }));
  await waitFor(() => sent.length === 3);
  reply();
  expect((await Promise.all(going)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await user(request)).status).toBe(200);
});

test('a test without a session sends a made-up event once, and keeps it with its attempt', {
  tags: ['§6.6-session', 'H10'],
}, async () => {
  result = { ...result, statusCode: 500, error: 'The receiver replied with status 500.', responseExcerpt: 'no' };
  const got = await user({ method: 'POST', path: `${WEBHOOKS}/${own}/test`, body: { event_type: 'session.failed' } });
  expect(data(got)).toEqual({
    delivered: false,
    matched: true,
    filtered_reason: null,
    tested_session_id: null,
    tested_session_kind: 'chat',
    tested_project_id: null,
    event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    status_code: 500,
    duration_ms: 3,
    error: 'The receiver replied with status 500.',
    response_excerpt: 'no',
  });
  const { items } = data(await user({ path: `${WEBHOOKS}/${own}/deliveries` })) as unknown as {
    items: { id: number }[];
  };
  expect(items).toMatchObject([{ is_test: true, state: 'failed', attempt_count: 1, session_id: null }]);
  const record = data(await user({ path: `${DELIVERIES}/${items[0]!.id}` }));
  expect(record).toMatchObject({
    body: sent[0]!.body,
    attempts: [{ no: 1, status_code: 500, response_excerpt: 'no' }],
  });
  expect(JSON.parse(sent[0]!.body)).toMatchObject({
    is_test: true,
    event_id: data(got)['event_id'],
    webhook: { id: own },
  });
});

test('a test and its delivery report alike a name that nobody knows, one that leads inside, and one that takes too long', async () => {
  egress = {
    purpose: 'webhook',
    allow: [],
    resolve: async (name) => {
      if (name.startsWith('private')) return [{ address: '10.0.0.7', family: 4 }];
      if (name.startsWith('unknown')) throw new Error(`queryA ENOTFOUND ${name}`);
      rows.clock.advance(100);
      return new Promise(() => undefined);
    },
  };
  const reported = async (host: string) => {
    const hook = data(await create({ url: `https://${host}/`, timeout_ms: 100 }))['id'];
    const body = { event_type: 'session.completed' };
    const tested = await user({ method: 'POST', path: `${WEBHOOKS}/${hook}/test`, body });
    const { event_id: _, duration_ms: __, ...shown } = data(tested) as Record<string, unknown>;
    const { items } = data(await user({ path: `${WEBHOOKS}/${hook}/deliveries` })) as unknown as {
      items: readonly { readonly last_error: string; readonly state: string }[];
    };
    expect(items).toMatchObject([{ state: 'failed', last_error: shown['error'] }]);
    return JSON.stringify([tested.status, shown]).replaceAll(host, 'HOST');
  };
  const ofPrivate = await reported('private.example');
  expect(ofPrivate).toContain('The host HOST has no address that may be reached.');
  expect(await reported('unknown.example')).toBe(ofPrivate);
  expect(await reported('slow.example')).toBe(ofPrivate);
});

test('a test with a session uses its kind and project: one of another user is 403, an unknown one 404', {
  tags: ['§4.9-test', '§6.6-session', 'H10'],
}, async () => {
  const run = await rows.accept();
  const body = { event_type: 'session.completed', session_id: run.sessionId };
  const test = (by = user) => by({ method: 'POST', path: `${WEBHOOKS}/${own}/test`, body });
  expect(data(await test())).toMatchObject({ delivered: true, tested_session_id: run.sessionId });
  expect(JSON.parse(sent[0]!.body)).toMatchObject({ session: { session_id: run.sessionId } });
  const ofAnother = await rows.accept({ user: { ...rows.user, seq: (await rows.store.users.get('otto')).seq } });
  body.session_id = ofAnother.sessionId;
  expect((await test()).status).toBe(403);
  body.session_id = rowsUuid();
  expect((await test()).status).toBe(404);
});

test("an administrator's test reports a session to its owner's webhooks and system webhooks alone, and is recorded", async () => {
  const otto = await rows.store.users.get('otto');
  const { sessionId } = await rows.accept({ user: { ...rows.user, seq: otto.seq } });
  const body = { event_type: 'session.completed', session_id: sessionId };
  const test = (id: number) => admin({ method: 'POST', path: `${WEBHOOKS}/${id}/test`, body });
  const refused = await test(own);
  expect([refused.status, message(refused), sent]).toEqual([403, expect.stringContaining('another user'), []]);
  expect([(await test(ofOther)).status, (await test(ofSystem)).status]).toEqual([200, 200]);
  const entries = rows.rows('SELECT action, session_id FROM audit_entries ORDER BY id');
  expect(entries).toContainEqual({ action: 'session.read', session_id: sessionId });
});

test('a made-up session is of the owner of the webhook, whoever tests it', async () => {
  const usernames = [];
  for (const id of [own, ofOther, ofSystem]) {
    const path = `${WEBHOOKS}/${id}/test`;
    await send(fixture, { via: 'socket', method: 'POST', path, body: { event_type: 'session.failed' } });
    usernames.push((JSON.parse(sent.at(-1)!.body) as { user: { username: string } }).user.username);
  }
  expect(usernames).toEqual([rows.user.username, 'otto', 'operator']);
});

test('a page of deliveries begins among the first 10,000', async () => {
  const statusOf = async (offset: number) => (await user({ path: `${DELIVERIES}?offset=${offset}` })).status;
  expect([await statusOf(10_000), await statusOf(10_001)]).toEqual([200, 422]);
});

test('deliveries are made again one by one and many at a time, but not of a disabled webhook', {
  tags: ['H11'],
}, async () => {
  result = { ...result, statusCode: null, error: 'Refused.' };
  for (const event_type of ['session.failed', 'session.stopped'])
    await user({ method: 'POST', path: `${WEBHOOKS}/${own}/test`, body: { event_type } });
  const list = async (query = '') =>
    (data(await user({ path: `${DELIVERIES}${query}` })) as unknown as { items: { id: number; state: string }[] })
      .items;
  const [newest] = await list();
  happened.length = 0;
  const again = await user({ method: 'POST', path: `${DELIVERIES}/${newest!.id}/redeliver` });
  expect(data(again)).toMatchObject({ state: 'pending', next_attempt_at: '2026-03-01T12:00:00.000Z' });
  const many = { webhook_id: own, since: '2026-03-01T00:00:00Z' };
  const redeliver = (body: object) => user({ method: 'POST', path: `${DELIVERIES}/redeliver`, body });
  expect(data(await redeliver(many))).toEqual({ count: 1 });
  expect(happened).toEqual(['webhook changed', 'webhook changed']);
  expect((await list('?state=pending')).length).toBe(2);
  expect((await list('?event_type=session.stopped')).length).toBe(1);
  expect((await list('?until=2026-03-01T12:00:00Z')).length).toBe(0);
  await change({ enabled: false });
  expect((await redeliver(many)).status).toBe(409);
  expect((await user({ method: 'POST', path: `${DELIVERIES}/${newest!.id}/redeliver` })).status).toBe(409);
  expect((await redeliver({ ...many, webhook_id: ofOther })).status).toBe(403);
});
