import { expect, test } from 'vitest';
import type { EventType } from '../../../src/domain/sessions/journal-event.ts';
import type { OfficeEventWire } from '../../../src/wire/journal-event.ts';
import { pressed } from '../../../src/tui/app/app.ts';
import { append, prependPage } from '../../../src/tui/feed/event-log.ts';
import { deskFrame } from '../../../src/tui/desk/desk-frame.ts';
import { TABS } from '../../../src/tui/desk/tabs.ts';
import { desk, type DeskState, EMPTY_LOG, type TabName } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { widthOf } from '../../../src/tui/text/fit.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { anEntity, anEvent, aSnapshot, AT, sessionId } from '../../support/http/office-server.ts';

const SIZE = { columns: 80, rows: 18 };

const delta = (text: string) => ['content_block_delta', { index: 0, delta: { type: 'text_delta', text } }] as const;

function eventsOf(...told: readonly (readonly [type: EventType, payload?: object])[]): OfficeEventWire[] {
  return told.map(([type, payload = {}], at) => ({ ...anEvent(1, type, payload), id: at + 1, stream_seq: at + 1 }));
}

const HISTORY = eventsOf(
  ['run.started', { attempt: 1, model: 'opus' }],
  delta('I look at the '),
  delta('sales first.\nThen I plot them.'),
  ['run.step', { step: 1, text_preview: 'I look at', calls: [] }],
  ['tool_use', { tool_use_id: 'a', name: 'shell', input: { command: 'ls' } }],
  ['tool_result', { tool_use_id: 'a', ok: true, output: 'sales.csv\nplot.py', duration_ms: 85 }],
  ['tool_use', { tool_use_id: 'b', name: 'shell', input: { command: 'python plot.py' } }],
  ['tool_result', { tool_use_id: 'b', ok: false, output: 'No module named plot\u001b[31m', duration_ms: 3200 }],
  ['user_input.requested', { tool_use_id: 'c' }],
  ['tool_use', { tool_use_id: 'd', name: 'write_file', input: { path: '/report.md' } }],
);

function shown(events: readonly OfficeEventWire[], over: Partial<DeskState> = {}): AppState {
  const screen = { ...desk(sessionId(1)), log: append(EMPTY_LOG, events), stream: LIVE, ...over };
  const state = initialState({ tz: 'UTC', intervalMs: 5000 }, [floor(), screen], AT);
  return reduce(state, { type: 'snapshot', snapshot: aSnapshot([anEntity(1)]), queue: null, limit: 96, at: AT });
}
const LIVE = { kind: 'live', failure: null } as const;

const keyOf = (tab: TabName) => String(1 + TABS.findIndex(({ name }) => name === tab));
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

test('the title says for which model the run waits, and for how long', () => {
  const model_wait = {
    model: 'big',
    agent: null,
    since: new Date(AT - 83_000).toISOString(),
    waited_seconds: 83,
    message: 'The model "big" is overloaded (HTTP status 503).',
  };
  const entities = [anEntity(1, { model_wait })];
  const wait = { type: 'snapshot', snapshot: aSnapshot(entities), queue: null, limit: 96, at: AT } as const;
  const title = frame(reduce(shown(HISTORY), wait), { columns: 100, rows: 18 }).split('\n')[2];
  expect(title).toMatch(/^ ! Plot the sales of quarter 1 {2}big is overloaded, 1:23/);
});

test('a session as it happens', () => {
  expect(frame(shown(HISTORY))).toMatchInlineSnapshot(`
    " ● 1 running  ○ 0  ✓ 0  ✗ 0  - 0   $12.41 · 3.1M         ◌ connecting  12:00:00

     ● Plot the sales of quarter 1  Ann Arbor · Research        1:01  $0.07  ● live
     1 Live 2 Rounds 3 Messages 4 Files 5 Context 6 Events 7 Summary
     ● run started with opus
       I look at the sales first.
       Then I plot them.
       ▸ shell: ls                                                            85 ms
       ✗ shell: python plot.py                                                3.2 s
           No module named plot
     ? waits for its user
       ▸ writes report.md                                                         …





     ↑↓ scroll  1-7 tabs  n call  ⏎ unfold  v pager  G newest  Esc back      ? help"
  `);
});

test('results unfold, and fold again', () => {
  const state = press(shown(HISTORY), 'e');
  expect(frame(state)).toContain('sales.csv');
  expect(frame(press(state, 'e'))).not.toContain('sales.csv');
});

test('every event is there raw', () => {
  expect(frame(press(shown(HISTORY), keyOf('events')))).toContain('{"tool_use_id":"d","name":"write_file"');
});

test('text that is broken off anywhere is one text; a step without text shows its preview', () => {
  const cut = frame(shown(eventsOf(delta('one '), delta('two\n'), delta('\nthree'))));
  expect(cut).toMatch(/one two\n\n +three/);
  const preview = frame(shown(eventsOf(['run.started', { model: 'm' }], ['run.step', { text_preview: 'No stream.' }])));
  expect(preview).toContain('No stream.');
});

const LINES = Array.from({ length: 200 }, (_, at) => delta(`line ${at}\n`));

test('what comes does not move a view of the past, and G returns to it', () => {
  const past = press(shown(eventsOf(...LINES)), 'page-up', 'up');
  const before = frame(past);
  expect(before).not.toContain('line 199');
  expect(before).toContain('G: newest');
  const later = reduce(past, {
    type: 'update',
    name: 'desk',
    update: (screen) => ({
      ...screen,
      log: append(screen.log, [{ ...anEvent(1, ...delta('the newest')), id: 1000, stream_seq: 201 }]),
    }),
  });
  expect(frame(later)).toBe(before);
  expect(frame(press(later, 'last'))).toContain('the newest');
  expect(frame(press(later, 'page-down', 'page-down'))).toContain('the newest');
});

test('an older page comes in above, without moving the view', () => {
  const all = eventsOf(...LINES);
  const state = press(shown(all.slice(100)), 'first');
  expect(frame(state)).toContain('line 100\n');
  const older = reduce(state, {
    type: 'update',
    name: 'desk',
    update: (screen) => ({
      ...screen,
      log: prependPage(screen.log, {
        session_id: '',
        items: all.slice(0, 100).toReversed(),
        has_more: false,
        next_after_id: 0,
        next_before_id: null,
      }),
    }),
  });
  expect(frame(older)).toBe(frame(state));
  expect(frame(press(older, 'up'))).toContain('line 99\n');
});

test.each([
  [60, 15],
  [100, 30],
  [160, 45],
])('at %d×%d every line fits, whatever it is made of', (columns, rows) => {
  const hostile = `\u001b]0;x\u0007${'界'.repeat(300)} \u202e${'👩‍👩‍👧 שלום '.repeat(40)}\t${'x'.repeat(5000)}`;
  const events = [
    ...HISTORY,
    ...eventsOf(delta(hostile), ['tool_use', { tool_use_id: 'x', name: hostile, input: {} }]),
  ];
  const state = shown(events.map((event, at) => ({ ...event, id: at + 1 })));
  for (const tab of ['1', keyOf('events')]) {
    const lines = textOf(deskFrame(press(state, tab), screenOf(press(state, tab)), { columns, rows })).split('\n');
    expect(lines).toHaveLength(rows);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    // oxlint-disable-next-line no-control-regex
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u202e]/);
  }
});

const EDIT = eventsOf(
  ['tool_use', { tool_use_id: 'a', name: 'shell', input: { command: 'ls' } }],
  ['tool_result', { tool_use_id: 'a', ok: true, output: 'sales.csv', duration_ms: 85 }],
  [
    'tool_use',
    {
      tool_use_id: 'b',
      name: 'edit_file',
      input: { path: 'plot.py', old_text: 'a = 1\nb = 2', new_text: 'a = 1\nb = 3' },
    },
  ],
  ['tool_result', { tool_use_id: 'b', ok: true, output: 'Replaced 1 occurrence.', duration_ms: 9 }],
  [
    'tool_use',
    { tool_use_id: 'c', name: 'write_file', input: { path: 'x.md', content: '# Tides\n' }, truncated: true },
  ],
);

test('one call at a time is unfolded: what it changes, and what came of it', () => {
  const state = shown(EDIT);
  expect(frame(state)).toMatch(/▸ edits plot\.py \+1 -1 +9 ms/);
  expect(frame(state)).not.toContain('b = 3');
  const last = press(state, 'enter');
  expect(frame(last)).toMatch(/❯ ▸ writes x\.md \+1 +…[^]*\+ # Tides[^]*only the beginning/);
  const edit = press(last, 'N');
  expect(frame(edit)).toMatch(/❯ ▸ edits[^]* {6} {2}a = 1\n *- b = 2\n *\+ b = 3\n *Replaced 1 occurrence\./);
  expect(frame(edit)).not.toContain('# Tides');
  expect(frame(press(edit, 'enter'))).not.toContain('b = 3');
  expect(frame(press(edit, 'N', 'N'))).toMatch(/❯ ▸ shell: ls[^]*command: ls[^]*sales\.csv/);
  expect(frame(press(edit, 'e'))).toMatch(/sales\.csv[^]*b = 3[^]*# Tides/);
  const none = press(edit, 'escape');
  expect(screenOf(none).call).toBeNull();
  expect(press(none, 'escape').screens).toHaveLength(1);
});

const paged = (state: AppState) => {
  const done = pressed('v', state, SIZE);
  return done?.type === 'page' ? [...done.text].join('') : undefined;
};

test('v opens all of a tab in the pager, or the call that is chosen', () => {
  const state = shown(EDIT);
  expect(paged(state)).toMatch(/shell: ls\n[^]*- b = 2\n {4}\+ b = 3\nReplaced 1 occurrence\.\n\(9 ms\)\n[^]*# Tides/);
  const chosen = press(state, 'n', 'N');
  expect(paged(chosen)).toContain('b = 3');
  expect(paged(chosen)).not.toContain('# Tides');
  expect(paged(press(state, keyOf('events')))).toContain('"tool_use_id": "b"');
});

test('a gap stands after a title that is written from right to left, and before every name', () => {
  const entities = [anEntity(1, { session_title: 'תחזית הגאות', full_name: '山田 由紀' })];
  const named = reduce(shown(EDIT), {
    type: 'snapshot',
    snapshot: aSnapshot(entities),
    queue: null,
    limit: 96,
    at: AT,
  });
  expect(frame(named)).toMatch(/תחזית הגאות\ue000 {2}山田 由紀 · Research/);
});
