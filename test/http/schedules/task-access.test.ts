// Who may do what with scheduled tasks over HTTP, and whose tasks a list has.
import { beforeEach, describe, expect, test } from 'vitest';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import { type Sent, send } from '../../support/http/http-fixture.ts';
import { PATH, UNKNOWN, data, message, TASK, type TaskFixture, taskFixture } from '../../support/http/task-fixture.ts';

let tasks: TaskFixture;

beforeEach(async () => {
  tasks = await taskFixture();
});

const CALLERS: readonly (readonly [string, Partial<Sent>, number])[] = [
  ['nobody', {}, 401],
  ['a disabled user', { as: 'disabled-token' }, 403],
  ['a key of scope conversation', { as: 'conversation-key' }, 403],
  ['a key of scope global', { as: 'global-key' }, 403],
  ['an admin key of no administrator', { as: 'demoted-admin-key' }, 403],
  ['the owner with a login token', { as: 'token-of-user' }, 200],
  ["an administrator's token", { as: 'token-of-admin' }, 200],
  ["an administrator's key", { as: 'admin-key' }, 200],
  ['the operator', { via: 'socket' }, 200],
];

describe.each(CALLERS)('%s', (_name, who, status) => {
  const REQUESTS = [
    ['lists tasks', 200, () => ({ path: PATH })],
    ['reads one', 200, () => ({ path: `${PATH}/${tasks.own}` })],
    ['changes one', 200, () => ({ method: 'PATCH', path: `${PATH}/${tasks.own}`, body: { enabled: false } })],
    ['fires one', 201, () => ({ method: 'POST', path: `${PATH}/${tasks.own}/run` })],
    ['lists its firings', 200, () => ({ path: `${PATH}/${tasks.own}/firings` })],
    ['deletes one', 200, () => ({ method: 'DELETE', path: `${PATH}/${tasks.own}` })],
  ] as const;

  test('every request has the status of its caller', { tags: ['I5-endpoints'] }, async () => {
    for (const [what, success, request] of REQUESTS) {
      const got = await send(tasks.fixture, { ...request(), ...who });
      const expected = [what, status === 200 ? success : status, ['code', 'data', 'message']];
      expect([what, got.status, Object.keys(got.json as object).sort()]).toEqual(expected);
    }
  });
});

test.each([
  ['reads', 'GET', ''],
  ['changes', 'PATCH', ''],
  ['deletes', 'DELETE', ''],
  ['fires', 'POST', '/run'],
  ['lists the firings of', 'GET', '/firings'],
])(
  "nobody %s another user's task; an unknown one and a malformed id are 404",
  { tags: ['I5-endpoints'] },
  async (_what, method, rest) => {
    const statusOf = async (id: string) => {
      const body = method === 'PATCH' ? { body: { enabled: false } } : {};
      return (await tasks.user({ method, path: `${PATH}/${id}${rest}`, ...body })).status;
    };
    expect(await Promise.all([tasks.ofOther, UNKNOWN, 'x', '1', '%00'].map(statusOf))).toEqual([
      403, 404, 404, 404, 404,
    ]);
    expect(data(await tasks.admin({ path: `${PATH}/${tasks.ofOther}` }))).toMatchObject({ enabled: true });
    expect(tasks.rows.rows('SELECT id FROM firings')).toEqual([]);
  },
);

describe('owners', () => {
  test('an administrator makes tasks of others, by name or id; nobody else does', {
    tags: ['I5-endpoints'],
  }, async () => {
    for (const reference of ['otto', 'mara']) {
      const got = await tasks.create({ user: reference }, tasks.admin);
      expect([got.status, data(got)['owner']]).toMatchObject([201, { username: reference }]);
    }
    expect((await tasks.create({ user: 'nobody' }, tasks.admin)).status).toBe(404);
    expect((await tasks.create({ user: 'otto' })).status).toBe(403);
  });

  test('the operator isn’t a user, and must name the owner', async () => {
    const via = (sending: Sent) => send(tasks.fixture, { via: 'socket', ...sending });
    const got = await tasks.create({}, via);
    expect([got.status, message(got)]).toEqual([422, expect.stringMatching('^user: ')]);
    expect((await tasks.create({ user: 'otto' }, via)).status).toBe(201);
  });

  test('nobody has more tasks than the limit', async () => {
    for (let no = 1; no < TASK_LIMITS.perOwner; no += 1)
      await tasks.rows.store.schedules.create({
        ...TASK,
        userSeq: tasks.rows.user.seq,
        work: { prompt: 'Look', steps: [{ id: UNKNOWN, prompt: 'Look' }] },
      });
    expect((await tasks.create({})).status).toBe(409);
    await tasks.user({ method: 'DELETE', path: `${PATH}/${tasks.own}` });
    expect((await tasks.create({})).status).toBe(201);
  });
});

test('a list has one’s own tasks, an administrator’s has all; by name, owner and state', {
  tags: ['I5-endpoints'],
}, async () => {
  await tasks.create({ name: 'Te_t%' });
  await tasks.create({ name: 'Test1', enabled: false });
  const names = async (query: string, by = tasks.user) => {
    const got = await by({ path: `${PATH}${query}` });
    if (got.status !== 200) return got.status;
    return (data(got)['items'] as unknown as { name: string; owner: { username: string } }[]).map(
      ({ name, owner }) => `${name} of ${owner.username}`,
    );
  };
  expect(await names('')).toEqual(['Tides of mara', 'Te_t% of mara', 'Test1 of mara']);
  expect(await names('', tasks.admin)).toEqual(['Tides of mara', 'Tides of otto', 'Te_t% of mara', 'Test1 of mara']);
  expect(await names('?name=Te_t%25')).toEqual(['Te_t% of mara']);
  expect(await names('?name=tides')).toEqual([]);
  expect(await names('?name=Tides', tasks.admin)).toEqual(['Tides of mara', 'Tides of otto']);
  expect(await names('?enabled=false')).toEqual(['Test1 of mara']);
  expect(await names('?user=otto', tasks.admin)).toEqual(['Tides of otto']);
  expect(await names('?user=otto')).toBe(403);
  expect(await names('?user=nobody', tasks.admin)).toBe(404);
  expect(await names('?limit=1&offset=1')).toEqual(['Te_t% of mara']);
  expect(await names('?limit=0')).toBe(422);
  expect(await names('?enabled=perhaps')).toBe(422);
});
