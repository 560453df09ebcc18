import { expect, test } from 'vitest';
import type { TextBlock } from '../../../src/domain/sessions/content.ts';
import type { NewEvent } from '../../../src/domain/journal-event.ts';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { aStep, aTurn, BACKGROUND_CLAIM, fenceOf, FREE, storeHouse } from '../../support/store/store-house.ts';
import { messagesOf } from '../../support/store/read-whole.ts';

const TYPES = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const ENDED = { outcome: 'completed', answer: 'The moon pulls.', stopReason: 'end_turn' } as const;

test('accepting makes session, message, queued run and event together', async () => {
  const house = await storeHouse();
  const run = await house.accept();
  expect(run).toMatchObject({ status: 'queued', scheduleMode: 'queued', attempt: 0 });
  expect(await house.store.sessions.find(run.sessionId)).toMatchObject({
    title: 'Tides',
    status: 'pending',
    kind: 'api',
  });
  expect(house.committed).toMatchObject([{ type: 'run.queued', streamSeq: 1, runSeq: run.seq }]);
  expect(await messagesOf(house.store, run.sessionSeq)).toMatchObject([{ role: 'user' }]);
});

test('what a user says is made into the text that is kept before the commit begins, and once', async () => {
  const house = await storeHouse();
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
  const accepting = house.accept({ content: [block as TextBlock], start: { leaseMs: 1, modelFor } });
  expect(made).toEqual([false]);
  const { seq } = await accepting;
  expect(made).toEqual([false]);
  expect((await house.store.turns.get(seq, 1)).user).toEqual([{ type: 'text', text: 'Tell me.' }]);
});

test('a second turn of a session waits for the first, and is claimable once that has ended', {
  tags: ['§4.3-rule-5', 'C5'],
}, async () => {
  const house = await storeHouse();
  const first = await house.accept();
  const second = await house.accept({ sessionId: first.sessionId });
  expect(second.scheduleMode).toBe('queued');
  const [claimed, ...others] = await house.claim(10);
  expect([claimed!.id, others]).toEqual([first.id, []]);
  await house.store.runs.finalize(fenceOf(claimed!), ENDED);
  await house.store.runs.settle(fenceOf(claimed!));
  expect((await house.claim(10)).map(({ id }) => id)).toEqual([second.id]);
});

test('claims are fair: the key with the fewest executing runs goes first, order of acceptance within a key', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const a1 = await house.accept();
  const a2 = await house.accept();
  const a3 = await house.accept();
  const b1 = await house.accept({ key: other });
  const claimed = await house.claim(4);
  expect(claimed.map(({ id }) => id)).toEqual([a1.id, b1.id, a2.id, a3.id]);
});

test('a claim takes at most its limit and never the same run twice', async () => {
  const house = await storeHouse();
  await Promise.all(Array.from({ length: 10 }, () => house.accept()));
  const rounds = await Promise.all([house.claim(3), house.claim(3), house.claim(9)]);
  expect(rounds.map((round) => round.length)).toEqual([3, 3, 4]);
  expect(new Set(rounds.flat().map(({ id }) => id)).size).toBe(10);
});

test('an accepted turn and a claim asked for in the same tick share their commit', async () => {
  const house = await storeHouse();
  const [accepted, claimed] = await Promise.all([house.accept(), house.claim()]);
  expect(claimed.map(({ id }) => id)).toEqual([accepted.id]);
  expect(TYPES(house.committed)).toEqual(['run.queued', 'run.started']);
});

test('progress of an outdated attempt is refused and leaves nothing behind', { tags: ['D7-attempts'] }, async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const outdated = { ...fenceOf(run!), attempt: run!.attempt - 1 };
  const before = house.rows('SELECT * FROM events').length;
  const delta: NewEvent = { type: 'content_block_delta', payload: { index: 0, text: 'x' } };
  const answers = await Promise.all([
    house.store.runs.appendStream(outdated, [delta]),
    house.store.runs.recordStep(outdated, aStep(), FREE),
    house.store.runs.finalize(outdated, ENDED),
    house.store.runs.interrupt(outdated, 'crash'),
  ]);
  expect(answers).toEqual([false, false, false, false]);
  expect(house.rows('SELECT * FROM events')).toHaveLength(before);
  expect(house.rows('SELECT * FROM steps')).toEqual([]);
});

test('usage and cost of a run are the sum of its steps', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const price = { ...NO_PRICE, inputPerMillionUsd: 2, outputPerMillionUsd: 10, cacheReadPerMillionUsd: 0.5 };
  const usage = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 400, cacheWriteTokens: 0 };
  await house.store.runs.recordStep(fenceOf(run!), aStep({ usage }), { ...FREE, price });
  await house.store.runs.recordStep(fenceOf(run!), aStep({ step: 2, usage }), { ...FREE, price });
  const { usage: total, costUsd } = await house.store.runs.get(run!.seq);
  expect(total).toEqual({ inputTokens: 2_000, outputTokens: 200, cacheReadTokens: 800, cacheWriteTokens: 0 });
  expect(costUsd).toBeCloseTo(2 * (600 * 2 + 400 * 0.5 + 100 * 10) * 1e-6, 12);
});

test('a tool result is kept once; the next call counts as begun with it', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'write_file', input: {} }));
  await house.store.runs.recordStep(fence, aStep({ calls }), FREE);
  const states = async () => (await house.store.turns.get(run!.seq, 2)).steps[0]!.calls.map(({ state }) => state);
  expect(await states()).toEqual(['running', 'waiting', 'waiting']);
  const result = { step: 1, toolUseId: 'a', name: 'write_file', ok: true, output: 'first', durationMs: 3 };
  await house.store.runs.recordToolResult(fence, result);
  await house.store.runs.recordToolResult(fence, { ...result, output: 'again' });
  expect(await states()).toEqual(['ended', 'running', 'waiting']);
  expect((await house.store.turns.get(run!.seq, 2)).steps[0]!.calls[0]!.output).toBe('first');
  expect(TYPES(house.committed).filter((type) => type === 'tool_result')).toHaveLength(1);
});

test('a settled run has one terminal event, one answer in the history, and a completed session', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  await house.store.runs.recordStep(fence, aStep(), FREE);
  const moves = await Promise.all([
    house.store.runs.finalize(fence, ENDED),
    house.store.runs.settle(fence),
    house.store.runs.settle(fence),
    house.store.runs.interrupt(fence, 'crash'),
  ]);
  expect(moves).toEqual([true, true, false, false]);
  expect(TYPES(house.committed).slice(-3)).toEqual(['run.finalizing', 'message', 'run.done']);
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ status: 'completed', answer: 'The moon pulls.' });
  expect(await house.store.sessions.find(run!.sessionId)).toMatchObject({ status: 'completed' });
  const history = await messagesOf(house.store, run!.sessionSeq);
  expect(history.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('a failed run keeps what its agent did', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  await house.store.runs.recordStep(fence, aStep({ calls: [{ id: 'a', name: 'shell', input: {} }] }), FREE);
  const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
  await house.store.runs.finalize(fence, { outcome: 'failed', error });
  await house.store.runs.settle(fence);
  expect(await house.store.runs.get(run!.seq)).toMatchObject({ status: 'failed', error });
  const [, assistant] = await messagesOf(house.store, run!.sessionSeq);
  expect(assistant!.content).toMatchObject([{ type: 'text' }, { type: 'tool_use', name: 'shell' }]);
  expect(await house.store.sessions.find(run!.sessionId)).toMatchObject({ status: 'failed' });
});

test('an interrupted run is queued again with its open block closed; a third crash fails it', {
  tags: ['D7-resumes'],
}, async () => {
  const house = await storeHouse();
  const { seq } = await house.accept();
  for (const resumes of [1, 2]) {
    const [run] = await house.claim();
    const index = resumes - 1;
    await house.store.runs.appendStream(fenceOf(run!), [{ type: 'content_block_start', payload: { index } }]);
    await house.store.runs.interrupt(fenceOf(run!), 'crash');
    expect(await house.store.runs.get(seq)).toMatchObject({ status: 'queued', resumes });
    expect(house.committed.slice(-2)).toMatchObject([
      { type: 'content_block_stop', payload: { index } },
      { type: 'run.resumed', payload: { resumes } },
    ]);
    expect(await house.store.turns.nextBlockIndex(seq)).toBe(index + 1);
  }
  const [run] = await house.claim();
  expect(run!.attempt).toBe(3);
  await house.store.runs.interrupt(fenceOf(run!), 'crash');
  const ended = await house.store.runs.get(seq);
  expect(ended).toMatchObject({ status: 'failed', error: { type: 'interrupted_error', retryable: true } });
});

test('a drained run goes back to the queue without counting as crashed', async () => {
  const house = await storeHouse();
  const { seq } = await house.accept();
  for (let drains = 0; drains < 5; drains += 1) {
    const [run] = await house.claim();
    await house.store.runs.interrupt(fenceOf(run!), 'drain');
  }
  expect(await house.store.runs.get(seq)).toMatchObject({ status: 'queued', resumes: 0, attempt: 5 });
});

test('rescue settles what was finalizing, queues what was running, and leaves what was queued', async () => {
  const house = await storeHouse();
  const finalizing = await house.accept();
  const running = await house.accept();
  const [first] = await house.claim(2);
  const queued = await house.accept();
  await house.store.runs.recordStep(fenceOf(first!), aStep(), FREE);
  await house.store.runs.finalize(fenceOf(first!), ENDED);
  expect(await house.store.runs.rescue()).toEqual({ settled: 1, interrupted: 1, queued: 1 });
  const status = async (seq: number) => (await house.store.runs.get(seq)).status;
  expect(await Promise.all([finalizing, running, queued].map(({ seq }) => status(seq)))).toEqual([
    'completed',
    'queued',
    'queued',
  ]);
});

test('leases: a jump of the clock takes no run from its worker; a run without a worker is queued again', async () => {
  const house = await storeHouse();
  const held = await house.accept();
  const lost = await house.accept();
  const claimed = await house.claim(2);
  house.clock.jump(3 * 24 * 3_600_000);
  expect(await house.store.runs.renewLeases([fenceOf(claimed[0]!)], 60_000)).toBe(1);
  expect((await house.store.runs.get(held.seq)).status).toBe('running');
  expect((await house.store.runs.get(lost.seq)).status).toBe('queued');
});

test('an idempotency key finds its run: first requests per key and target, continuations per session', {
  tags: ['§4.3-rule-2', 'D4'],
}, async () => {
  const house = await storeHouse();
  const turn = aTurn(house.user, house.key);
  const first = await house.store.runs.accept({ ...turn, idempotencyKey: 'order-1' });
  const again = await house.store.runs.accept({ ...turn, idempotencyKey: 'order-1' });
  if (!('run' in first) || !('run' in again)) throw new Error('refused');
  expect([again.kind, again.run.id]).toEqual(['replayed', first.run.id]);
  const inSession = { sessionId: first.session.id, idempotencyKey: 'order-1' };
  const continued = await house.accept(inSession);
  expect(continued.id).not.toBe(first.run.id);
  expect((await house.accept(inSession)).id).toBe(continued.id);
  expect((await house.accept({ idempotencyKey: 'order-1', key: await house.makeKey() })).id).not.toBe(first.run.id);
});

test('a thousand submissions of one idempotency key make one run', async () => {
  const house = await storeHouse();
  const runs = await Promise.all(Array.from({ length: 1_000 }, () => house.accept({ idempotencyKey: 'once' })));
  expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
  expect(house.rows('SELECT * FROM sessions')).toHaveLength(1);
});

test('attachments of the same name get paths of their own in the workspace', async () => {
  const house = await storeHouse();
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
  const run = await house.accept({ attachments: [file('a1'), file('a2')], content });
  const { attachments } = await house.store.turns.get(run.seq, 2);
  expect(attachments.map(({ workspacePath }) => workspacePath)).toEqual(['/uploads/data.csv', '/uploads/data-2.csv']);
  expect(await house.store.sessions.findAttachment(house.user.seq, 'attachments/a2/data.csv')).toMatchObject({
    id: 'a2',
  });
  expect(await house.store.sessions.findAttachment(house.user.seq + 1, 'attachments/a2/data.csv')).toBeUndefined();
});

test('earlier turns are read newest first within a budget and answered oldest first', async () => {
  const house = await storeHouse();
  let sessionId: string | null = null;
  for (let turn = 1; turn <= 70; turn += 1) {
    const run = await house.accept({ sessionId, content: [{ type: 'text', text: `turn ${turn} ${'x'.repeat(100)}` }] });
    sessionId = run.sessionId;
  }
  const MUCH = Number.MAX_SAFE_INTEGER;
  const ALL = { bytes: MUCH, documentBytes: 0 };
  const all = await house.store.turns.listBefore(1, 70, { ...ALL, characters: MUCH });
  expect(all.turns).toHaveLength(69);
  expect(all.isCut).toBe(false);
  const { turns: some, isCut } = await house.store.turns.listBefore(1, 70, { ...ALL, characters: 1_000 });
  expect(isCut).toBe(true);
  expect(some.length).toBeLessThan(10);
  expect(some.at(-1)!.user).toMatchObject([{ text: expect.stringMatching(/^turn 69 /) as string }]);
  expect(some.map(({ runSeq }) => runSeq)).toEqual(some.map(({ runSeq }) => runSeq).toSorted((a, b) => a - b));
});

test('earlier turns that have more bytes than there is room for are not read, however many small ones came after', async () => {
  const house = await storeHouse();
  let sessionId: string | null = null;
  for (let turn = 1; turn <= 60; turn += 1) {
    const text = turn <= 20 ? 'x'.repeat(1024 * 1024) : 'small';
    ({ sessionId } = await house.accept({ sessionId, content: [{ type: 'text', text }] }));
  }
  const listed = (bytes: number) =>
    house.store.turns.listBefore(1, 61, { characters: Number.MAX_SAFE_INTEGER, bytes, documentBytes: 0 });
  const some = await listed(3.5 * 1024 * 1024);
  expect(some.isCut).toBe(true);
  expect(some.turns.map(({ runSeq }) => runSeq)).toEqual(Array.from({ length: 43 }, (_, i) => 18 + i));
  expect(await listed(10)).toEqual({ turns: [], isCut: true });
});

test("a claim chooses among the models with that of the team's lead, when it has one", async () => {
  const house = await storeHouse();
  const plan = { name: 'lead', description: '', instructions: '', tools: null, skills: [], mcpServers: [] };
  const setupWith = (model: string | null) => {
    const lead = { ...plan, model, connectors: null, subagents: [], browser: false };
    const orchestration = { team: 't', description: '', instructions: '', lead, members: [] };
    return { ...aTurn(house.user, house.key).setup, target: 'team:t', orchestration };
  };
  await house.accept({ setup: setupWith('large') });
  await house.accept({ setup: setupWith(null) });
  await house.accept();
  const order = { limit: 3, leaseMs: 1, background: BACKGROUND_CLAIM, modelFor: () => 'm' };
  const models = (await house.store.runs.claim(order)).map(({ choice }) => choice.leadModel);
  expect(models).toEqual(['large', null, null]);
});
