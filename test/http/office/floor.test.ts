// What administrators read of the floor, over HTTP and a real store (§2.14, §4.8, G11-G15, G19, G21).
import { beforeEach, describe, expect, test } from 'vitest';
import { makeFloor } from '../../../src/operations/office/floor.ts';
import { type Fixture, openFixture, send } from '../../support/http/http-fixture.ts';
import { aTask } from '../../support/store/schedules.ts';
import { COST, officeFixture, type OfficeFixture, type Person, TOKENS } from '../../support/store/office-fixture.ts';

const BASE = '/api/v1/office-mode';
const NOON = '2026-03-10T12:00:00.000Z';
const MIDNIGHT = '2026-03-10T00:00:00.000Z';

let rows: OfficeFixture;
let fixture: Fixture;
let red: string;
let ann: Person;

beforeEach(async () => {
  rows = await officeFixture(NOON);
  red = await rows.team('Red');
  ann = await rows.person('ann', red);
  fixture = await openFixture({ operations: makeFloor({ store: rows.store, clock: rows.clock }) });
});

const get = (path: string, as = 'admin-key') => send(fixture, { path: `${BASE}${path}`, as });
const data = async (path: string) => {
  const { status, json } = await get(path);
  expect([path, status, json]).toMatchObject([path, 200, { code: 0 }]);
  return (json as { data: unknown }).data;
};

const overview = { total: 0, running: 0, pending: 0, failed: 0, completed: 0, idle: 0, visible_conversations: 0 };
const permissions = { allow_other_conversations: true, conversation_access_label: 'Administrator, read only' };

describe('the snapshot', () => {
  test('of an empty floor has its teams, and nothing else', { tags: ['§2.14-shapes', 'G14'] }, async () => {
    expect(await data('/snapshot?tz=UTC')).toEqual({
      generated_at: NOON,
      overview: { ...overview, total_cost_usd: 0, total_tokens: 0 },
      permissions,
      teams: [
        {
          id: red,
          name: 'Red',
          budget_amount_usd: 100,
          today_active: 0,
          scheduled_task_count: 0,
          today_total_tokens: 0,
          today_cost_usd: 0,
          created_at: NOON,
          updated_at: NOON,
        },
      ],
      entities: [],
      recent_sessions: [],
    });
  });

  test('shows runs, teams and sessions', { tags: ['§4.8-rule-9'] }, async () => {
    const done = await rows.work({ who: ann, calls: 2 });
    const ben = await rows.person('ben');
    await rows.work({ who: ben, goesOn: true });
    await rows.accept(ben);
    for (const { user } of [ann, ann, ben]) await rows.store.schedules.create(aTask(user.seq));
    rows.clock.jump(90_000);
    expect(await data('/snapshot?tz=UTC')).toMatchObject({
      overview: {
        ...overview,
        total: 3,
        running: 1,
        pending: 1,
        completed: 1,
        visible_conversations: 3,
        total_tokens: 3 * TOKENS,
      },
      teams: [
        { id: red, today_active: 1, scheduled_task_count: 2, today_total_tokens: 2 * TOKENS },
        {
          id: '__unassigned__',
          scheduled_task_count: 1,
          name: 'Unassigned',
          budget_amount_usd: null,
          today_active: 2,
          today_total_tokens: TOKENS,
          created_at: MIDNIGHT,
          updated_at: MIDNIGHT,
        },
      ],
      entities: [
        {
          status: 'running',
          title: 'Tell me of tides.',
          subtitle: 'ben · Unassigned',
          team_id: '__unassigned__',
          team_name: 'Unassigned',
          detail: 'thinks',
          elapsed_seconds: 90,
          total_tokens: TOKENS,
          finished_at: null,
        },
        { status: 'pending', progress: 0, started_at: null, elapsed_seconds: 0, total_tokens: 0 },
        {
          id: done.id,
          kind: 'session-run',
          status: 'completed',
          progress: 100,
          subtitle: 'ann · Red',
          team_id: red,
          detail: null,
          message_count: 2,
          conversation_access_mode: 'admin_readonly',
        },
      ],
      recent_sessions: [
        { status: 'pending' },
        { status: 'running' },
        { status: 'completed', team_name: 'Red', run_id: done.id },
      ],
    });
  });

  test.each([
    ['the day before, when it was yesterday in Shanghai', '', 0],
    ['the day before, in another zone', '?tz=Pacific/Honolulu', TOKENS],
  ])('has what was used %s', { tags: ['§4.8-time-zone'] }, async (_, query, tokens) => {
    await rows.work({ who: ann });
    rows.clock.jump(5 * 3_600_000);
    expect(await data(`/snapshot${query}`)).toMatchObject({ overview: { total_tokens: tokens } });
  });

  test('has 72 rows unless another number is requested', { tags: ['§4.8-ranges'] }, async () => {
    for (let run = 0; run < 73; run += 1) await rows.accept(ann);
    for (const [query, length] of [
      ['', 72],
      ['?limit=1', 1],
      ['?limit=96', 73],
    ] as const) {
      expect((await data(`/snapshot${query}`)) as { entities: unknown[] }).toMatchObject({
        entities: { length },
        overview: { total: 73, pending: 73 },
      });
    }
  });
});

test('live runs come by pages, in the order of the snapshot', async () => {
  await rows.work({ who: ann });
  await rows.work({ who: ann, goesOn: true });
  for (let run = 0; run < 5; run += 1) await rows.accept(ann);
  const ids = async (path: string, name: string) =>
    ((await data(path)) as Record<string, { run_id: string }[]>)[name]!.map(({ run_id: id }) => id);
  const all = (await ids('/snapshot?limit=96', 'entities')).slice(0, 6);
  expect(await data('/live-runs?limit=4')).toMatchObject({ generated_at: NOON, total: 6, limit: 4, offset: 0 });
  expect(await ids('/live-runs?limit=4', 'items')).toEqual(all.slice(0, 4));
  expect(await ids('/live-runs?limit=4&offset=4', 'items')).toEqual(all.slice(4));
  expect(await ids('/live-runs?offset=6', 'items')).toEqual([]);
});

describe('the last hour', () => {
  const quarter = (time: string, calls: number) => ({
    started_at: `2026-03-10T${time}:00.000Z`,
    total_tokens: calls * TOKENS,
    total_cost_usd: expect.closeTo(calls * COST, 9) as number,
  });
  const at = (time: string) => rows.clock.jump(Date.parse(`2026-03-10T${time}:00.000Z`) - rows.clock.now());

  test('has what each team used by quarters of an hour, from the one in which the hour began', async () => {
    const ben = await rows.person('ben');
    for (const [time, who, calls] of [
      ['12:14', ann, 5],
      ['12:15', ann, 1],
      ['12:31', ann, 2],
      ['12:44', ann, 1],
      ['12:59', ben, 4],
      ['13:20', ann, 1],
    ] as const) {
      at(time);
      await rows.work({ who, calls });
    }
    expect(await data('/last-hour')).toEqual({
      generated_at: '2026-03-10T13:20:00.000Z',
      step_seconds: 900,
      teams: [
        { id: '__unassigned__', steps: [quarter('12:45', 4)] },
        { id: red, steps: [quarter('12:15', 1), quarter('12:30', 3), quarter('13:15', 1)] },
      ],
    });
  });

  test('counts what somebody used without a team for the team of today, and nothing of a deleted team', async () => {
    const ben = await rows.person('ben');
    await rows.work({ who: ben });
    await rows.work({ who: ann });
    await rows.join(ben, red);
    await rows.work({ who: ben });
    expect(await data('/last-hour')).toMatchObject({ teams: [{ id: red, steps: [quarter('12:00', 3)] }] });
    await rows.change('UPDATE users SET team_id = NULL');
    await rows.change('DELETE FROM budgets');
    await rows.change('DELETE FROM teams');
    expect(await data('/last-hour')).toMatchObject({ teams: [{ id: '__unassigned__', steps: [quarter('12:00', 1)] }] });
  });

  test('has nothing of what a clock that was set back recorded ahead of it', async () => {
    at('18:00');
    await rows.work({ who: ann });
    at('12:00');
    expect(await data('/last-hour')).toMatchObject({ teams: [] });
  });
});

describe('today’s runs of a team', () => {
  const today = (team: string, query = '') => data(`/teams/${team}/today-active-runs?tz=UTC${query}`);

  test('are rows with what their session used today', { tags: ['§2.14-shapes'] }, async () => {
    const run = await rows.work({ who: ann, calls: 2 });
    const later = await rows.work({ who: ann, in: run, scheduled: true });
    const { items: tasks } = await rows.store.schedules.list({
      userSeq: null,
      name: null,
      enabled: null,
      limit: 1,
      offset: 0,
    });
    expect(await today(red.toUpperCase())).toMatchObject({
      team_id: red,
      generated_at: NOON,
      items: [
        {
          id: `${run.sessionId}:${later.id}`,
          run_id: later.id,
          source_type: 'scheduled_task',
          scheduled_task_id: tasks[0]!.id,
          scheduled_task_step_id: tasks[0]!.steps[0]!.id,
          total_tokens: 3 * TOKENS,
        },
        {
          id: `${run.sessionId}:${run.id}`,
          source_type: 'normal_session',
          total_tokens: 3 * TOKENS,
          is_deleted: false,
          can_view_conversation: true,
        },
      ],
      total: 1,
      item_total: 1,
      limit: 10,
      page: 1,
      has_more: false,
      next_page: null,
    });
    expect(await today(red, '&source_type=scheduled_task')).toMatchObject({ items: [{ run_id: later.id }], total: 1 });
  });

  test('come in pages, whose end item_total shows', { tags: ['§4.8-rule-4'] }, async () => {
    for (let run = 0; run < 3; run += 1) await rows.work({ who: ann });
    await rows.callWithoutRun(await rows.work({ who: ann, calls: 0 }));
    const page = async (number: number) => today(red, `&limit=2&page=${number}`);
    expect(await page(1)).toMatchObject({
      items: { length: 2 },
      total: 4,
      item_total: 3,
      has_more: true,
      next_page: 2,
    });
    expect(await page(2)).toMatchObject({
      items: { length: 1 },
      total: 4,
      item_total: 3,
      has_more: false,
      next_page: null,
    });
    expect(await page(3)).toMatchObject({ items: [], page: 3, has_more: false, next_page: null });
    expect(await page(Number.MAX_SAFE_INTEGER)).toMatchObject({ items: [], item_total: 3, has_more: false });
  });

  test('of deleted sessions are marked, and have no conversation', { tags: ['§4.8-rule-7'] }, async () => {
    await rows.delete(await rows.work({ who: ann }));
    expect(await today(red)).toMatchObject({ items: [{ is_deleted: true, can_view_conversation: false }], total: 1 });
  });

  test('of nobody are there whether the virtual team is or not', async () => {
    expect(await today('__unassigned__')).toMatchObject({ team_id: '__unassigned__', items: [], total: 0 });
  });
});

test('a title of control sequences, of both directions, or of 10,000 characters is sent as it is', async () => {
  const titles = ['\u001b]0;x\u0007\u001b[31mred', '\u202eevil\u2066 \u0627\u0644 \ud83c\udf0a', 'x'.repeat(10_000)];
  const named = [];
  for (const title of titles) {
    rows.clock.jump(1_000);
    const run = await rows.work({ who: ann });
    await rows.change('UPDATE sessions SET title = ? WHERE seq = ?', title, run.sessionSeq);
    await rows.change('UPDATE messages SET text_preview = ? WHERE run_seq = ?', title, run.seq);
    named.unshift({ session_id: run.sessionId, title, session_title: title });
  }
  expect(await data('/snapshot?tz=UTC')).toMatchObject({ entities: named, recent_sessions: named });
  expect(await data(`/teams/${red}/today-active-runs?tz=UTC`)).toMatchObject({ items: named });
});
