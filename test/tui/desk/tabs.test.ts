import { expect, test } from 'vitest';
import { pressed } from '../../../src/tui/app/app.ts';
import { deskFrame } from '../../../src/tui/desk/desk-frame.ts';
import { TABS } from '../../../src/tui/desk/tabs.ts';
import { desk, type DeskState, type TabName } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { widthOf } from '../../../src/tui/text/fit.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import type { FileNodeWire } from '../../../src/wire/sessions/artifact.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { AT, sessionId } from '../../support/http/office-server.ts';

const SIZE = { columns: 70, rows: 16 };
const HOSTILE = `\u001b[31m${'界👩‍👩‍👧 שלום '.repeat(60)}\u202e`;
const at = (seconds: number) => new Date(AT + seconds * 1000).toISOString();

const file = (name: string, over: Partial<FileNodeWire> = {}): FileNodeWire => ({
  id: name,
  name,
  type: 'file',
  path: `/${name}`,
  children: null,
  url: `http://x/files/${name}`,
  downloadUrl: null,
  mimeType: null,
  oss_status: null,
  oss_meta: { size: 1500, sha256: '' },
  ...over,
});
const folder = (name: string, children: readonly FileNodeWire[]) =>
  file(name, { type: 'folder', children, url: null, oss_meta: null });

const USAGE = {
  session_id: sessionId(1),
  model: 'opus',
  context_window: 200_000,
  used_tokens: 60_000,
  used_percent: 30,
  parts: { system: 400, history: 52_600, tools: 7000 },
};

function round(over: object) {
  const tool = (status: string) => ({ tool_use_id: status, name: 'shell', status, duration_ms: 85 });
  return {
    round_no: 1,
    run_id: sessionId(1),
    status: 'completed',
    user_message: 'Plot the sales.',
    assistant_message: 'one\ntwo\nthree\nfour',
    tools: [tool('completed'), tool('failed')],
    input_tokens: 17_100,
    output_tokens: 1100,
    cost_usd: 0.07,
    started_at: at(0),
    finished_at: at(41),
    ...over,
  };
}

function message(id: number, role: 'user' | 'assistant', text: string) {
  const content = [
    { type: 'text', text },
    { type: 'tool_use', id: 'x', name: 'shell', input: { command: text } },
    { type: 'tool_result', tool_use_id: 'x', is_error: true, content: `${text}\ntwo\nthree` },
  ];
  const attachments = [{ id: 'a', name: 'sales.csv', path: '/sales.csv', mime_type: 'x', size: 120_345, sha256: '' }];
  return { id, role, text_preview: '', content: { content }, attachments, run_id: null, created_at: at(id) };
}

const pages = <T>(items: readonly T[]) => ({ items, hasOlder: false, isAtEnd: true });

const DATA: Readonly<Partial<Record<TabName, unknown>>> = {
  rounds: pages([round({}), round({ round_no: 2, user_message: HOSTILE, assistant_message: null })]),
  messages: pages([message(1, 'user', HOSTILE), message(2, 'assistant', 'I look.')]),
  files: [
    file('report.md', { oss_status: 'added' }),
    folder('plots', [file('a.png', { oss_status: 'modified' }), file(HOSTILE)]),
  ],
  context: USAGE,
};

function shown(tab: TabName, over: Partial<DeskState> = {}): AppState {
  const readings = Object.fromEntries(Object.entries(DATA).map(([name, data]) => [name, { data, failure: null }]));
  return initialState(
    { tz: 'UTC', intervalMs: 5000 },
    [{ ...desk(sessionId(1)), tab, readings, stream: { kind: 'live', failure: null }, ...over }],
    AT,
  );
}

const screenOf = (state: AppState) => state.screens.at(-1) as DeskState;
const frame = (state: AppState, size = SIZE) => textOf(deskFrame(state, screenOf(state), size)).replace(/ +$/gm, '');

function press(state: AppState, ...keys: readonly string[]): AppState {
  return keys.reduce((before, key) => {
    const done = pressed(key, before, SIZE);
    return done === undefined || done.type === 'quit' || done.type === 'copy' || done.type === 'page'
      ? before
      : reduce(before, done);
  }, state);
}

test.each(TABS.flatMap(({ name }) => [60, 100, 160].map((columns) => [name, columns] as const)))(
  '%s fits %d columns, folded and unfolded',
  (name, columns) => {
    for (const isUnfolded of [false, true]) {
      const state = shown(name, { isUnfolded });
      const lines = textOf(deskFrame(state, screenOf(state), { columns, rows: 45 })).split('\n');
      expect(lines).toHaveLength(45);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      // oxlint-disable-next-line no-control-regex
      expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
  },
);

test('keys lead to tabs, and from each to its neighbours', () => {
  const names = (...keys: readonly string[]) => screenOf(press(shown('live'), ...keys)).tab;
  expect(TABS.map((_, index) => names(String(index + 1)))).toEqual(TABS.map(({ name }) => name));
  expect([names('right'), names('left'), names('7', 'tab')]).toEqual(['rounds', 'summary', 'live']);
});

test('a round: what was asked, used and answered', () => {
  const state = shown('rounds', { readings: { rounds: { data: pages([round({})]), failure: null } } });
  expect(frame(state)).toMatchInlineSnapshot(`
    " ● – running  ○ – pending  ✓ –  ✗ –  - –       ◌ connecting  12:00:00

     Session 0198c0de-0000-7000-9000-000000000001                  ● live
     1 Live 2 Rounds 3 Mess 4 Files 5 Ctx 6 Events 7 Sum
     ✓ Round 1  completed                   1 Mar 2026 12:00  41 s  $0.07
       asked     Plot the sales.
       used      shell ×2 (1 failed)
       answered  one
                 two
                 three
                 … 1 more line




     ↑↓ scroll  1-7 tabs  ⏎ unfold  v pager  G newest  Esc back    ? help"
  `);
  expect(frame(press(state, 'enter'))).toContain('four');
  const stopped = { data: pages([round({ status: 'canceled' })]), failure: null };
  expect(frame(shown('rounds', { readings: { rounds: stopped } }))).toContain('- Round 1  stopped');
});

test('the window of the model as a bar, whose parts are as wide as their shares', () => {
  const text = frame(shown('context'));
  expect(text).toMatchInlineSnapshot(`
    " ● – running  ○ – pending  ✓ –  ✗ –  - –       ◌ connecting  12:00:00

     Session 0198c0de-0000-7000-9000-000000000001                  ● live
     1 Live 2 Rounds 3 Mess 4 Files 5 Ctx 6 Events 7 Sum
     opus                                     60.0k of 200k tokens · 30 %

     █▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
     █▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░

     ██ System         400    0.2 %
     ▓▓ History      52.6k   26.3 %
     ▒▒ Tools         7.0k    3.5 %
     ░░ Free          140k   70.0 %


     ↑↓ scroll  1-7 tabs  ⏎ unfold  v pager  G newest  Esc back    ? help"
  `);
  const bar = text.split('\n').find((line) => line.includes('█▓')) ?? '';
  expect(widthOf(bar.trim())).toBe(SIZE.columns - 2);
});

test('a window of which nothing is known, and a session that called no model', () => {
  const data = {
    ...USAGE,
    model: null,
    context_window: null,
    used_tokens: 0,
    parts: { system: 0, history: 0, tools: 0 },
  };
  const text = frame(shown('context', { readings: { context: { data, failure: null } } }));
  expect(text).toContain('No model was called yet');
  expect(text).not.toMatch(/NaN|Free/);
});

test('files: folders first, what changed is marked, and d wants the chosen file', () => {
  const state = shown('files');
  expect(frame(state)).toMatch(/❯ +plots\/ +3\.0 KB\n.*\n +~ +a\.png +1\.5 KB\n +\+ report\.md +1\.5 KB/);
  expect(screenOf(press(state, 'd')).wanted).toBeNull();
  expect(screenOf(press(state, 'down', 'down', 'd')).wanted).toEqual({ path: '/a.png', name: 'a.png' });
  expect(screenOf(press(state, 'last', 'd')).wanted?.name).toBe('report.md');
  expect(screenOf(press(shown('context'), 'd')).wanted).toBeNull();
});

test('a tab that is not read yet, or could not be, says so', () => {
  expect(frame(shown('summary'))).toContain('Reading…');
  const failure = new ClientError({ kind: 'refused', status: 403 }, 'Not allowed.');
  expect(frame(shown('summary', { readings: { summary: { data: undefined, failure } } }))).toContain('Not allowed.');
  expect(frame(shown('files', { readings: { files: { data: [], failure: null } } }))).toContain('Nothing yet.');
});
