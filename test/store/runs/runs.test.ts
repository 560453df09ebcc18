import { expect, test } from 'vitest';
import type { TextBlock, UserBlock } from '../../../src/domain/sessions/content.ts';
import { LONG_TEXT } from '../../../src/domain/loop/own-turn.ts';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { toPostgres } from '../../../src/store/engine/postgres/sql/text.ts';
import { isPostgres } from '../../support/postgres/shared-cluster.ts';
import { aStep, aTurn, BACKGROUND_CLAIM, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';
import { messagesOf } from '../../support/store/read-whole.ts';

const TYPES = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const ENDED = { outcome: 'completed', answer: 'The moon pulls.', stopReason: 'end_turn' } as const;

test('accepting makes session, message, queued run and event together', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  expect(run).toMatchObject({ status: 'queued', scheduleMode: 'queued', attempt: 0 });
  expect(await fixture.store.sessions.find(run.sessionId)).toMatchObject({
    title: 'Tides',
    status: 'pending',
    kind: 'api',
  });
  expect(fixture.committed).toMatchObject([{ type: 'run.queued', streamSeq: 1, runSeq: run.seq }]);
  expect(await messagesOf(fixture.store, run.sessionSeq)).toMatchObject([{ role: 'user' }]);
});

test('what a user says is made into the text that is kept before the commit begins, and once', async () => {
  const fixture = await storeFixture();
  const made: boolean[] = [];
  let isCommitting = false;
  const modelFor = () => {
    isCommitting = true;
    return null;
  };
  const block = {
    type: 'text',
    text: 'Tell me.',
    toJSON: () => (made.push(isCommitting), { type: 'text', text: 'Tell me.' }),
  };
  const accepting = fixture.accept({ content: [block as TextBlock], start: { node: 'here', leaseMs: 1, modelFor } });
  expect(made).toEqual([false]);
  const { seq } = await accepting;
  expect(made).toEqual([false]);
  expect((await fixture.store.turns.get(seq, 1)).user).toEqual([{ type: 'text', text: 'Tell me.' }]);
});

test('a text that is longer than one turn of the loop takes is stored and read as any other', async () => {
  const fixture = await storeFixture();
  const content: UserBlock[] = [
    { type: 'text', text: `\u0000\uFDD00\uFDD01${'ö"\u0001\\😀\n'.repeat(LONG_TEXT / 4)}` },
    { type: 'attachment', attachmentId: 'a', media: 'file' },
  ];
  const a = { id: 'a', name: 'a.txt', path: 'attachments/a/a.txt', mimeType: 'text/plain', size: 1, sha256: 'a' };
  const { seq } = await fixture.accept({ content, attachments: [a] });
  const [{ content: stored } = { content: '' }] = fixture.rows<{ content: string }>(
    `SELECT content FROM messages WHERE run_seq = ${seq}`,
  );
  const json = JSON.stringify(content);
  // A failure would print all of it.
  expect(stored === (isPostgres ? toPostgres(json) : json)).toBe(true);
  const turn = await fixture.store.turns.get(seq, 1);
  expect(JSON.stringify(turn.user) === json).toBe(true);
  expect(turn.attachments.map(({ id }) => id)).toEqual(['a']);
});

test('a second turn of a session waits for the first, and is claimable once that has ended', {
  tags: ['§4.3-rule-5', 'C5'],
}, async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept();
  const second = await fixture.accept({ sessionId: first.sessionId });
  expect(second.scheduleMode).toBe('queued');
  const [claimed, ...others] = await fixture.claim(10);
  expect([claimed!.id, others]).toEqual([first.id, []]);
  await fixture.store.runs.finalize(fenceOf(claimed!), ENDED);
  await fixture.store.runs.settle(fenceOf(claimed!));
  expect((await fixture.claim(10)).map(({ id }) => id)).toEqual([second.id]);
});

test('claims are fair: the key with the fewest executing runs goes first, order of acceptance within a key', async () => {
  const fixture = await storeFixture();
  const other = await fixture.makeKey();
  const a1 = await fixture.accept();
  const a2 = await fixture.accept();
  const a3 = await fixture.accept();
  const b1 = await fixture.accept({ key: other });
  const claimed = await fixture.claim(4);
  expect(claimed.map(({ id }) => id)).toEqual([a1.id, b1.id, a2.id, a3.id]);
});

test('a claim takes at most its limit and never the same run twice', async () => {
  const fixture = await storeFixture();
  await Promise.all(Array.from({ length: 10 }, () => fixture.accept()));
  const rounds = await Promise.all([fixture.claim(3), fixture.claim(3), fixture.claim(9)]);
  expect(rounds.map((round) => round.length)).toEqual([3, 3, 4]);
  expect(new Set(rounds.flat().map(({ id }) => id)).size).toBe(10);
});

test('an accepted turn and a claim asked for in the same tick share their commit', async () => {
  const fixture = await storeFixture();
  const [accepted, claimed] = await Promise.all([fixture.accept(), fixture.claim()]);
  expect(claimed.map(({ id }) => id)).toEqual([accepted.id]);
  expect(TYPES(fixture.committed)).toEqual(['run.queued', 'run.started']);
});

test('progress of an outdated attempt is refused and leaves nothing behind', { tags: ['D7-attempts'] }, async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const outdated = { ...fenceOf(run!), attempt: run!.attempt - 1 };
  const before = fixture.rows('SELECT * FROM events').length;
  const delta: NewEvent = { type: 'content_block_delta', payload: { index: 0, text: 'x' } };
  const answers = await Promise.all([
    fixture.store.runs.appendStream(outdated, [delta]),
    fixture.store.runs.recordStep(outdated, aStep(), FREE),
    fixture.store.runs.finalize(outdated, ENDED),
    fixture.store.runs.interrupt(outdated, 'crash'),
  ]);
  expect(answers).toEqual([false, false, false, false]);
  expect(fixture.rows('SELECT * FROM events')).toHaveLength(before);
  expect(fixture.rows('SELECT * FROM steps')).toEqual([]);
});

test('usage and cost of a run are the sum of its steps', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const price = { ...NO_PRICE, inputPerMillionUsd: 2, outputPerMillionUsd: 10, cacheReadPerMillionUsd: 0.5 };
  const usage = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 400, cacheWriteTokens: 0 };
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ usage }), { ...FREE, price });
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ step: 2, usage }), { ...FREE, price });
  const { usage: total, costUsd } = await fixture.store.runs.get(run!.seq);
  expect(total).toEqual({ inputTokens: 2_000, outputTokens: 200, cacheReadTokens: 800, cacheWriteTokens: 0 });
  expect(costUsd).toBeCloseTo(2 * (600 * 2 + 400 * 0.5 + 100 * 10) * 1e-6, 12);
});

test('a tool result is kept once; the next call counts as begun with it', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'write_file', input: {} }));
  await fixture.store.runs.recordStep(fence, aStep({ calls }), FREE);
  const states = async () => (await fixture.store.turns.get(run!.seq, 2)).steps[0]!.calls.map(({ state }) => state);
  expect(await states()).toEqual(['running', 'waiting', 'waiting']);
  const result = { step: 1, toolUseId: 'a', name: 'write_file', ok: true, output: 'first', durationMs: 3 };
  await fixture.store.runs.recordToolResult(fence, result);
  await fixture.store.runs.recordToolResult(fence, { ...result, output: 'again' });
  expect(await states()).toEqual(['ended', 'running', 'waiting']);
  expect((await fixture.store.turns.get(run!.seq, 2)).steps[0]!.calls[0]!.output).toBe('first');
  expect(TYPES(fixture.committed).filter((type) => type === 'tool_result')).toHaveLength(1);
});

test('a settled run has one terminal event, one answer in the history, and a completed session', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await fixture.store.runs.recordStep(fence, aStep(), FREE);
  const moves = await Promise.all([
    fixture.store.runs.finalize(fence, ENDED),
    fixture.store.runs.settle(fence),
    fixture.store.runs.settle(fence),
    fixture.store.runs.interrupt(fence, 'crash'),
  ]);
  expect(moves).toEqual([true, true, false, false]);
  expect(TYPES(fixture.committed).slice(-3)).toEqual(['run.finalizing', 'message', 'run.done']);
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ status: 'completed', answer: 'The moon pulls.' });
  expect(await fixture.store.sessions.find(run!.sessionId)).toMatchObject({ status: 'completed' });
  const history = await messagesOf(fixture.store, run!.sessionSeq);
  expect(history.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('a failed run keeps what its agent did', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await fixture.store.runs.recordStep(fence, aStep({ calls: [{ id: 'a', name: 'shell', input: {} }] }), FREE);
  const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
  await fixture.store.runs.finalize(fence, { outcome: 'failed', error });
  await fixture.store.runs.settle(fence);
  expect(await fixture.store.runs.get(run!.seq)).toMatchObject({ status: 'failed', error });
  const [, assistant] = await messagesOf(fixture.store, run!.sessionSeq);
  expect(assistant!.content).toMatchObject([{ type: 'text' }, { type: 'tool_use', name: 'shell' }]);
  expect(await fixture.store.sessions.find(run!.sessionId)).toMatchObject({ status: 'failed' });
});

test('an interrupted run is queued again with its open block closed; a third crash fails it', {
  tags: ['D7-resumes'],
}, async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  for (const resumes of [1, 2]) {
    const [run] = await fixture.claim();
    const index = resumes - 1;
    await fixture.store.runs.appendStream(fenceOf(run!), [{ type: 'content_block_start', payload: { index } }]);
    await fixture.store.runs.interrupt(fenceOf(run!), 'crash');
    expect(await fixture.store.runs.get(seq)).toMatchObject({ status: 'queued', resumes });
    expect(fixture.committed.slice(-2)).toMatchObject([
      { type: 'content_block_stop', payload: { index } },
      { type: 'run.resumed', payload: { resumes } },
    ]);
    expect(await fixture.store.turns.nextBlockIndex(seq)).toBe(index + 1);
  }
  const [run] = await fixture.claim();
  expect(run!.attempt).toBe(3);
  await fixture.store.runs.interrupt(fenceOf(run!), 'crash');
  const ended = await fixture.store.runs.get(seq);
  expect(ended).toMatchObject({ status: 'failed', error: { type: 'interrupted_error', retryable: true } });
});

test('a drained run goes back to the queue without counting as crashed', async () => {
  const fixture = await storeFixture();
  const { seq } = await fixture.accept();
  for (let drains = 0; drains < 5; drains += 1) {
    const [run] = await fixture.claim();
    await fixture.store.runs.interrupt(fenceOf(run!), 'drain');
  }
  expect(await fixture.store.runs.get(seq)).toMatchObject({ status: 'queued', resumes: 0, attempt: 5 });
});

test('rescue settles what was finalizing, queues what was running, and leaves what was queued', async () => {
  const fixture = await storeFixture();
  const finalizing = await fixture.accept();
  const running = await fixture.accept();
  const [first] = await fixture.claim(2);
  const queued = await fixture.accept();
  await fixture.store.runs.recordStep(fenceOf(first!), aStep(), FREE);
  await fixture.store.runs.finalize(fenceOf(first!), ENDED);
  expect(await fixture.store.runs.rescue('here')).toEqual({ settled: 1, interrupted: 1 });
  const status = async (seq: number) => (await fixture.store.runs.get(seq)).status;
  expect(await Promise.all([finalizing, running, queued].map(({ seq }) => status(seq)))).toEqual([
    'completed',
    'queued',
    'queued',
  ]);
});

test('leases: a jump of the clock takes no run from its worker; a run without a worker is queued again', async () => {
  const fixture = await storeFixture();
  const held = await fixture.accept();
  const lost = await fixture.accept();
  const claimed = await fixture.claim(2);
  fixture.clock.jump(3 * 24 * 3_600_000);
  expect(await fixture.store.runs.renewLeases('here', [fenceOf(claimed[0]!)], 60_000)).toBe(1);
  expect((await fixture.store.runs.get(held.seq)).status).toBe('running');
  expect((await fixture.store.runs.get(lost.seq)).status).toBe('queued');
});

test('an idempotency key finds its run: first requests per key and target, continuations per session', {
  tags: ['§4.3-rule-2', 'D4'],
}, async () => {
  const fixture = await storeFixture();
  const turn = aTurn(fixture.user, fixture.key);
  const first = await fixture.store.runs.accept({ ...turn, idempotencyKey: 'order-1' });
  const again = await fixture.store.runs.accept({ ...turn, idempotencyKey: 'order-1' });
  if (!('run' in first) || !('run' in again)) throw new Error('refused');
  expect([again.kind, again.run.id]).toEqual(['replayed', first.run.id]);
  const inSession = { sessionId: first.session.id, idempotencyKey: 'order-1' };
  const continued = await fixture.accept(inSession);
  expect(continued.id).not.toBe(first.run.id);
  expect((await fixture.accept(inSession)).id).toBe(continued.id);
  expect((await fixture.accept({ idempotencyKey: 'order-1', key: await fixture.makeKey() })).id).not.toBe(first.run.id);
});

test('a thousand submissions of one idempotency key make one run', async () => {
  const fixture = await storeFixture();
  const runs = await Promise.all(Array.from({ length: 1_000 }, () => fixture.accept({ idempotencyKey: 'once' })));
  expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
  expect(fixture.rows('SELECT * FROM sessions')).toHaveLength(1);
});

test('attachments of the same name get paths of their own in the workspace', async () => {
  const fixture = await storeFixture();
  const file = (id: string) => ({
    id,
    name: 'data.csv',
    path: `attachments/${id}/data.csv`,
    mimeType: 'text/csv',
    size: 3,
    sha256: 'ab',
  });
  const content = ['a1', 'a2'].map((attachmentId) => ({
    type: 'attachment' as const,
    attachmentId,
    media: 'file' as const,
  }));
  const run = await fixture.accept({ attachments: [file('a1'), file('a2')], content });
  const { attachments } = await fixture.store.turns.get(run.seq, 2);
  expect(attachments.map(({ workspacePath }) => workspacePath)).toEqual(['/uploads/data.csv', '/uploads/data-2.csv']);
  expect(await fixture.store.sessions.findAttachment(fixture.user.seq, 'attachments/a2/data.csv')).toMatchObject({
    id: 'a2',
  });
  expect(await fixture.store.sessions.findAttachment(fixture.user.seq + 1, 'attachments/a2/data.csv')).toBeUndefined();
});

test('earlier turns are read newest first within a budget and answered oldest first', async () => {
  const fixture = await storeFixture();
  let sessionId: string | null = null;
  for (let turn = 1; turn <= 70; turn += 1) {
    const run = await fixture.accept({
      sessionId,
      content: [{ type: 'text', text: `turn ${turn} ${'x'.repeat(100)}` }],
    });
    sessionId = run.sessionId;
  }
  const MUCH = Number.MAX_SAFE_INTEGER;
  const ALL = { bytes: MUCH, documentBytes: 0 };
  const all = await fixture.store.turns.listBefore(1, 70, { ...ALL, characters: MUCH });
  expect(all.turns).toHaveLength(69);
  expect(all.isCut).toBe(false);
  const { turns: some, isCut } = await fixture.store.turns.listBefore(1, 70, { ...ALL, characters: 1_000 });
  expect(isCut).toBe(true);
  expect(some.length).toBeLessThan(10);
  expect(some.at(-1)!.user).toMatchObject([{ text: expect.stringMatching(/^turn 69 /) as string }]);
  expect(some.map(({ runSeq }) => runSeq)).toEqual(some.map(({ runSeq }) => runSeq).toSorted((a, b) => a - b));
});

test('earlier turns that have more bytes than there is room for are not read, however many small ones came after', async () => {
  const fixture = await storeFixture();
  let sessionId: string | null = null;
  for (let turn = 1; turn <= 60; turn += 1) {
    const text = turn <= 20 ? 'x'.repeat(1024 * 1024) : 'small';
    ({ sessionId } = await fixture.accept({ sessionId, content: [{ type: 'text', text }] }));
  }
  const listed = (bytes: number) =>
    fixture.store.turns.listBefore(1, 61, { characters: Number.MAX_SAFE_INTEGER, bytes, documentBytes: 0 });
  const some = await listed(3.5 * 1024 * 1024);
  expect(some.isCut).toBe(true);
  expect(some.turns.map(({ runSeq }) => runSeq)).toEqual(Array.from({ length: 43 }, (_, i) => 18 + i));
  expect(await listed(10)).toEqual({ turns: [], isCut: true });
});

test("a claim chooses among the models with that of the team's lead, when it has one", async () => {
  const fixture = await storeFixture();
  const plan = { name: 'lead', description: '', instructions: '', tools: null, skills: [], mcpServers: [] };
  const setupWith = (model: string | null) => {
    const lead = { ...plan, model, connectors: null, subagents: [], browser: false };
    const orchestration = { team: 't', description: '', instructions: '', lead, members: [] };
    return { ...aTurn(fixture.user, fixture.key).setup, target: 'team:t', orchestration };
  };
  await fixture.accept({ setup: setupWith('large') });
  await fixture.accept({ setup: setupWith(null) });
  await fixture.accept();
  const order = { limit: 3, node: 'here', leaseMs: 1, background: BACKGROUND_CLAIM, modelFor: () => 'm' };
  const models = (await fixture.store.runs.claim(order)).map(({ choice }) => choice.leadModel);
  expect(models).toEqual(['large', null, null]);
});
