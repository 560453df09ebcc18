import { expect, test } from 'vitest';
import type { EventType } from '../../../src/domain/sessions/journal-event.ts';
import type { OfficeEvent } from '../../../src/client/office-stream.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { standingOf } from '../../../src/tui/state/connection.ts';
import { MAX_ROWS } from '../../../src/tui/state/office.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type AppState, officeShown, initialState } from '../../../src/tui/state/state.ts';
import { visibleRows, wantsLiveRuns } from '../../../src/tui/state/visible.ts';
import { anEntity, anEvent, aSnapshot, AT, runId, sessionId } from '../../support/http/office-server.ts';

const LIMIT = 96;
const fresh = () => initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT);
let ids = 0;
const eventOf = (...given: Parameters<typeof anEvent>) => ({ id: (ids += 1), ...anEvent(...given) });

const take = (state: AppState, entities: Parameters<typeof aSnapshot>[0], at = AT) =>
  reduce(state, { type: 'snapshot', snapshot: aSnapshot(entities), queue: null, limit: LIMIT, at });

const happen = (state: AppState, number: number, type: EventType, payload = {}) =>
  reduce(state, { type: 'events', events: [eventOf(number, type, payload)], at: AT + 1000 });

const rowOf = (state: AppState, number: number) => state.office.rows.get(runId(number));

test('a run shows what its agent does, from call to call to its end', () => {
  let state = take(fresh(), [anEntity(1, { status: 'pending', detail: null, started_at: null })]);
  const seen = [];
  for (const [type, payload] of [
    ['run.started', { attempt: 1, model: 'qwen' }],
    ['tool_use', { name: 'shell', input: { command: 'python plot.py' } }],
    ['tool_result', { ok: true }],
    ['tool_use', { name: 'write_file', input: { path: '/report.md', content: 'x' } }],
    ['tool_use', { name: 'crm__find', input: { limit: 5, query: 'Acme' } }],
    ['user_input.requested', { tool_name: 'ask_user' }],
    ['user_input.answered', {}],
    ['run.finalizing', {}],
    ['run.done', { status: 'completed' }],
  ] as const) {
    state = happen(state, 1, type, payload);
    seen.push([rowOf(state, 1)?.status, rowOf(state, 1)?.now]);
  }
  expect(seen).toEqual([
    ['running', 'thinks'],
    ['running', 'shell: python plot.py'],
    ['running', 'thinks'],
    ['running', 'writes report.md'],
    ['running', 'crm__find: Acme'],
    ['running', 'waits for Ann Arbor'],
    ['running', 'thinks'],
    ['running', 'collects its files'],
    ['completed', null],
  ]);
  expect(state.office.overview).toMatchObject({ pending: 0, running: 0, completed: 1, total: 1 });
  expect(rowOf(state, 1)).toMatchObject({ progress: 100, finishedAt: AT + 1000 });
});

const REFUSED = 'The model "big" could not be read: the connection was refused.';

const words = (state: AppState, text: string) => {
  const event = { ...eventOf(1, 'run.step'), type: 'run.words', stream_seq: 1, payload: { text } } as OfficeEvent;
  return reduce(state, { type: 'events', events: [event], at: AT + 2000 });
};

test('the last words of a run stay until it does something else; they mark no row, and snapshots leave them', () => {
  const thinks = take(fresh(), [anEntity(1, { detail: 'thinks' })]);
  const writes = words(thinks, '**and** so the `tide` comes');
  expect(rowOf(writes, 1)).toMatchObject({
    words: 'and so the tide comes',
    now: 'thinks',
    changedAt: 0,
    updatedAt: AT,
  });
  expect(rowOf(take(writes, [anEntity(1, { detail: 'writes' })], AT + 3000), 1)).toMatchObject({
    words: 'and so the tide comes',
    changedAt: 0,
  });
  expect(rowOf(take(writes, [anEntity(1, { detail: 'shell: ls' })]), 1)?.words).toBeNull();
  for (const [type, payload] of [
    ['tool_use', { name: 'shell', input: {} }],
    ['run.step', {}],
    ['run.done', {}],
  ] as const)
    expect(rowOf(happen(writes, 1, type, payload), 1)?.words).toBeNull();
  const asks = happen(thinks, 1, 'user_input.requested');
  expect(rowOf(words(asks, 'late'), 1)?.words).toBeNull();
});

test('a run that waits for its user has the question', () => {
  const asks = { name: 'ask_user', input: { question: 'Which currency?' } };
  const asked = happen(take(fresh(), [anEntity(1)]), 1, 'tool_use', asks);
  expect(rowOf(happen(asked, 1, 'user_input.requested'), 1)?.now).toBe('waits for Ann Arbor: Which currency?');
});

test('a run shows the model that it waits for, by its events and by snapshots, until that replies or the run ends', () => {
  const waits = (state: AppState) => rowOf(state, 1)?.modelWait;
  const begun = happen(take(fresh(), [anEntity(1)]), 1, 'model_wait.started', { model: 'big', message: REFUSED });
  expect(waits(begun)).toEqual({ model: 'big', why: 'refuses connections', since: AT + 1000 });
  expect(waits(happen(begun, 1, 'tool_result'))).not.toBeNull();
  for (const [type, payload] of [
    ['model_wait.ended', { model: 'big', answered: true }],
    ['run.resumed', { resumes: 1 }],
    ['run.failed', { error: { message: 'It is down.' } }],
    ['run.stopped', {}],
  ] as const) {
    expect([type, waits(happen(begun, 1, type, payload))]).toEqual([type, null]);
  }
  const model_wait = {
    model: 'big',
    agent: null,
    since: new Date(AT).toISOString(),
    waited_seconds: 0,
    message: 'It is odd.',
  };
  const read = take(fresh(), [anEntity(1, { model_wait, detail: 'waits for the model big' })]);
  expect(rowOf(read, 1)).toMatchObject({
    modelWait: { model: 'big', why: 'does not answer', since: AT },
    isWaiting: false,
  });
});

test('a failed run tells why, and what comes after its end changes nothing', () => {
  const failed = happen(take(fresh(), [anEntity(1)]), 1, 'run.failed', { error: { type: 'x', message: 'No model.' } });
  expect(rowOf(happen(failed, 1, 'tool_result'), 1)).toMatchObject({ status: 'failed', error: 'No model.', now: null });
});

test('a new run is counted and asked for, but has no row before a snapshot tells of it', () => {
  const state = happen(take(fresh(), []), 7, 'run.queued');
  expect(state.office).toMatchObject({ hasUnknown: true, overview: { pending: 1, total: 1 } });
  expect(visibleRows(state.office, floor())).toEqual([]);
  const told = take(state, [anEntity(7)], AT + 2000);
  expect(told.office.hasUnknown).toBe(false);
  expect(visibleRows(told.office, floor())).toHaveLength(1);
  expect(rowOf(told, 7)?.firstSeenAt).toBe(AT + 1000);
});

test('a run in the queue is pending, and does not wait for its user', () => {
  const state = take(fresh(), [
    anEntity(1, { status: 'pending', detail: 'waits for its turn' }),
    anEntity(2, { detail: 'waits for Ann Arbor' }),
  ]);
  expect(rowOf(state, 1)?.isWaiting).toBe(false);
  expect(rowOf(state, 2)?.isWaiting).toBe(true);
});

test('events that come while a snapshot is on its way outlive it', () => {
  let state = reduce(take(fresh(), [anEntity(1)]), { type: 'snapshot-asked', at: AT });
  state = happen(state, 1, 'run.done');
  state = take(state, [anEntity(1)], AT + 2000);
  expect(rowOf(state, 1)?.status).toBe('completed');
  expect(state.sinceAsked).toBeNull();
});

test('a run that a snapshot with room for it leaves out is gone; without room it stays', () => {
  const first = take(fresh(), [anEntity(1), anEntity(2)]);
  expect(rowOf(take(first, [anEntity(2)]), 1)).toBeUndefined();
  const full = Array.from({ length: LIMIT }, (_, at) => anEntity(at + 10));
  expect(rowOf(take(first, full), 1)?.status).toBe('running');
  const notAllLive = full.with(LIMIT - 1, anEntity(200, { status: 'completed' }));
  expect(rowOf(take(first, notAllLive), 1)).toBeUndefined();
});

test('a deleted session takes its runs along', () => {
  expect(rowOf(happen(take(fresh(), [anEntity(1)]), 1, 'session.deleted', { title: 'x' }), 1)).toBeUndefined();
});

test('however many runs come, only so many are kept, and the live ones rather', () => {
  const events = Array.from({ length: 3 * MAX_ROWS }, (_, at) => eventOf(at + 100, 'run.queued'));
  const state = reduce(take(fresh(), [anEntity(1)]), { type: 'events', events, at: AT });
  expect(state.office.rows.size).toBe(MAX_ROWS);
  expect(rowOf(state, 1)).toBeDefined();
});

test('unknown runs beyond what a snapshot has room for do not call for another one', () => {
  const full = Array.from({ length: LIMIT }, (_, at) => anEntity(at + 10));
  const state = happen(take(fresh(), full), 900, 'tool_use', { name: 'shell', input: {} });
  expect(state.office).toMatchObject({ hasUnknown: false, overview: { running: LIMIT } });
});

test('pausing keeps the picture, while the office goes on', () => {
  const paused = happen(reduce(take(fresh(), [anEntity(1)]), { type: 'pause' }), 1, 'run.done');
  expect(officeShown(paused).rows.get(runId(1))?.status).toBe('running');
  expect(officeShown(reduce(paused, { type: 'pause' })).rows.get(runId(1))?.status).toBe('completed');
});

test('a slow answer moves the clock of the daemon only as far as it proves', () => {
  const after = (state: AppState, askedAt: number, generatedAt: number, at: number) => {
    const snapshot = aSnapshot([], { generated_at: new Date(generatedAt).toISOString() });
    const asked = reduce(state, { type: 'snapshot-asked', at: askedAt });
    return reduce(asked, { type: 'snapshot', snapshot, queue: null, limit: LIMIT, at });
  };
  const slow = after(fresh(), AT, AT + 100, AT + 10_000);
  expect(slow.office.skewMs).toBe(0);
  const ahead = after(slow, AT + 20_000, AT + 80_000, AT + 20_005);
  expect(ahead.office.skewMs).toBe(59_995);
  expect(after(ahead, AT + 30_000, AT + 90_100, AT + 40_000).office.skewMs).toBe(59_995);
  expect(after(ahead, AT + 30_000, AT + 30_100, AT + 40_000).office.skewMs).toBe(100);
});

test('the header says the gravest of what is wrong', () => {
  const refused = new ClientError({ kind: 'refused', status: 401 }, 'no');
  const unreachable = new ClientError({ kind: 'unreachable' }, 'no');
  let state = reduce(fresh(), { type: 'stream-lost', failure: unreachable, retryAt: AT + 4000 });
  expect(standingOf(state.connection, AT).text).toBe('not reachable, again in 4 s');
  state = reduce(state, { type: 'snapshot-failed', failure: refused });
  expect(standingOf(state.connection, AT + 5000)).toMatchObject({ role: 'failed', text: 'the key is not valid' });
  state = reduce(take(reduce(state, { type: 'stream-open' }), []), { type: 'snapshot-asked', at: AT });
  expect(standingOf(state.connection, AT + 1000).text).toBe('live');
  expect(standingOf(state.connection, AT + 7000).text).toBe('waits for the daemon (7 s)');
});

test('the ids of sessions and runs are found like words', () => {
  const { office } = take(fresh(), [anEntity(1, { session_title: 'Sales, quarter-one' }), anEntity(2)]);
  expect(visibleRows(office, floor({ find: sessionId(2) }))).toHaveLength(1);
  expect(visibleRows(office, floor({ find: 'sales ARBOR Quarter-One' }))).toHaveLength(1);
});

const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => anEntity(from + at));
const more = (state: AppState, from: number, to: number) =>
  reduce(state, { type: 'live-runs', entities: many(from, to), at: AT });
const at = (state: AppState, index: number, over = {}): AppState => ({
  ...state,
  screens: [floor({ chosen: { id: null, index }, ...over })],
});

test('more live runs are wanted where the user comes to the end of those that have rows', () => {
  const full = reduce(fresh(), {
    type: 'snapshot',
    snapshot: aSnapshot(many(1, 96), { overview: { ...aSnapshot([]).overview, running: 700 } }),
    queue: null,
    limit: LIMIT,
    at: AT,
  });
  expect([0, 47, 48, 95].map((index) => wantsLiveRuns(at(full, index)))).toEqual([false, false, true, true]);
  expect(wantsLiveRuns(at(full, 95, { status: 'failed' }))).toBe(false);
  expect(wantsLiveRuns(at(full, 0, { find: 'nothing has this' }))).toBe(true);
  const all = more(full, 97, 700);
  expect(visibleRows(all.office, floor())).toHaveLength(700);
  expect(wantsLiveRuns(at(all, 699))).toBe(false);
});

test('live rows outlive a snapshot without room for them, unless events were missed', () => {
  const known = more(take(fresh(), many(1, 96)), 97, 600);
  expect(take(known, many(1, 96)).office.rows.size).toBe(600);
  expect(happen(known, 1, 'run.done').office.rows.size).toBe(599);
  expect(take(reduce(known, { type: 'stream-reset' }), many(1, 96)).office.rows.size).toBe(96);
});

test('what has ended by its events stays so, whatever a page of live runs says', () => {
  const state = happen(take(fresh(), many(1, 96)), 1, 'run.done');
  expect(rowOf(more(state, 1, 2), 1)?.status).toBe('completed');
});

test('every order can be turned round, and begins with what is most of a figure, or first of a name', () => {
  const state = take(fresh(), [
    anEntity(1, {
      title: 'b',
      total_cost_usd: 3,
      full_name: 'Zoe',
      status: 'completed',
      finished_at: new Date(AT).toISOString(),
    }),
    anEntity(2, { title: 'C', total_cost_usd: 1, full_name: 'Ann' }),
    anEntity(3, {
      title: 'a',
      total_cost_usd: 2,
      full_name: 'Bo',
      status: 'failed',
      finished_at: new Date(AT).toISOString(),
    }),
  ]);
  const order = (over: Parameters<typeof floor>[0]) => visibleRows(state.office, floor(over)).map(({ title }) => title);
  expect(order({ order: 'cost' })).toEqual(['b', 'a', 'C']);
  expect(order({ order: 'cost', isReversed: true })).toEqual(['C', 'a', 'b']);
  expect(order({ order: 'title' })).toEqual(['a', 'b', 'C']);
  expect(order({ order: 'who' })).toEqual(['C', 'a', 'b']);
  expect(order({ order: 'status' })).toEqual(['a', 'C', 'b']);
});
