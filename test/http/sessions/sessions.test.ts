// A key's own sessions and the administrators' view, over HTTP and a real store.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Run } from '../../../src/domain/sessions/run.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeTails } from '../../../src/events/tail.ts';
import { makeStopper } from '../../../src/execution/queue/stop.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeSessionOperations } from '../../../src/operations/sessions/sessions.ts';
import { makeGetQueue } from '../../../src/operations/turns/queue.ts';
import { makeRunOperations } from '../../../src/operations/turns/runs.ts';
import { auditOf } from '../../support/store/audit.ts';
import { type Fixture, loggedLines, openFixture, send, SETTINGS } from '../../support/http/http-fixture.ts';
import { makeSseParser } from '../../support/http/sse.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';
const API = '/openapi/v1/sessions';
const ADMIN = '/api/v1';

let rows: StoreFixture;
let fixture: Fixture;
/** Three sessions of the first key's; one of the second key's, one of another user's. */
let own: Run[];
let ofSecondKey: Run;
let ofOther: Run;

beforeEach(async () => {
  rows = await storeFixture();
  const { store, clock } = rows;
  const second = await rows.makeKey();
  const other = await store.users.create({
    username: 'otto',
    fullName: '',
    department: '',
    role: 'user',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });
  const third = await store.keys.create({
    id: 'otto0001',
    userSeq: other.seq,
    name: '',
    scope: 'global',
    lastFour: 'abcd',
    secretSha256: Buffer.alloc(32),
    model: null,
    target: 'free',
    projectId: null,
    expiresAt: null,
  });
  own = [];
  for (const title of ['one', 'two', 'three']) {
    own.push(await rows.accept({ title }));
    clock.advance(1_000);
  }
  ofSecondKey = await rows.accept({ key: second });
  ofOther = await rows.accept({ key: third, user: other });
  const bus = makeBus();
  store.onCommitted(bus.publish);
  const queue = {
    stop: async () => undefined,
    has: () => false,
    settled: async () => undefined,
    load: () => ({ open: true, slots: 4, busy: 4 }),
  };
  const log = makeLog({ level: 'fatal' });
  const stopper = makeStopper({
    store,
    queue,
    node: 'here',
    clock,
    log,
    stopConfirmed: () => undefined,
    onStopConfirmed: () => undefined,
  });
  const logged = loggedLines();
  const [access, audit] = [makeAccess(store), auditOf({ store, log: logged.log })];
  const collector = { forked: () => undefined };
  const reading = {
    store,
    access,
    audit,
    auditedAccess: makeAuditedAccess({ access, audit }),
    stopper,
    collector,
    settings: () => SETTINGS,
  };
  fixture = await openFixture({
    logged,
    operations: {
      ...makeSessionOperations(reading),
      ...makeRunOperations({ ...reading, countPoll: () => undefined }),
      getQueue: makeGetQueue({ store, queue, node: { list: () => [] }, clock }),
    },
    parts: { tail: makeTails({ bus, events: store.events }) },
  });
});

const as = (who: string) => (method: string, path: string) => send(fixture, { method, path, as: who });
const call = as('conversation-key');
const admin = as('admin-key');

describe('the list', () => {
  test("holds this key's sessions only, the one changed last first, in the shape of the specification", {
    tags: ['§2.6-fields'],
  }, async () => {
    const { status, json } = await call('GET', API);
    expect(status).toBe(200);
    const [one, two, three] = own.map(({ sessionId }) => sessionId);
    expect(json).toEqual({
      items: [
        [three, 'three', '2026-03-01T12:00:02.000Z'],
        [two, 'two', '2026-03-01T12:00:01.000Z'],
        [one, 'one', '2026-03-01T12:00:00.000Z'],
      ].map(([id, title, at]) => ({ session_id: id, title, status: 'pending', created_at: at, updated_at: at })),
      total: 3,
      limit: 100,
      offset: 0,
    });
    const page = (await call('GET', `${API}?limit=1&offset=1`)).json;
    expect(page).toMatchObject({ items: [{ session_id: two }], total: 3, limit: 1, offset: 1 });
    expect((await call('GET', `${API}?limit=500&offset=3`)).json).toMatchObject({ items: [], total: 3 });
    expect((await as('second-key')('GET', API)).json).toMatchObject({ total: 1 });
  });

  test.each(['limit=0', 'limit=501', 'limit=-1', 'limit=1.5', 'limit=1e2', 'limit=', 'limit=ten', 'limit=%201'])(
    '%s is refused, not clamped',
    async (query) => {
      const { status, json } = await call('GET', `${API}?${query}`);
      expect([status, json]).toMatchObject([422, { type: 'error', error: { type: 'invalid_request_error' } }]);
    },
  );

  test.each(['offset=-1', 'offset=x', 'offset=99999999999999999999', 'limit=1&limit=2'])(
    '%s is refused',
    async (query) => {
      expect((await call('GET', `${API}?${query}`)).status).toBe(422);
    },
  );
});

describe('whose session it is', () => {
  const verbs = [
    ['GET', '/messages'],
    ['GET', '/capability-config'],
    ['POST', '/stop'],
    ['DELETE', ''],
  ] as const;

  test.each(verbs)(
    '%s …%s: 404 for none, 403 for another key or user, and nothing is written',
    async (method, verb) => {
      const before = rows.committed.length;
      const refused = async (id: string) => {
        const { status, json } = await call(method, `${API}/${id}${verb}`);
        return [status, (json as { error: { type: string } }).error.type];
      };
      expect(await refused(UNKNOWN)).toEqual([404, 'not_found_error']);
      expect(await refused('not-an-id')).toEqual([404, 'not_found_error']);
      expect(await refused(ofSecondKey.sessionId)).toEqual([403, 'permission_error']);
      expect(await refused(ofOther.sessionId)).toEqual([403, 'permission_error']);
      expect(rows.committed).toHaveLength(before);
      expect((await call(method, `${API}/${own[0]!.sessionId.toUpperCase()}${verb}`)).status).toBe(200);
    },
  );
});

test('a stop returns what it did, without a body, with an empty one, or with one that is ignored', async () => {
  const path = `${API}/${own[0]!.sessionId}/stop`;
  expect((await call('POST', path)).json).toEqual({
    session_id: own[0]!.sessionId,
    status: 'stopped',
    stop_state: 'stopped',
    termination_reason: 'user_requested_stop',
    cancelled_runs: 1,
    expired_user_input_requests: 0,
    executor_cancelled: false,
  });
  const sent = { method: 'POST', path, as: 'conversation-key' };
  for (const body of [
    { ...sent, body: '' },
    { ...sent, body: {} },
    { ...sent, body: 'no JSON' },
  ]) {
    expect((await send(fixture, body)).json).toMatchObject({ stop_state: 'already_stopped', cancelled_runs: 0 });
  }
  expect(rows.committed.filter(({ type }) => type === 'run.stopped')).toHaveLength(1);
});

test('a stop of an executing run says that its executor was cancelled', async () => {
  await rows.claim();
  expect((await call('POST', `${API}/${own[0]!.sessionId}/stop`)).json).toMatchObject({
    stop_state: 'stopped',
    executor_cancelled: true,
  });
});

test('a deleted session is 404 everywhere, and the second delete, too', { tags: ['§2.12-fields'] }, async () => {
  const { sessionId, id } = own[0]!;
  expect((await call('DELETE', `${API}/${sessionId}`)).json).toEqual({ id: sessionId, cleanup: { scheduled: true } });
  for (const [method, path] of [
    ['DELETE', `${API}/${sessionId}`],
    ['GET', `${API}/${sessionId}/messages`],
    ['GET', `${API}/${sessionId}/capability-config`],
    ['POST', `${API}/${sessionId}/stop`],
  ] as const) {
    expect([path, (await call(method, path)).status]).toEqual([path, 404]);
  }
  for (const path of [
    `/sessions/${sessionId}`,
    `/sessions/${sessionId}/messages`,
    `/runs/${id}`,
    `/runs/${id}/stream`,
  ]) {
    expect([path, (await admin('GET', ADMIN + path)).status]).toEqual([path, 404]);
  }
  expect((await call('GET', API)).json).toMatchObject({ total: 2 });
  expect(rows.committed.at(-1)).toMatchObject({ type: 'session.deleted', payload: { title: 'one' }, runSeq: null });
});

test('capabilities are those of the key, all off at first', { tags: ['§2.10-fields'] }, async () => {
  const { json } = await call('GET', `${API}/${own[0]!.sessionId}/capability-config`);
  expect(json).toEqual({
    session_id: own[0]!.sessionId,
    capability_config: {
      browser_enabled: false,
      browser_impl: '',
      mcp_server_ids: [],
      skill_ids: [],
      connector_connection_ids: [],
      plugin_ids: [],
      subagent_ids: [],
    },
  });
});

describe('administrators', () => {
  const data = async (path: string): Promise<unknown> => {
    const { status, json } = await admin('GET', ADMIN + path);
    expect([path, status, (json as { code: number }).code]).toEqual([path, 200, 0]);
    return (json as { data: unknown }).data;
  };

  test('list sessions by user and key, and runs by session and status', async () => {
    expect(await data('/sessions')).toMatchObject({ total: 5, items: [{ username: 'otto' }, {}, {}, {}, {}] });
    expect(await data('/sessions?user=otto')).toMatchObject({
      total: 1,
      items: [{ session_id: ofOther.sessionId, key_id: 'otto0001', kind: 'api', status: 'pending', stop: null }],
    });
    expect(await data(`/sessions?key=${rows.key.id}&limit=2`)).toMatchObject({ total: 3, items: [{}, {}] });
    expect(await data(`/runs?session=${ofOther.sessionId}`)).toMatchObject({
      total: 1,
      items: [{ run_id: ofOther.id, status: 'queued', username: 'otto', error: null, started_at: null }],
    });
    expect(await data('/runs?status=completed')).toEqual({ items: [], total: 0 });
    for (const path of ['/runs?status=odd', '/runs?limit=501', '/sessions?offset=-1', '/queue?limit=0']) {
      expect([path, (await admin('GET', ADMIN + path)).status]).toEqual([path, 422]);
    }
    for (const path of [`/runs?session=${UNKNOWN}`, '/sessions?user=nobody', '/sessions?key=nokey', '/runs/x']) {
      expect([path, (await admin('GET', ADMIN + path)).status]).toEqual([path, 404]);
    }
  });

  test("stop and delete anybody's, and the reason says that it was an operator", async () => {
    const stopped = await admin('POST', `${ADMIN}/sessions/${ofOther.sessionId}/stop`);
    expect(stopped.json).toMatchObject({
      code: 0,
      data: { stop_state: 'stopped', termination_reason: 'operator_requested_stop' },
    });
    expect(await data(`/sessions/${ofOther.sessionId}`)).toMatchObject({
      status: 'stopped',
      stop: { termination_reason: 'operator_requested_stop' },
    });
    const run = await admin('POST', `${ADMIN}/runs/${own[0]!.id}/stop`);
    expect(run.json).toMatchObject({ data: { stop_state: 'stopped', cancelled_runs: 1 } });
    const deleted = await admin('DELETE', `${ADMIN}/sessions/${ofOther.sessionId}`);
    expect(deleted.json).toMatchObject({ data: { id: ofOther.sessionId, cleanup: { scheduled: true } } });
  });

  test("read anybody's history, and the log says who read whose", async () => {
    expect(await data(`/sessions/${ofOther.sessionId}/messages`)).toMatchObject({
      session_id: ofOther.sessionId,
      messages: [{ role: 'user' }],
    });
    await send(fixture, { path: `${ADMIN}/sessions/${ofOther.sessionId}/messages`, via: 'socket' });
    const reads = fixture.lines.filter(({ msg }) => msg === 'audited');
    expect(reads).toMatchObject([
      { actor: 'mara', action: 'session.read', target_id: ofOther.sessionId },
      { actor: 'operator', action: 'session.read', target_id: ofOther.sessionId },
    ]);
  });

  test('see why each run waits', async () => {
    await rows.claim();
    const behind = await rows.accept({ sessionId: own[0]!.sessionId });
    rows.clock.advance(5_000);
    const queue = (await data('/queue')) as { items: { run_id: string }[] };
    expect(queue).toMatchObject({ total: 5, claiming: true, slots: 4, busy: 4 });
    expect(queue.items).toMatchObject([
      { run_id: own[1]!.id, reason: 'slots_full', behind_run_id: null, waiting_ms: 7_000 },
      { run_id: own[2]!.id, reason: 'key_order', behind_run_id: own[1]!.id },
      { run_id: ofSecondKey.id, reason: 'slots_full' },
      { run_id: ofOther.id, reason: 'slots_full', username: 'otto' },
      { run_id: behind.id, reason: 'session_busy', behind_run_id: own[0]!.id, waiting_ms: 5_000 },
    ]);
  });

  test('follow a run as its journal has it, from any event on', async () => {
    const [run] = await rows.claim();
    const fence = fenceOf(run!);
    await rows.store.runs.recordStep(
      fence,
      aStep({ calls: [{ id: 'a', name: 'shell', input: { camelCase: 'stays' } }] }),
      FREE,
    );
    const stream = admin('GET', `${ADMIN}/runs/${run!.id}/stream`);
    await call('POST', `${API}/${run!.sessionId}/stop`);
    const events = makeSseParser().push((await stream).text);
    expect(events.map(({ event }) => event)).toEqual([
      'run.queued',
      'run.started',
      'run.step',
      'tool_use',
      'message',
      'run.stopped',
    ]);
    const [queued, , step, use, message] = events.map(
      ({ data }) => JSON.parse(data!) as { payload: Record<string, unknown> },
    );
    expect(queued).toMatchObject({
      id: Number(events[0]!.id),
      type: 'run.queued',
      session_id: run!.sessionId,
      run_id: run!.id,
      stream_seq: 1,
      payload: { schedule_mode: 'queued' },
    });
    const calls = [{ id: 'a', name: 'shell' }];
    expect(step!.payload).toEqual({ step: 1, text_preview: 'The moon pulls.', calls });
    expect(use!.payload).toEqual({ tool_use_id: 'a', name: 'shell', input: { camelCase: 'stays' } });
    expect(message!.payload).toEqual({ message_id: 6, role: 'assistant', text_preview: 'The moon pulls.' });
    const rest = await send(fixture, {
      path: `${ADMIN}/runs/${run!.id}/stream`,
      as: 'admin-key',
      headers: { 'last-event-id': events.at(-2)!.id! },
    });
    expect(
      makeSseParser()
        .push(rest.text)
        .map(({ event }) => event),
    ).toEqual(['run.stopped']);
  });
});
