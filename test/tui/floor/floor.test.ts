import { expect, test } from 'vitest';
import type { OfficeEvent } from '../../../src/client/office-stream.ts';
import { pressed } from '../../../src/tui/app/app.ts';
import { floorScreen } from '../../../src/tui/floor/floor.ts';
import { floorFrame } from '../../../src/tui/floor/floor-frame.ts';
import { append } from '../../../src/tui/feed/event-log.ts';
import { desk, EMPTY_LOG } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor, type FloorState } from '../../../src/tui/state/screens.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { widthOf } from '../../../src/tui/text/fit.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { anEntity, anEvent, aSnapshot, AT, aTeam, runId, sessionId } from '../../support/http/office-server.ts';

const ENTITIES = [
  anEntity(1),
  anEntity(2, {
    status: 'running',
    detail: 'waits for Bo',
    full_name: '山田 由紀',
    session_title: '売上データを分析してグラフを作成',
  }),
  anEntity(3, {
    status: 'pending',
    started_at: null,
    detail: null,
    progress: 0,
    session_title: '👩‍💻 Refactor \u001b[31mbilling\u202e',
  }),
  anEntity(4, {
    status: 'failed',
    last_error: 'No model answered.',
    detail: null,
    finished_at: new Date(AT - 5000).toISOString(),
  }),
  anEntity(5, {
    status: 'completed',
    detail: null,
    finished_at: new Date(AT - 400_000).toISOString(),
    team_id: '__unassigned__',
    team_name: 'Unassigned',
  }),
];

function shown(entities = ENTITIES, nodes?: { online: number; draining: number }): AppState {
  const empty = initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT);
  const queue = { total: 1, slots: 8, busy: 2, waiting_for_user: 0, ...(nodes && { nodes }) };
  const state = reduce(empty, { type: 'snapshot', snapshot: aSnapshot(entities), queue, limit: 96, at: AT });
  return reduce(state, { type: 'stream-open' });
}

const SIZE = { columns: 100, rows: 24 };
const screenOf = (state: AppState) => state.screens.at(-1) as FloorState;
const frame = (state: AppState, size = SIZE) => textOf(floorFrame(state, screenOf(state), size));

function press(state: AppState, ...keys: readonly string[]): AppState {
  return keys.reduce((before, key) => {
    const done = pressed(key, before, SIZE);
    return done === undefined || done.type === 'quit' || done.type === 'copy' || done.type === 'page'
      ? before
      : reduce(before, done);
  }, state);
}

/** Opens the list of teams; then each is a key, or a letter of what is typed. */
function pick(state: AppState, ...inputs: readonly string[]): AppState {
  const strokes = inputs.flatMap((input) =>
    KEYS.has(input) ? [{ name: input, text: '' }] : Array.from(input, (text) => ({ name: text, text })),
  );
  return strokes.reduce(
    (before, stroke) => {
      const done = floorScreen.type?.(stroke, before);
      return done === undefined ? before : reduce(before, done);
    },
    press(state, 't'),
  );
}
const KEYS = new Set(['up', 'down', 'enter', 'escape', 'erase']);

const chosen = (state: AppState) => /^❯.*$/m.exec(frame(state))?.[0] ?? '';

test.each([
  [undefined, /queue 1 +●/],
  [{ online: 1, draining: 0 }, /queue 1 +●/],
  [{ online: 3, draining: 0 }, /queue 1 · nodes 3 +●/],
  [{ online: 2, draining: 1 }, /queue 1 · nodes 2\/3 +●/],
  [{ online: 0, draining: 1 }, /queue 1 · nodes 0\/1 +●/],
])('the line at the top counts nodes where there are more than one, or one drains: %j', (nodes, words) => {
  expect(frame(shown(ENTITIES, nodes), { columns: 160, rows: 16 }).split('\n')[0]).toMatch(words);
});

test('the floor on a usual terminal', { tags: ['§4.8-rule-9'] }, () => {
  expect(frame(shown(), { columns: 120, rows: 16 }).replace(/ +$/gm, '')).toMatchInlineSnapshot(`
    " ● 2 running  ○ 1 pending  ✓ 1 completed  ✗ 1 failed  - 0 stopped   $12.41 · 3.1M   2/8 · queue 1      ● live  12:00:00

      TEAM                       TODAY  BUDGET                            TOKENS  ACTIVE  LAST HOUR
      Research                   $8.20  ━━━━━━━━━━─────────────── $20.00    310k       3                                  ▁
      Sales                      $4.21  no budget                           310k       3                                  ▁

      All runs · newest first                                                                                           1/5
         PROGRESS    TITLE                        WHO          TEAM          TIME↑     COST  NOW
    ❯ ●  ━━━─── 45%  Plot the sales of quarter 1  Ann Arbor    Research       1:01    $0.07  shell: python plot.py
      ?  ━━━─── 45%  売上データを分析してグラフ…  山田 由紀    Research       1:02    $0.07  waits for Bo
      ○  ──────      👩 Refactor billing          Ann Arbor    Research       0:00    $0.07  waits for a slot
      ✗              Plot the sales of quarter 4  Ann Arbor    Research       0:59    $0.07  No model answered.
      ✓              Plot the sales of quarter 5  Ann Arbor    Unassigned     0:00    $0.07  6 min ago


     ↑↓ move  ⏎ open  / find  t team  s status  o order  T today  p pause  q quit                                    ? help"
  `);
});

test('a team shows the budget of which most is used; one by month or in all says so', () => {
  const common = {
    timezone: 'UTC',
    reserved: 0,
    renews_at: null,
    period_started_at: null,
    created_at: '',
    updated_at: '',
  };
  const budgets = [
    {
      ...common,
      id: 'a',
      subject: 'team',
      subject_id: 't1',
      subject_name: '',
      unit: 'usd',
      period: 'day',
      limit: 20,
      spent: 5,
      used_percent: 25,
    },
    {
      ...common,
      id: 'b',
      subject: 'team',
      subject_id: 't1',
      subject_name: '',
      unit: 'usd',
      period: 'month',
      limit: 50,
      spent: 45,
      used_percent: 90,
    },
    {
      ...common,
      id: 'c',
      subject: 'team',
      subject_id: 't2',
      subject_name: '',
      unit: 'tokens',
      period: 'all',
      limit: 2e6,
      spent: 3e6,
      used_percent: 150,
    },
  ] as const;
  const taken = { type: 'snapshot', snapshot: aSnapshot([]), queue: null, limit: 96, at: AT } as const;
  const state = reduce(shown(), { ...taken, budgets: { items: budgets, total: 3 } });
  const lines = frame(state, { columns: 120, rows: 16 });
  expect(lines).toMatch(/Research.* ━+─+ \$50.00\/month /);
  expect(lines).toMatch(/Sales.* ━+ 2.0M tokens in all /);
  expect(frame(reduce(state, taken), { columns: 120, rows: 16 })).toContain('$50.00/month');
});

test('the floor on the smallest terminal', () => {
  expect(frame(shown(), { columns: 60, rows: 15 }).replace(/ +$/gm, '')).toMatchInlineSnapshot(`
    " ● 2  ○ 1  ✓ 1  ✗ 1  - 0   $12.41 · 3.1M   ● live  12:00:00

      TEAM                     TODAY  BUDGET
      Research                 $8.20  ━━━━━━━─────────── $20.00
      Sales                    $4.21  no budget
      All runs · newest first                               1/5
         TITLE                     TIME↑  NOW
    ❯ ●  Plot the sales of qua…     1:01  shell: python plot.py
      ?  売上データを分析して…      1:02  waits for Bo
      ○  👩 Refactor billing        0:00  waits for a slot
      ✗  Plot the sales of qua…     0:59  No model answered.
      ✓  Plot the sales of qua…     0:00  6 min ago


     ↑↓ move  ⏎ open  / find  t team  s status  o order  ? help"
  `);
});

test('a terminal that is too small says what it needs', () => {
  expect(frame(shown(), { columns: 20, rows: 5 })).toBe(
    ['errand office       ', 'needs 60×15,        ', 'this is 20×5        ', '', ''].join('\n'),
  );
});

test.each([
  [1, 1],
  [20, 5],
  [60, 15],
  [61, 40],
  [80, 24],
  [132, 50],
  [250, 70],
])('at %d×%d every line fits, and the screen is full', (columns, rows) => {
  const lines = frame(shown(), { columns, rows }).split('\n');
  expect(lines).toHaveLength(rows);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
});

test('the chosen run stays chosen while rows move, and its place is taken when it goes', () => {
  const state = press(shown(), 'down');
  expect(chosen(state)).toContain('売上');
  const moved = reduce(state, {
    type: 'snapshot',
    snapshot: aSnapshot([anEntity(9, { started_at: new Date(AT).toISOString() }), ...ENTITIES]),
    queue: null,
    limit: 96,
    at: AT,
  });
  expect(chosen(moved)).toContain('売上');
  const without = ENTITIES.filter(({ run_id: id }) => id !== runId(2));
  const gone = reduce(state, { type: 'snapshot', snapshot: aSnapshot(without), queue: null, limit: 96, at: AT });
  expect(chosen(gone)).toContain('Refactor');
});

test('filters and order show, and Esc takes them away', () => {
  const state = pick(press(shown(), 's', 's', 's', 'o'), 'res', 'enter');
  expect(frame(state)).toContain('Research · failed · longest first');
  expect(frame(state)).toContain('No model an');
  expect(frame(state)).not.toContain('waits for Bo');
  expect(frame(press(state, 'escape'))).toContain('waits for Bo');
  expect(frame(pick(state, 'sal', 'enter'))).toContain('Nothing matches.');
});

test('Enter opens the desk of the chosen session, T the day of its team, and Esc comes back', () => {
  const desk = press(shown(), 'enter');
  expect(desk.screens.at(-1)).toMatchObject({ name: 'desk', sessionId: ENTITIES[0]?.session_id });
  const today = press(shown(), 'T');
  expect(today.screens.at(-1)).toMatchObject({ name: 'today', teamId: 't1', teamName: 'Research' });
  expect(press(today, 'escape').screens).toHaveLength(1);
});

test('y copies the id of the session', () => {
  expect(pressed('y', shown(), SIZE)).toEqual({ type: 'copy', what: 'session', text: ENTITIES[0]?.session_id });
});

test('of a thousand runs those around the chosen one are drawn', () => {
  const many = Array.from({ length: 90 }, (_, at) => anEntity(at + 1, { session_title: `Nr ${at + 1}.` }));
  const state = press(shown(many), 'last');
  expect(frame(state)).toContain('Nr 90.');
  expect(frame(press(state, 'first'))).toContain('Nr 1.');
});

test('a run whose model is down says so, and for how long', () => {
  const model_wait = {
    model: 'big',
    agent: null,
    since: new Date(AT - 83_000).toISOString(),
    waited_seconds: 83,
    message: 'The model "big" could not be read: the connection was refused.',
  };
  const state = shown([anEntity(1, { model_wait, detail: 'waits for the model big' })]);
  const wide = { columns: 150, rows: 24 };
  expect(frame(state, wide)).toMatch(/^❯ !.*big refuses connections, 1:23/m);
  expect(frame(state, { columns: 60, rows: 15 })).toMatch(/^❯ !.*big .*…, 1:23/m);
  expect(frame(reduce(state, { type: 'tick', at: AT + 1000 }), wide)).toContain('big refuses connections, 1:24');
});

test('where there are several nodes each run names its own, until it is interrupted and may go on elsewhere', () => {
  const entities = [anEntity(1, { node: 'south' })];
  const wide = { columns: 140, rows: 24 };
  expect(frame(shown(entities, { online: 1, draining: 0 }), wide)).not.toContain('south');
  const several = shown(entities, { online: 1, draining: 1 });
  expect(frame(several, wide)).toMatch(/NODE[^]*south/);
  const resumed = reduce(several, {
    type: 'events',
    events: [{ id: 9, ...anEvent(1, 'run.resumed', { resumes: 1 }) }],
    at: AT,
  });
  expect(frame(resumed, wide)).not.toContain('south');
  expect([several.office.hasUnknown, resumed.office.hasUnknown]).toEqual([false, true]);
});

const FORTY = Array.from({ length: 40 }, (_, at) => aTeam(at + 1, { name: `Team ${at + 1}`, today_cost_usd: 40 - at }));

function withTeams(entities = ENTITIES, over = {}): AppState {
  const snapshot = aSnapshot(entities, { teams: FORTY, ...over });
  return reduce(shown(), { type: 'snapshot', snapshot, queue: null, limit: 96, at: AT });
}

test('teams without room are summed up, and chosen by what is typed of their names', () => {
  const state = withTeams();
  expect(frame(state)).toMatch(/^ {2}\+3\d more: t +\$[0-9.]+ /m);
  const list = pick(state, 'team 3');
  expect(frame(list)).toMatch(/Team: team 3▏ +1\/11 $/m);
  expect(frame(list)).toMatch(/^❯ Team 3 /m);
  expect(frame(pick(state, 'team 3', 'erase'))).toContain('1/40');
  expect(frame(pick(state, 'nowhere'))).toContain('No team has that in its name.');
  const chosen = pick(state, 'team 3', 'down', 'enter');
  expect(screenOf(chosen)).toMatchObject({ picker: null, teamId: 't30' });
  expect(frame(chosen)).toMatch(/^❯ Team 30 /m);
  expect(screenOf(pick(chosen, 'up', 'escape')).teamId).toBe('t30');
  // The first line stands for all teams.
  expect(screenOf(pick(chosen, ...Array<string>(40).fill('up'), 'enter')).teamId).toBeNull();
});

test('the list says how many rows more there are, and how many runs of today it has no rows of', () => {
  const many = Array.from({ length: 30 }, (_, at) => anEntity(at + 1));
  const overview = { ...aSnapshot(many).overview, completed: 512 };
  const state = withTeams(many, { overview });
  expect(frame(state)).toContain(' 1/30 · 512 earlier: T ');
  expect(frame(state)).toMatch(/^ {2}\+\d+ more$/m);
  expect(frame(press(state, 'last'))).not.toMatch(/^ {2}\+\d+ more$/m);
});

test('the heading of the column that the rows are ordered by says which way', () => {
  expect(frame(shown())).toContain('TIME↑');
  const wide = { columns: 140, rows: 24 };
  const orders = [['o'], ['O'], ['O', 'r'], ['o', 'o', 'o', 'o', 'o']].map(
    (keys) => /[A-Z]+[↑↓]/.exec(frame(press(shown(), ...keys), wide))?.[0],
  );
  expect(orders).toEqual(['TIME↓', 'COST↓', 'COST↑', 'WHO↑']);
});

test('of what a run writes the last words show, and how long a call takes is told', () => {
  const state = shown([
    anEntity(1, { detail: 'writes' }),
    anEntity(2, { updated_at: new Date(AT - 83_000).toISOString() }),
  ]);
  const text = 'Spring tides come twice a month, and neap tides in between.';
  const event = {
    ...anEvent(1, 'run.step'),
    id: 9,
    type: 'run.words',
    stream_seq: 1,
    payload: { text },
  } as OfficeEvent;
  const said = frame(reduce(state, { type: 'events', events: [event], at: AT }), { columns: 150, rows: 24 });
  expect(said).toMatch(/^❯ ●.* “….*in between\./m);
  expect(said).toMatch(/shell: python plot\.py, 1:23/);
});

test('the line at the top drops word by word what there is no room for, and never a counter', () => {
  const widths = Array.from({ length: 140 }, (_, at) => 200 - at);
  const tops = widths.map((columns) => frame(shown(), { columns, rows: 24 }).split('\n')[0] ?? '');
  for (const top of tops) expect(top).toMatch(/● 2.*○ 1.*✓ 1.*✗ 1.*- 0.*● live {2}12:00:00/);
  const lasts = ['last hour', '━', 'today', 'slots', 'stopped', 'failed', 'running', '2/8'].map((word) =>
    tops.findLastIndex((top) => top.includes(word)),
  );
  expect(lasts).toEqual(lasts.toSorted((one, other) => one - other));
  expect(tops[0]).toMatch(/today +\$12\.41 · 3\.1M tokens +slots +━+─+ +2\/8 · queue 1 +last hour/);
});

test('from 160 columns on the chosen run stands beside the list, and is read along once somebody has chosen it', () => {
  const wide = { columns: 160, rows: 24 };
  const state = shown([anEntity(1, { title: 'Plot the sales of the quarter' }), anEntity(2)]);
  expect(frame(state, { columns: 159, rows: 24 })).not.toContain('│');
  expect(frame(state, wide)).toMatch(/│ Plot the sales of the quarter/);
  expect(frame(state, wide)).toContain('reads along with a run');
  const events = [
    { ...anEvent(1, 'content_block_delta', { delta: { text: 'First **I look** at' } }), id: 1, stream_seq: 1 },
    { ...anEvent(1, 'content_block_delta', { delta: { text: ' the sales.' } }), id: 2, stream_seq: 2 },
  ];
  const pane = { runId: runId(1), desk: { ...desk(sessionId(1)), log: append(EMPTY_LOG, events) } };
  const read = reduce(press(state, 'down', 'up'), {
    type: 'update',
    name: 'floor',
    update: (screen) => ({ ...screen, pane }),
  });
  expect(frame(read, wide)).toMatch(/│ +First I look at the sales\./);
  expect(frame(press(read, 'down'), wide)).toContain('Reading…');
  for (const line of frame(read, wide).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(160);
});
