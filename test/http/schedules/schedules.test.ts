// Scheduled tasks over HTTP and a real store: who may, what is refused, what is kept, and what a firing is.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeScheduleOperations } from '../../../src/operations/schedules/schedules.ts';
import { auditOf } from '../../support/store/audit.ts';
import { type House, loggedLines, openHouse, type Sent, send, SETTINGS } from '../../support/http/http-house.ts';
import { fenceOf, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

const PATH = '/api/v1/scheduled-tasks';
const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';
const PROJECT = '0190f6a0-0000-4000-8000-00000000000a';
const NEW = { name: 'News', cron: '30 8 * * 1-5', timezone: 'Europe/Zurich', prompt: 'Write /news.md' };
const TASK = {
  userSeq: 0,
  name: 'Tides',
  cron: '0 7 * * *',
  timezone: 'UTC',
  target: 'free',
  projectId: null,
  enabled: true,
  overlap: 'skip',
} as const;

interface TaskWire {
  readonly scheduled_task_id: string;
  readonly steps: readonly { readonly scheduled_task_step_id: string; readonly prompt: string }[];
}

let rows: StoreHouse;
let house: House;
/** Why the disk has no room for more; null while it has. */
let shortage: { readonly words: string } | null;
let draining: boolean;
let capacity: number;
/** Of the user of every token, and of another user. */
let own: string;
let ofOther: string;

beforeEach(async () => {
  rows = await storeHouse();
  const { store, clock, user } = rows;
  [shortage, draining, capacity] = [null, false, 4];
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const otto = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  const make = async (userSeq: number) =>
    (
      await store.schedules.create({
        ...TASK,
        userSeq,
        work: { prompt: null, steps: [{ id: UNKNOWN, prompt: 'Look' }] },
      })
    ).id;
  [own, ofOther] = [await make(user.seq), await make(otto.seq)];
  const access = makeAccess(store);
  const logged = loggedLines();
  const audit = auditOf({ store, log: logged.log });
  const definitions = () => ({ experts: new Map([['pilot', {}]]), teams: new Map([['press', {}]]) }) as never;
  const makeSetup = async ({ target }: { readonly target: string }) => ({
    target,
    capabilityConfig: NO_CAPABILITIES,
    orchestration: null,
  });
  const operations = {
    ...makeScheduleOperations({
      store,
      access,
      audit,
      clock,
      definitions,
      queue: { claimAccepted: () => undefined },
      node: { onlineCapacity: () => capacity },
      disk: { shortage: () => shortage as never },
      makeSetup,
      settings: () => SETTINGS,
      draining: () => draining,
    }),
  };
  house = await openHouse({ logged, operations });
});

const data = ({ json }: { json: unknown }) => (json as { data: Record<string, never> }).data;
const message = ({ json }: { json: unknown }) => (json as { message: string }).message;
const as = (credential: string) => (sending: Sent) => send(house, { as: credential, ...sending });
const [user, admin] = [as('token-of-user'), as('token-of-admin')];
const create = (body: object, by = user) => by({ method: 'POST', path: PATH, body: { ...NEW, ...body } });
const change = (body: object, id = own) => user({ method: 'PATCH', path: `${PATH}/${id}`, body });
const read = async (id: string) => data(await user({ path: `${PATH}/${id}` })) as unknown as TaskWire;
const run = (id = own, by = user) => by({ method: 'POST', path: `${PATH}/${id}/run` });

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
    ['reads one', 200, () => ({ path: `${PATH}/${own}` })],
    ['changes one', 200, () => ({ method: 'PATCH', path: `${PATH}/${own}`, body: { enabled: false } })],
    ['fires one', 201, () => ({ method: 'POST', path: `${PATH}/${own}/run` })],
    ['lists its firings', 200, () => ({ path: `${PATH}/${own}/firings` })],
    ['deletes one', 200, () => ({ method: 'DELETE', path: `${PATH}/${own}` })],
  ] as const;

  test('every request has the status of its caller', async () => {
    for (const [what, success, request] of REQUESTS) {
      const got = await send(house, { ...request(), ...who });
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
])("nobody %s another user's task; an unknown one and a malformed id are 404", async (_what, method, rest) => {
  const statusOf = async (id: string) => {
    const body = method === 'PATCH' ? { body: { enabled: false } } : {};
    return (await user({ method, path: `${PATH}/${id}${rest}`, ...body })).status;
  };
  expect(await Promise.all([ofOther, UNKNOWN, 'x', '1', '%00'].map(statusOf))).toEqual([403, 404, 404, 404, 404]);
  expect(data(await admin({ path: `${PATH}/${ofOther}` }))).toMatchObject({ enabled: true });
  expect(rows.rows('SELECT id FROM firings')).toEqual([]);
});

test('a new task has the documented defaults, and shows when it fires next', async () => {
  const { timezone: _, ...noZone } = NEW;
  const got = await user({ method: 'POST', path: PATH, body: noZone });
  expect(got.status).toBe(201);
  const task = data(got) as unknown as TaskWire;
  expect(task).toEqual({
    scheduled_task_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'News',
    cron: '30 8 * * 1-5',
    timezone: 'UTC',
    prompt: 'Write /news.md',
    steps: [{ scheduled_task_step_id: expect.stringMatching(/^[0-9a-f-]{36}$/), prompt: 'Write /news.md' }],
    owner: { user_id: rows.user.id, username: 'mara' },
    target: 'free',
    project_id: null,
    enabled: true,
    overlap: 'skip',
    // The clock is at noon of Sunday, March 1.
    next_fires_at: [2, 3, 4, 5, 6].map((day) => `2026-03-0${day}T08:30:00.000Z`),
    last_fired_at: null,
    last_status: null,
    last_skipped_at: null,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  });
  expect(await read(task.scheduled_task_id)).toEqual(task);
});

test('times are those of the zone, also over a change of its clocks', async () => {
  const got = await create({ cron: '30 2 * 3 0' });
  expect(data(got)['next_fires_at']).toEqual([
    '2026-03-08T01:30:00.000Z',
    '2026-03-15T01:30:00.000Z',
    '2026-03-22T01:30:00.000Z',
    // 02:30 is skipped on this day: it fires at the change.
    '2026-03-29T01:00:00.000Z',
    '2027-03-07T01:30:00.000Z',
  ]);
});

test('everything that can be chosen is kept', async () => {
  const steps = [{ prompt: 'Collect' }, { prompt: 'Write' }];
  const chosen = { target: 'team:press', project_id: PROJECT, enabled: false, overlap: 'queue', steps };
  const task = data(await create(chosen));
  expect(task).toMatchObject({ ...NEW, ...chosen, next_fires_at: [] });
  expect(data(await create({ prompt: null, steps, target: 'expert:pilot' }))).toMatchObject({ prompt: null, steps });
});

const stepsOf = (count: number, prompt: string) => Array.from({ length: count }, () => ({ prompt }));
const WRONG: readonly (readonly [string, object, string])[] = [
  ['no name', { name: '' }, 'name'],
  ['a name of two lines', { name: 'a\nb' }, 'name'],
  ['a name that is too long', { name: 'x'.repeat(TASK_LIMITS.name + 1) }, 'name'],
  ['a name that is no text', { name: 7 }, 'name'],
  ['no cron', { cron: undefined }, 'cron'],
  ['an empty cron', { cron: '' }, 'cron'],
  ['six fields, with seconds', { cron: '0 30 8 * * 1' }, 'cron'],
  ['a firing each second', { cron: '* * * * * *' }, 'cron'],
  ['seven fields', { cron: '0 30 8 * * 1 2027' }, 'cron'],
  ['four fields', { cron: '30 8 * *' }, 'cron'],
  ['a nickname', { cron: '@daily' }, 'cron'],
  ['a moment', { cron: '2027-01-01T00:00:00' }, 'cron'],
  ['words', { cron: 'every day at half past' }, 'cron'],
  ['minute 60', { cron: '60 8 * * *' }, 'cron'],
  ['hour 24', { cron: '0 24 * * *' }, 'cron'],
  ['month 13', { cron: '0 0 1 13 *' }, 'cron'],
  ['31 February', { cron: '0 0 31 2 *' }, 'cron'],
  ['30 February', { cron: '0 0 30 2 *' }, 'cron'],
  ['31 April or June', { cron: '0 0 31 4,6 *' }, 'cron'],
  ['a step of 0', { cron: '*/0 * * * *' }, 'cron'],
  ['a reversed range', { cron: '0 9-7 * * *' }, 'cron'],
  ['a cron that is too long', { cron: `${'0,'.repeat(TASK_LIMITS.cron)}0 8 * * *` }, 'cron'],
  ['a cron of two lines', { cron: '30 8 * *\n*' }, 'cron'],
  ['an unknown zone', { timezone: 'Europe/Atlantis' }, 'timezone'],
  ['an offset', { timezone: '+08:00' }, 'timezone'],
  ['an offset in words', { timezone: 'UTC+8' }, 'timezone'],
  ['an empty zone', { timezone: '' }, 'timezone'],
  ['a zone that is no text', { timezone: 2 }, 'timezone'],
  ['no zone', { timezone: null }, 'timezone'],
  ['nothing to do', { prompt: undefined }, 'prompt'],
  ['a blank prompt', { prompt: ' \n' }, 'prompt'],
  ['a prompt that is too long', { prompt: 'x'.repeat(TASK_LIMITS.prompt + 1) }, 'prompt'],
  ['a NUL', { prompt: 'a\0b' }, 'prompt'],
  ['a lone surrogate', { prompt: 'a\ud800b' }, 'prompt'],
  ['steps that are no list', { steps: 'Write' }, 'steps'],
  ['a step that is a text', { steps: ['Write'] }, 'steps[0]'],
  ['an empty step', { steps: [{ prompt: 'a' }, { prompt: '' }] }, 'steps[1].prompt'],
  [
    'a step with an id, in a new task',
    { steps: [{ scheduled_task_step_id: UNKNOWN, prompt: 'a' }] },
    'steps[0].scheduled_task_step_id',
  ],
  [
    'a step whose id is no UUID',
    { steps: [{ scheduled_task_step_id: '1', prompt: 'a' }] },
    'steps[0].scheduled_task_step_id',
  ],
  ['too many steps', { steps: stepsOf(TASK_LIMITS.steps + 1, 'a') }, 'steps'],
  ['too many characters', { steps: stepsOf(3, 'x'.repeat(70_000)) }, 'steps'],
  ['an odd target', { target: 'pilot' }, 'target'],
  ['an unknown expert', { target: 'expert:press' }, 'target'],
  ['an unknown team', { target: 'team:pilot' }, 'target'],
  ['a project that is no UUID', { project_id: 'harbour' }, 'project_id'],
  ['an odd overlap', { overlap: 'replace' }, 'overlap'],
  ['enabled in words', { enabled: 'yes' }, 'enabled'],
];

test('whatever is wrong is 422 with its field, and nothing is kept', async () => {
  for (const [name, body, field] of WRONG) {
    const got = await create(body);
    expect([name, got.status, message(got).slice(0, field.length + 2)]).toEqual([name, 422, `${field}: `]);
  }
  expect(data(await user({ path: PATH }))).toMatchObject({ total: 1 });
});

test('a body over 1 MB is refused before it is read', async () => {
  expect((await create({ prompt: 'x'.repeat(1_100_000) })).status).toBe(413);
});

describe('a change', () => {
  test.each([
    [{ name: 'Ebb' }, { name: 'Ebb' }],
    [{ cron: '0 9 * * *' }, { cron: '0 9 * * *', next_fires_at: expect.arrayContaining(['2026-03-02T09:00:00.000Z']) }],
    [{ timezone: 'Asia/Shanghai' }, { next_fires_at: expect.arrayContaining(['2026-03-01T23:00:00.000Z']) }],
    [{ target: 'expert:pilot' }, { target: 'expert:pilot' }],
    [{ project_id: PROJECT }, { project_id: PROJECT }],
    [{ overlap: 'queue' }, { overlap: 'queue' }],
    [{ enabled: false }, { enabled: false, next_fires_at: [] }],
    [{ prompt: 'Tides' }, { prompt: 'Tides', steps: [{ scheduled_task_step_id: UNKNOWN, prompt: 'Look' }] }],
    [
      { prompt: 'Tides', steps: [] },
      { prompt: 'Tides', steps: [expect.objectContaining({ prompt: 'Tides' })] },
    ],
    [
      { steps: [{ prompt: 'First' }, { scheduled_task_step_id: UNKNOWN.toUpperCase(), prompt: 'Look again' }] },
      {
        steps: [
          expect.objectContaining({ prompt: 'First' }),
          { scheduled_task_step_id: UNKNOWN, prompt: 'Look again' },
        ],
      },
    ],
  ])('of %j changes that and nothing else', async (body, changed) => {
    const before = await read(own);
    rows.clock.advance(1_000);
    const got = await change(body);
    expect(got.status).toBe(200);
    const moved = 'timezone' in body ? { timezone: body.timezone } : {};
    expect(data(got)).toEqual({ ...before, ...moved, ...changed, updated_at: '2026-03-01T12:00:01.000Z' });
    expect(await read(own)).toEqual(data(got));
  });

  test.each([
    ['nothing', {}, 'body'],
    ['only unknown fields', { colour: 'red' }, 'body'],
    ['a cron that never fires', { cron: '0 0 30 2 *' }, 'cron'],
    ['an unknown zone', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['an unknown expert', { target: 'expert:nobody' }, 'target'],
    ['no step and no prompt', { steps: null }, 'prompt'],
    [
      'the step of another task',
      { steps: [{ scheduled_task_step_id: PROJECT, prompt: 'a' }] },
      'steps[0].scheduled_task_step_id',
    ],
  ])('of %s is 422, and changes nothing', async (_name, body, field) => {
    const before = await read(own);
    const got = await change(body);
    expect([got.status, message(got)]).toEqual([422, expect.stringMatching(`^${field.replace(/[[\]]/g, '\\$&')}: `)]);
    expect(await read(own)).toEqual(before);
  });

  test('of a task of an expert that is gone is possible, as long as it is not of the target', async () => {
    const { id } = await rows.store.schedules.create({
      ...TASK,
      userSeq: rows.user.seq,
      target: 'expert:gone',
      work: { prompt: null, steps: [{ id: PROJECT, prompt: 'Look' }] },
    });
    expect((await change({ name: 'Ebb' }, id)).status).toBe(200);
  });
});

describe('owners', () => {
  test('an administrator makes tasks of others, by name or id; nobody else does', async () => {
    for (const reference of ['otto', 'mara']) {
      const got = await create({ user: reference }, admin);
      expect([got.status, data(got)['owner']]).toMatchObject([201, { username: reference }]);
    }
    expect((await create({ user: 'nobody' }, admin)).status).toBe(404);
    expect((await create({ user: 'otto' })).status).toBe(403);
  });

  test('the operator is no user, and must name the owner', async () => {
    const via = (sending: Sent) => send(house, { via: 'socket', ...sending });
    const got = await create({}, via);
    expect([got.status, message(got)]).toEqual([422, expect.stringMatching('^user: ')]);
    expect((await create({ user: 'otto' }, via)).status).toBe(201);
  });

  test('nobody has more tasks than the limit', async () => {
    for (let no = 1; no < TASK_LIMITS.perOwner; no += 1)
      await rows.store.schedules.create({
        ...TASK,
        userSeq: rows.user.seq,
        work: { prompt: 'Look', steps: [{ id: UNKNOWN, prompt: 'Look' }] },
      });
    expect((await create({})).status).toBe(409);
    await user({ method: 'DELETE', path: `${PATH}/${own}` });
    expect((await create({})).status).toBe(201);
  });
});

test('a list has one’s own tasks, an administrator’s has all; by name, owner and state', async () => {
  await create({ name: 'Te_t%' });
  await create({ name: 'Test1', enabled: false });
  const names = async (query: string, by = user) => {
    const got = await by({ path: `${PATH}${query}` });
    if (got.status !== 200) return got.status;
    return (data(got)['items'] as unknown as { name: string; owner: { username: string } }[]).map(
      ({ name, owner }) => `${name} of ${owner.username}`,
    );
  };
  expect(await names('')).toEqual(['Tides of mara', 'Te_t% of mara', 'Test1 of mara']);
  expect(await names('', admin)).toEqual(['Tides of mara', 'Tides of otto', 'Te_t% of mara', 'Test1 of mara']);
  expect(await names('?name=Te_t%25')).toEqual(['Te_t% of mara']);
  expect(await names('?name=tides')).toEqual([]);
  expect(await names('?name=Tides', admin)).toEqual(['Tides of mara', 'Tides of otto']);
  expect(await names('?enabled=false')).toEqual(['Test1 of mara']);
  expect(await names('?user=otto', admin)).toEqual(['Tides of otto']);
  expect(await names('?user=otto')).toBe(403);
  expect(await names('?user=nobody', admin)).toBe(404);
  expect(await names('?limit=1&offset=1')).toEqual(['Te_t% of mara']);
  expect(await names('?limit=0')).toBe(422);
  expect(await names('?enabled=perhaps')).toBe(422);
});

describe('a run on request', () => {
  test('is a firing with a session of its own, which shows in the list of firings and in the task', async () => {
    rows.clock.advance(1_000);
    const got = await run();
    expect(got.status).toBe(201);
    const firing = data(got);
    expect(firing).toEqual({
      id: expect.any(Number),
      scheduled_task_id: own,
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      due_at: '2026-03-01T12:00:01.000Z',
      trigger: 'manual',
      status: 'pending',
      step_no: 1,
      step_count: 1,
      created_at: '2026-03-01T12:00:01.000Z',
      ended_at: null,
    });
    expect(data(await user({ path: `${PATH}/${own}/firings` }))).toEqual({ items: [firing], total: 1 });
    expect(await read(own)).toMatchObject({ last_fired_at: '2026-03-01T12:00:01.000Z', last_status: 'pending' });
    const session = await rows.store.sessions.find(String(firing['session_id']));
    expect(session).toMatchObject({ kind: 'scheduled', title: 'Tides', keySeq: null, userSeq: rows.user.seq });
  });

  test('is a conflict while an earlier firing is unfinished, unless the task queues them', async () => {
    await run();
    const got = await run();
    expect([got.status, message(got)]).toEqual([409, 'An earlier firing of the task has not ended.']);
    await change({ overlap: 'queue' });
    const statuses = [];
    for (let no = 0; no <= TASK_LIMITS.queuedFirings; no += 1) statuses.push((await run()).status);
    expect(statuses).toEqual([...Array(TASK_LIMITS.queuedFirings).fill(201), 409]);
  });

  test('is possible while the task is disabled, and again when the firing has ended', async () => {
    await change({ enabled: false });
    expect((await run()).status).toBe(201);
    const [claimed] = await rows.claim();
    await rows.store.runs.finalize(fenceOf(claimed!), {
      outcome: 'completed',
      answer: 'Done.',
      stopReason: 'end_turn',
    });
    await rows.store.runs.settle(fenceOf(claimed!));
    expect(await read(own)).toMatchObject({ last_status: 'completed', enabled: false });
    expect((await run()).status).toBe(201);
  });

  test('is refused while the owner is disabled, no worker is there, the daemon ends, or the disk is full', async () => {
    await rows.store.users.change('otto', { disabled: true });
    expect((await run(ofOther, admin)).status).toBe(409);
    for (const [none, status] of [
      [0, 503],
      [4, 201],
    ] as const) {
      capacity = none;
      expect((await run()).status).toBe(status);
    }
    shortage = { words: 'The disk is almost full.' };
    expect((await run()).status).toBe(503);
    [shortage, draining] = [null, true];
    expect((await run()).status).toBe(503);
    expect(rows.rows('SELECT id FROM firings')).toHaveLength(1);
  });
});

test('changes of the prompt and of the steps that come at once are both kept', async () => {
  const { find } = rows.store.schedules;
  const both = Promise.withResolvers<void>();
  const found = vi.spyOn(rows.store.schedules, 'find').mockImplementation(async (id) => {
    const task = await find(id);
    if (found.mock.calls.length === 2) both.resolve();
    await both.promise;
    return task;
  });
  const [first, second] = await Promise.all([
    change({ prompt: 'Of tides.' }),
    change({ steps: [{ prompt: 'Write.' }] }),
  ]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(await read(own)).toMatchObject({ prompt: 'Of tides.', steps: [{ prompt: 'Write.' }] });
});

test('a deleted task is gone, with what waits of it', async () => {
  await run();
  const got = await user({ method: 'DELETE', path: `${PATH}/${own}` });
  expect([got.status, data(got)]).toEqual([200, { scheduled_task_id: own }]);
  expect((await user({ path: `${PATH}/${own}` })).status).toBe(404);
  expect((await run()).status).toBe(404);
  expect((await user({ method: 'DELETE', path: `${PATH}/${own}` })).status).toBe(404);
  expect(data(await user({ path: PATH }))).toMatchObject({ items: [], total: 0 });
  expect(rows.rows('SELECT status FROM firings')).toEqual([{ status: 'stopped' }]);
});
