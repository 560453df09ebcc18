// Questions and insights over HTTP and a real store: who may, what is refused, and in which shape.
import { ASLEEP } from '../../support/events/asleep.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { recordLists } from '../../../src/operations/audit/lists.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeInsightOperations } from '../../../src/operations/sessions/insights.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeWakes } from '../../../src/events/wakes.ts';
import { makeUserInputOperations } from '../../../src/operations/sessions/user-inputs.ts';
import { auditOf } from '../../support/store/audit.ts';
import { type Fixture, loggedLines, openFixture, type Sent, send } from '../../support/http/http-fixture.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';
const INPUTS = '/api/v1/user-inputs';
const INSIGHTS = '/api/v1/insights';

interface Asked {
  readonly sessionId: string;
  readonly sessionSeq: number;
  readonly runId: string;
  /** Of the question. */
  readonly id: string;
  readonly insightId: string;
}

let rows: StoreFixture;
let fixture: Fixture;
let woken: number;
/** Sessions of the user of every key and token, by their first and second key; and of another user. */
let own: Asked;
let ofSecondKey: Asked;
let ofOther: Asked;

async function ask(turn: Parameters<StoreFixture['accept']>[0] = {}): Promise<Asked> {
  const { id: runId, sessionId, sessionSeq } = await rows.accept(turn);
  const [run] = await rows.claim();
  const fence = fenceOf(run!);
  const insight = { callId: 'i1', title: 'Salt', summary: 'It rusts.', priority: 'high' } as const;
  const insightId = (await rows.store.insights.report(fence, insight))!;
  const toolInput = { question: 'Which colour?', options: ['red', 'blue'] };
  await rows.store.runs.waitForUser(fence, { toolUseId: 'q1', toolName: 'ask_user', toolInput, lifetimeMs: 60_000 });
  const page = { userSeq: null, keySeq: null, sessionSeq, status: null, limit: 1, offset: 0 };
  const { items } = await rows.store.userInputs.list(page);
  return { runId, sessionId, sessionSeq, id: items[0]!.id, insightId };
}

beforeEach(async () => {
  rows = await storeFixture();
  const { store } = rows;
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
  const second = await rows.makeKey();
  own = await ask();
  ofSecondKey = await ask({ key: second });
  ofOther = await ask({ user: other });
  woken = 0;
  const bus = makeBus();
  store.onCommitted(bus.publish);
  makeWakes().follow(bus, { ...ASLEEP, queue: () => void (woken += 1) });
  const access = makeAccess(store);
  const logged = loggedLines();
  const audit = auditOf({ store, log: logged.log });
  const parts = { store, access, audit, auditedAccess: makeAuditedAccess({ access, audit }) };
  const verbs = { ...makeUserInputOperations(parts), ...makeInsightOperations(parts) };
  fixture = await openFixture({ logged, operations: recordLists(audit, verbs) });
});

const data = (got: { json: unknown }) => (got.json as { data: Record<string, never> }).data;
const answer = (id: string, answers: unknown, as = 'token-of-user') =>
  send(fixture, { method: 'POST', path: `${INPUTS}/${id}/answer`, as, body: { answers } });
const answerByKey = (id: string, answers: unknown, as = 'conversation-key') =>
  send(fixture, { method: 'POST', path: `/openapi/v1/user-inputs/${id}/answer`, as, body: { answers } });

/** Who may use each path: the statuses for the owner's token, an administrator's, keys, the operator and no credential. */
const CALLERS: readonly (readonly [string, Partial<Sent>, number])[] = [
  ['nobody', {}, 401],
  ['an unknown key', { as: 'nonsense' }, 401],
  ['a disabled user', { as: 'disabled-token' }, 403],
  ['a key of scope conversation', { as: 'conversation-key' }, 403],
  ['a key of scope global', { as: 'global-key' }, 403],
  ["a global key of an administrator's", { as: 'global-key-of-admin' }, 403],
  ['an admin key of no administrator', { as: 'demoted-admin-key' }, 403],
  ['the x-api-key header', { headers: { 'x-api-key': 'admin-key' } }, 401],
  ['the owner with a login token', { as: 'token-of-user' }, 200],
  ["an administrator's token", { as: 'token-of-admin' }, 200],
  ["an administrator's key", { as: 'admin-key' }, 200],
  ['the operator', { via: 'socket' }, 200],
];

describe.each(CALLERS)('%s', (_name, who, status) => {
  test.each([
    ['lists questions', () => ({ path: INPUTS })],
    ['reads one', () => ({ path: `${INPUTS}/${own.id}` })],
    ['answers one', () => ({ method: 'POST', path: `${INPUTS}/${own.id}/answer`, body: { answers: 'red' } })],
    ['ends the wait for one', () => ({ method: 'POST', path: `${INPUTS}/${own.id}/expire` })],
    ['lists insights', () => ({ path: INSIGHTS })],
    ['reads an insight', () => ({ path: `${INSIGHTS}/${own.insightId}` })],
    ['moves one on', () => ({ method: 'PATCH', path: `${INSIGHTS}/${own.insightId}`, body: { status: 'resolved' } })],
  ] as const)(`${status}: %s`, async (_what, request) => {
    const got = await send(fixture, { ...request(), ...who });
    expect([got.status, Object.keys(got.json as object).sort()]).toEqual([status, ['code', 'data', 'message']]);
    const { status: now } = (await rows.store.userInputs.find(own.id))!;
    expect(now === 'pending' || status === 200).toBe(true);
  });
});

test.each(['', '/answer', '/expire'])(
  'an invalid or unknown id, or one of another user, is refused at %s',
  async (verb) => {
    const method = verb === '' ? 'GET' : 'POST';
    const body = verb === '/answer' ? { answers: 'red' } : undefined;
    const statusOf = async (id: string) =>
      (await send(fixture, { method, path: `${INPUTS}/${id}${verb}`, as: 'token-of-user', ...(body && { body }) }))
        .status;
    expect([await statusOf('x'), await statusOf(UNKNOWN), await statusOf(ofOther.id)]).toEqual([404, 404, 403]);
    expect((await rows.store.userInputs.find(ofOther.id))!.status).toBe('pending');
  },
);

test('a question reads like the body of its event, with who is asked and when it expires', async () => {
  const got = await send(fixture, { path: `${INPUTS}/${own.id.toUpperCase()}`, as: 'token-of-user' });
  expect(data(got)).toEqual({
    request_id: own.id,
    session_id: own.sessionId,
    run_id: own.runId,
    user_id: rows.user.id,
    username: 'mara',
    tool_use_id: 'q1',
    tool_name: 'ask_user',
    tool_input: { question: 'Which colour?', options: ['red', 'blue'] },
    status: 'pending',
    answers: null,
    created_at: '2026-03-01T12:00:00.000Z',
    expires_at: '2026-03-01T12:01:00.000Z',
    answered_at: null,
  });
});

test('users see their own questions, administrators all of them, and that is audited', async () => {
  const ids = async (as: string, query = '') => {
    const { items, total } = data(await send(fixture, { path: INPUTS + query, as })) as unknown as {
      items: { request_id: string }[];
      total: number;
    };
    return [total, ...items.map((item) => item.request_id)];
  };
  expect(await ids('token-of-user')).toEqual([2, ofSecondKey.id, own.id]);
  const before = fixture.lines.length;
  expect(await ids('token-of-admin')).toEqual([3, ofOther.id, ofSecondKey.id, own.id]);
  const reads = fixture.lines.slice(before).filter(({ action }) => action === 'question.list');
  expect(reads.map((line) => line['target_id'])).toEqual(['house']);
  expect(await ids('token-of-user', `?session_id=${own.sessionId}`)).toEqual([1, own.id]);
  expect(await ids('token-of-user', '?status=answered')).toEqual([0]);
  expect(await ids('token-of-user', '?limit=1&offset=1')).toEqual([2, own.id]);
});

test.each([
  ['?status=odd', 422],
  ['?session_id=x', 422],
  ['?limit=0', 422],
  [`?session_id=${UNKNOWN}`, 404],
])('a list with %s is %i', async (query, status) => {
  for (const path of [INPUTS, INSIGHTS]) {
    expect((await send(fixture, { path: path + query, as: 'token-of-user' })).status).toBe(status);
  }
});

test("a list of another user's session is 403", async () => {
  for (const path of [INPUTS, INSIGHTS]) {
    const got = await send(fixture, { path: `${path}?session_id=${ofOther.sessionId}`, as: 'token-of-user' });
    expect(got.status).toBe(403);
  }
});

test.each([
  ['a text', 'red'],
  ['an empty text', ''],
  ['a number', 0],
  ['a truth', false],
  ['choices', ['red', 'blue']],
  ['a form', { colour: 'red', notes: [null, { 'key with spaces': 'ü' }] }],
  ['64 KB', 'x'.repeat(65_534)],
])('%s is an answer: kept as it is, and the queue is woken', { tags: ['I2'] }, async (_name, answers) => {
  const got = await answer(own.id, answers);
  expect([got.status, data(got)]).toEqual([200, expect.objectContaining({ status: 'answered', answers })]);
  expect(data(got)).toMatchObject({ answered_at: '2026-03-01T12:00:00.000Z' });
  expect([woken, (await rows.store.runs.find(own.runId))!.status]).toEqual([1, 'queued']);
});

test.each([
  ['nothing', {}, 422],
  ['null', { answers: null }, 422],
  ['a NUL', { answers: ['a\u0000b'] }, 422],
  ['a lone surrogate in a name', { answers: { 'a\ud800': 1 } }, 422],
  ['more than 64 KB', { answers: 'x'.repeat(65_535) }, 422],
  ['more than half a megabyte', { answers: 'x'.repeat(600_000) }, 413],
])('%s is not an answer, and the question stays pending', async (_name, body, status) => {
  for (const request of [
    { path: `${INPUTS}/${own.id}/answer`, as: 'token-of-user' },
    { path: `/openapi/v1/user-inputs/${own.id}/answer`, as: 'conversation-key' },
  ]) {
    const got = await send(fixture, { method: 'POST', ...request, body });
    expect([got.status, got.text]).toEqual([status, expect.stringMatching(status === 422 ? /answers/ : /./)]);
  }
  expect([(await rows.store.userInputs.find(own.id))!.status, woken]).toEqual(['pending', 0]);
});

test('a question is settled once: every later answer or expiry is 409, in words that fit', {
  tags: ['§3.4-answered'],
}, async () => {
  expect((await answer(own.id, 'red')).status).toBe(200);
  const again = await answer(own.id, 'blue');
  expect([again.status, (again.json as { message: string }).message]).toEqual([
    409,
    'The question is answered already.',
  ]);
  expect((await answerByKey(own.id, 'blue')).status).toBe(409);
  expect((await rows.store.userInputs.find(own.id))!.answers).toBe('red');
  const expire = { method: 'POST', path: `${INPUTS}/${ofSecondKey.id}/expire`, as: 'token-of-user' };
  expect(data(await send(fixture, expire))).toMatchObject({ status: 'expired', answers: null });
  expect((await send(fixture, expire)).status).toBe(409);
  expect((await answer(ofSecondKey.id, 'late')).json).toMatchObject({ message: expect.stringContaining('expired') });
});

test("the session's own key lists and answers, in the bare shape; another key may not", async () => {
  const path = `/openapi/v1/sessions/${own.sessionId}/user-inputs`;
  const listed = await send(fixture, { path, as: 'conversation-key' });
  expect(listed.json).toMatchObject({
    session_id: own.sessionId,
    items: [{ request_id: own.id, status: 'pending' }],
    total: 1,
    limit: 100,
    offset: 0,
  });
  expect((await send(fixture, { path: `${path}?status=answered`, as: 'conversation-key' })).json).toMatchObject({
    items: [],
    total: 0,
  });
  for (const as of ['second-key', 'conversation-key']) {
    const of = as === 'second-key' ? own : ofSecondKey;
    const refused = await answerByKey(of.id, 'red', as);
    expect([refused.status, refused.json]).toEqual([403, expect.objectContaining({ type: 'error' })]);
    expect((await send(fixture, { path: `/openapi/v1/sessions/${of.sessionId}/user-inputs`, as })).status).toBe(403);
  }
  expect((await answerByKey(UNKNOWN, 'red')).status).toBe(404);
  expect((await answerByKey(ofOther.id, 'red')).status).toBe(403);
  expect((await answerByKey(own.id, 'red', 'token-of-user')).status).toBe(401);
  const answered = await answerByKey(own.id, ['red']);
  expect([answered.status, answered.json]).toEqual([200, expect.objectContaining({ answers: ['red'] })]);
  expect(woken).toBe(1);
});

test('a question of a deleted session is not found', async () => {
  await rows.store.sessions.deleteSession(own.sessionSeq);
  expect((await answer(own.id, 'red')).status).toBe(404);
  expect((await answerByKey(own.id, 'red')).status).toBe(404);
});

describe('insights', () => {
  const set = (id: string, status: unknown, as = 'token-of-user') =>
    send(fixture, { method: 'PATCH', path: `${INSIGHTS}/${id}`, as, body: { status } });

  test('read whole, listed by status, moved on by their owner or an administrator', async () => {
    expect(data(await send(fixture, { path: `${INSIGHTS}/${own.insightId}`, as: 'token-of-user' }))).toEqual({
      insight_id: own.insightId,
      session_id: own.sessionId,
      run_id: own.runId,
      user_id: rows.user.id,
      username: 'mara',
      title: 'Salt',
      summary: 'It rusts.',
      priority: 'high',
      status: 'new',
      created_at: '2026-03-01T12:00:00.000Z',
      updated_at: '2026-03-01T12:00:00.000Z',
    });
    expect(data(await set(own.insightId, 'acknowledged'))).toMatchObject({ status: 'acknowledged' });
    expect(data(await set(own.insightId, 'resolved', 'admin-key'))).toMatchObject({ status: 'resolved' });
    const sources = rows.committed.flatMap((event) =>
      event.type === 'insight.status_changed' && event.payload.insightId === own.insightId
        ? [event.payload.source]
        : [],
    );
    expect(sources).toEqual(['agent', 'user', 'api']);
    const listed = await send(fixture, { path: `${INSIGHTS}?status=new`, as: 'token-of-user' });
    expect(data(listed)).toMatchObject({ total: 1, items: [{ insight_id: ofSecondKey.insightId }] });
  });

  test.each([
    ['odd', 422],
    [null, 422],
    ['new', 409],
  ])('the status %s is %i', async (status, refused) => {
    expect((await set(own.insightId, status)).status).toBe(refused);
  });

  test('what is closed stays closed, and the refusal says what may follow', async () => {
    await set(own.insightId, 'dismissed');
    const got = await set(own.insightId, 'acknowledged');
    expect([got.status, got.json]).toMatchObject([409, { message: expect.stringContaining('It is closed.') }]);
    expect((await set(UNKNOWN, 'resolved')).status).toBe(404);
    expect((await set(ofOther.insightId, 'resolved')).status).toBe(403);
  });
});
