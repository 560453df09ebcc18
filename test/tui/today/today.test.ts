import { expect, test } from 'vitest';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor, today, type TodayState } from '../../../src/tui/state/screens.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { widthOf } from '../../../src/tui/text/fit.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { pressed } from '../../../src/tui/app/app.ts';
import { todayFrame } from '../../../src/tui/today/today-frame.ts';
import { AT, aTodayItem } from '../../support/http/office-server.ts';

const SIZE = { columns: 90, rows: 16 };

function shown(over: Partial<TodayState> = {}): AppState {
  const items = [
    aTodayItem(1, { status: 'completed', detail: null, finished_at: new Date(AT).toISOString() }),
    aTodayItem(2, { is_deleted: true, source_type: 'scheduled_task' }),
    aTodayItem(3, { status: 'failed', last_error: 'No model.' }),
  ];
  const runs = {
    team_id: 't1',
    generated_at: new Date(AT).toISOString(),
    items,
    total: 60,
    item_total: 53,
    limit: 50,
    page: 1,
    has_more: true,
    next_page: 2,
  };
  const screens = [floor(), { ...today('t1', 'Research'), runs, ...over }];
  return initialState({ tz: 'UTC', intervalMs: 5000 }, screens, AT);
}

const screenOf = (state: AppState) => state.screens.at(-1) as TodayState;
const frame = (state: AppState, size = SIZE) => textOf(todayFrame(state, screenOf(state), size));

function press(state: AppState, ...keys: readonly string[]): AppState {
  return keys.reduce((before, key) => {
    const done = pressed(key, before, SIZE);
    return done === undefined || done.type === 'quit' || done.type === 'copy' || done.type === 'page'
      ? before
      : reduce(before, done);
  }, state);
}

test("today's runs of a team", () => {
  expect(frame(shown()).replace(/ +$/gm, '')).toMatchInlineSnapshot(`
    " ● – running  ○ – pending  ✓ – completed  ✗ – failed  - – stopped  ◌ connecting  12:00:00

      Research  today                                  60 active · 53 with runs · page 1 of 2

         BEGAN  TITLE                      WHO            TIME  TOKENS     COST  NOW
    ❯ ✓  11:58  Plot the sales of quarte…  Ann Arbor      1:01   18.2k    $0.07
      ●  11:58  deleted Plot the sales o…  Ann Arbor      1:02   18.2k    $0.07  shell: pyth…
      ✗  11:58  Plot the sales of quarte…  Ann Arbor      1:03   18.2k    $0.07  No model.







     ↑↓ move  ⏎ open  ← → page  s source  Esc back  q quit                             ? help"
  `);
});

test.each([
  [60, 15],
  [90, 30],
  [200, 60],
])('at %d×%d every line fits', (columns, rows) => {
  const lines = frame(shown(), { columns, rows }).split('\n');
  expect(lines).toHaveLength(rows);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
});

test('pages turn where there are some, and a page is read anew', () => {
  expect(screenOf(press(shown(), 'left'))).toMatchObject({ page: 1 });
  const second = press(shown(), 'right');
  expect(screenOf(second)).toMatchObject({ page: 2, runs: null });
  expect(frame(second)).toContain('Reading…');
  expect(screenOf(press(second, 'right'))).toMatchObject({ page: 2 });
});

test('the source is filtered from the first page on', () => {
  const state = press(press(shown(), 'right'), 's', 's');
  expect(screenOf(state)).toMatchObject({ source: 'scheduled_task', page: 1, runs: null });
  expect(frame(state)).toContain('Research  today · scheduled tasks');
});

test('a deleted session does not open, and says so', () => {
  const state = press(shown(), 'down', 'enter');
  expect(screenOf(state).name).toBe('today');
  expect(frame(state)).toContain('This session was deleted.');
  expect(press(state, 'up', 'enter').screens.at(-1)).toMatchObject({ name: 'desk' });
});
