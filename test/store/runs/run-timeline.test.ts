// The time line of a run is made from what its moves, replies and results have recorded.
import { expect, test } from 'vitest';
import type { Span } from '../../../src/domain/sessions/timeline/timeline.ts';
import { readTimeline } from '../../../src/store/runs/run-timeline.ts';
import {
  aSpentCall,
  aStep,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
  TIMING,
} from '../../support/store/store-fixture.ts';

const SECOND_MS = 1_000;
const call = (id: string, name = 'shell', input = {}) => ({ id, name, input });
const COMPLETED = { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' } as const;
const QUESTION = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 60_000 };

/** Spans with their times in seconds since the run was accepted. */
async function timelineOf(fixture: StoreFixture, seq: number) {
  const run = await fixture.store.runs.get(seq);
  const timeline = await readTimeline(fixture.store.runs, run, async () => undefined);
  const seconds = (at: number | null) => (at === null ? null : (at - run.createdAt) / SECOND_MS);
  const line = ({ kind, startedAt, endedAt }: Span) => [kind, seconds(startedAt), seconds(endedAt)];
  return { ...timeline, lines: timeline.spans.map(line) };
}

const tool = (toolUseId: string, durationMs: number, name = 'shell') =>
  ({ step: 1, toolUseId, name, ok: true, output: '', durationMs }) as const;

test('a run is told from its queue to the collection of its files, with the parts of each call', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  fixture.clock.advance(5 * SECOND_MS);
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  fixture.clock.advance(10 * SECOND_MS);
  const timing = {
    ...TIMING,
    tries: 2,
    permitWaitMs: 1_000,
    retryWaitMs: 2_000,
    firstTokenMs: 3_000,
    durationMs: 4_000,
  };
  await fixture.store.runs.recordStep(fence, aStep({ calls: [call('a')], timing }), FREE);
  fixture.clock.advance(3 * SECOND_MS);
  await fixture.store.runs.recordToolResult(fence, tool('a', 3_000));
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.recordStep(fence, aStep({ step: 2 }), FREE);
  await fixture.store.runs.finalize(fence, COMPLETED);
  await fixture.store.runs.settle(fence);
  fixture.change('DELETE FROM tool_calls');
  const { lines, spans, detail, run: facts } = await timelineOf(fixture, seq);
  expect(lines).toEqual([
    ['queue', 0, 5],
    ['prepare', 5, 8],
    ['model', 8, 15],
    ['tool', 15, 18],
    ['model', 18.907, 19],
    ['finish', 19, 19],
  ]);
  expect(spans[2]).toMatchObject({ purpose: 'reply', step: 1, model: 'scripted', ok: true, timing });
  // Its details were removed, its journal was not.
  expect(spans[3]).toMatchObject({ step: 1, name: 'shell', ok: true });
  expect([detail, facts.status]).toEqual(['complete', 'completed']);
});

test('what a model wrote where a name belongs is not in the time line', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const [prose, id] = ['the password is tide', 'an id, of words'];
  const calls = [call(id, prose), call('b', 'delegate', { agent: prose })];
  await fixture.store.runs.recordStep(fence, aStep({ calls }), FREE);
  await fixture.store.runs.recordToolResult(fence, tool(id, 1, prose));
  await fixture.store.runs.recordToolResult(fence, tool('b', 1, 'delegate'));
  const { spans } = await timelineOf(fixture, seq);
  expect(spans.filter(({ kind }) => kind === 'tool')).toMatchObject([
    { step: 1, name: 'unknown', toolUseId: 'unknown', agent: null },
    { step: 1, name: 'delegate', toolUseId: 'b', agent: null },
  ]);
});

test('calls of a sub-agent and for a summary are parts of the call that delegates and of the compaction', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  fixture.clock.advance(SECOND_MS);
  const summary = { ...aSpentCall(), purpose: 'summary', agent: null } as const;
  await fixture.store.runs.recordSpent(fence, summary, FREE);
  await fixture.store.compactions.record(fence, { step: 0, summary: 'Tides.', characters: 9_000 });
  fixture.clock.advance(SECOND_MS);
  const delegation = call('d', 'delegate', { agent: 'reader', task: 'Read.' });
  await fixture.store.runs.recordStep(fence, aStep({ calls: [delegation] }), FREE);
  fixture.clock.advance(4 * SECOND_MS);
  await fixture.store.runs.recordSpent(fence, aSpentCall(), FREE);
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.recordToolResult(fence, tool('d', 5_000, 'delegate'));
  const { spans } = await timelineOf(fixture, seq);
  const shown = spans.map((span) => [
    span.kind,
    'agent' in span ? span.agent : null,
    span.parent === null ? null : spans[span.parent]!.kind,
  ]);
  expect(shown).toEqual([
    ['queue', null, null],
    ['prepare', null, null],
    ['compaction', null, null],
    ['model', null, 'compaction'],
    ['model', null, null],
    ['tool', 'reader', null],
    ['model', 'reader', 'tool'],
    ['model', null, null],
  ]);
});

test('a question, an interruption and the waits after them are spans of their own', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls: [call('q', 'ask_user')] }), FREE);
  await fixture.store.runs.waitForUser(fenceOf(run!), QUESTION);
  fixture.clock.advance(60 * SECOND_MS);
  await fixture.store.userInputs.expireDue();
  fixture.clock.advance(2 * SECOND_MS);
  const [again] = await fixture.claim();
  fixture.clock.advance(7 * SECOND_MS);
  await fixture.store.runs.interrupt(fenceOf(again!), 'crash');
  fixture.clock.advance(SECOND_MS);
  const { lines, spans } = await timelineOf(fixture, seq);
  expect(lines.filter(([kind]) => kind !== 'prepare' && kind !== 'model')).toEqual([
    ['queue', 0, 0],
    ['question', 1, 61],
    ['queue', 61, 63],
    ['interruption', 63, 70],
    ['queue', 70, null],
  ]);
  expect(spans.find(({ kind }) => kind === 'question')).toMatchObject({ outcome: 'expired' });
});

test('the wait for an earlier run of the session comes before the wait for a worker, which names full slots', async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept();
  const [earlier] = await fixture.claim();
  const { seq } = await fixture.accept({ sessionId: first.sessionId });
  expect((await timelineOf(fixture, seq)).spans).toMatchObject([
    { kind: 'queue', waitedFor: 'session', endedAt: null },
  ]);
  fixture.clock.advance(4 * SECOND_MS);
  await fixture.store.runs.finalize(fenceOf(earlier!), COMPLETED);
  await fixture.store.runs.settle(fenceOf(earlier!));
  fixture.clock.advance(41 * SECOND_MS);
  await fixture.claim(1, { fullSlots: 8 });
  const { lines, spans } = await timelineOf(fixture, seq);
  expect(lines.slice(0, 2)).toEqual([
    ['queue', 0, 4],
    ['queue', 4, 45],
  ]);
  expect(spans.slice(0, 2)).toMatchObject([{ waitedFor: 'session' }, { waitedFor: 'slots', slots: 8 }]);
});

test('what runs now is open: a tool that has begun, else the model once it has said something', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(SECOND_MS);
  expect((await timelineOf(fixture, seq)).lines.at(-1)).toEqual(['prepare', 0, null]);
  await fixture.store.runs.appendStream(fenceOf(run!), [{ type: 'content_block_start', payload: { index: 0 } }]);
  expect((await timelineOf(fixture, seq)).lines.at(-1)).toEqual(['model', 0, null]);
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls: [call('a'), call('b')] }), FREE);
  fixture.clock.advance(SECOND_MS);
  expect((await timelineOf(fixture, seq)).lines.at(-1)).toEqual(['tool', 1, null]);
});

test('a call that failed for good is told with its tries', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(20 * SECOND_MS);
  const error = { type: 'api_error', message: 'No.', retryable: true } as const;
  const failed = { ...TIMING, tries: 5, retryWaitMs: 12_000, firstTokenMs: null, durationMs: 1_000, permitWaitMs: 0 };
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'failed', error, call: failed });
  await fixture.store.runs.settle(fenceOf(run!));
  const { lines, spans } = await timelineOf(fixture, seq);
  expect(lines).toEqual([
    ['queue', 0, 0],
    ['prepare', 0, 7],
    ['model', 7, 20],
    ['finish', 20, 20],
  ]);
  expect(spans[2]).toMatchObject({ ok: false, timing: failed });
});

test('what a failed try has used is a part of the reply that followed, or told with the call that failed the run', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const used = { ...aSpentCall().usage, inputTokens: 7 };
  const unkept = { usage: used, estimated: true, outcome: 'failed', purpose: 'reply', agent: null } as const;
  const calm = { ...TIMING, permitWaitMs: 0 };
  const first = { ...calm, durationMs: 1_000 };
  fixture.clock.advance(2 * SECOND_MS);
  await fixture.store.runs.recordUnkept(fence, { ...unkept, timing: first }, FREE);
  fixture.clock.advance(3 * SECOND_MS);
  const second = { ...calm, tries: 2, budgetWaitMs: 1_000, retryWaitMs: 1_000, durationMs: 2_000 };
  await fixture.store.runs.recordStep(fence, aStep({ calls: [call('a')], timing: second }), FREE);
  fixture.clock.advance(2 * SECOND_MS);
  const last = { ...calm, durationMs: 2_000 };
  await fixture.store.runs.recordUnkept(fence, { ...unkept, timing: last }, FREE);
  const error = { type: 'api_error', message: 'No.', retryable: true } as const;
  await fixture.store.runs.finalize(fence, { outcome: 'failed', error, call: last });
  const { spans, lines } = await timelineOf(fixture, seq);
  expect(lines.filter(([kind]) => kind === 'model')).toEqual([
    ['model', 1, 5],
    ['model', 1, 2],
    ['model', 5, 7],
  ]);
  const models = spans.filter(({ kind }) => kind === 'model');
  expect(models).toMatchObject([
    { ok: true, step: 1, estimated: false, parent: null, timing: { budgetWaitMs: 1_000 } },
    { ok: false, estimated: true, usage: { inputTokens: 7 }, parent: spans.indexOf(models[0]!) },
    { ok: false, estimated: true, usage: { inputTokens: 7 }, parent: null },
  ]);
});

test('the call in the middle of which a run was stopped is told, though it is recorded after the stop', async () => {
  const fixture = await storeFixture();
  const { seq, sessionSeq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(5 * SECOND_MS);
  await fixture.store.runs.stopSession(sessionSeq, 'user_requested_stop');
  const timing = { ...TIMING, permitWaitMs: 0, durationMs: 4_000 };
  const call = { ...aSpentCall(), purpose: 'reply', agent: null, estimated: true, outcome: 'stopped', timing } as const;
  await fixture.store.runs.recordUnkept(fenceOf(run!), call, FREE);
  const { lines, spans } = await timelineOf(fixture, seq);
  expect(lines).toEqual([
    ['queue', 0, 0],
    ['prepare', 0, 1],
    ['model', 1, 5],
  ]);
  expect(spans[2]).toMatchObject({ ok: false, estimated: true, usage: aSpentCall().usage });
});

test('a stopped run has what it did until then, and nothing stays open', async () => {
  const fixture = await storeFixture();
  const { seq, sessionSeq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls: [call('a')] }), FREE);
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.stopSession(sessionSeq, 'user_requested_stop');
  fixture.clock.advance(SECOND_MS);
  const { lines, spans, run: told } = await timelineOf(fixture, seq);
  expect(told.status).toBe('canceled');
  expect(lines.map(([kind]) => kind)).toEqual(['queue', 'prepare', 'model']);
  expect(spans.filter(({ endedAt }) => endedAt === null)).toEqual([]);
});

test('a run that is stopped before its first reply ends its preparation, and one in the queue its wait', async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept();
  await fixture.claim();
  const second = await fixture.accept({ sessionId: first.sessionId });
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.stopSession(first.sessionSeq, 'user_requested_stop');
  expect((await timelineOf(fixture, first.seq)).lines).toEqual([
    ['queue', 0, 0],
    ['prepare', 0, 1],
  ]);
  const waits = (await timelineOf(fixture, second.seq)).spans;
  expect(waits[0]).toMatchObject({ kind: 'queue', waitedFor: 'session' });
  expect(waits.every(({ kind, endedAt }) => kind === 'queue' && endedAt !== null)).toBe(true);
});

test('a run of an earlier version has calls without timing, one whose journal is gone has its calls', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  const [run] = await fixture.claim();
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.appendStream(fenceOf(run!), [{ type: 'content_block_start', payload: { index: 0 } }]);
  fixture.clock.advance(SECOND_MS);
  await fixture.store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await fixture.store.runs.finalize(fenceOf(run!), COMPLETED);
  await fixture.store.runs.settle(fenceOf(run!));
  fixture.change('UPDATE usage_records SET tries = NULL, purpose = NULL, step = NULL');
  const old = await timelineOf(fixture, seq);
  expect(old.detail).toBe('coarse');
  expect(old.spans).toContainEqual(
    expect.objectContaining({ kind: 'model', purpose: 'reply', step: 1, timing: null, firstTextMs: SECOND_MS }),
  );
  fixture.change('DELETE FROM events');
  const bare = await timelineOf(fixture, seq);
  expect(bare.detail).toBe('removed');
  expect(bare.lines.map(([kind]) => kind)).toEqual(['queue', 'model']);
});
