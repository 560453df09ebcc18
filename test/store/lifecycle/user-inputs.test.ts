// Questions to users in the store: a run that waits, what moves it on, and that exactly one move is ever committed.
import { expect, test } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { openStore } from '../../support/store/open-store.ts';
import type { NewQuestion } from '../../../src/store/lifecycle/wait-for-user.ts';
import {
  aStep,
  BACKGROUND_CLAIM,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
} from '../../support/store/store-fixture.ts';

const USER = 'user_requested_stop';
const HOUR_MS = 3_600_000;

const question = (over: Partial<NewQuestion> = {}): NewQuestion => ({
  toolUseId: 'ask1',
  toolName: 'ask_user',
  toolInput: { question: 'Which colour?' },
  lifetimeMs: HOUR_MS,
  ...over,
});

const calls = [{ id: 'ask1', name: 'ask_user', input: { question: 'Which colour?' } }];

/** A run whose agent has asked, and waits. */
async function waiting(fixture: StoreFixture, turn: Parameters<StoreFixture['accept']>[0] = {}) {
  await fixture.accept(turn);
  const [run] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  expect(await fixture.store.runs.waitForUser(fenceOf(run!), question())).toBe(true);
  const { items } = await inputs(fixture, run!);
  return { run: run!, id: items[0]!.id };
}

const inputs = (fixture: StoreFixture, run: Pick<ClaimedRun, 'sessionSeq'>) =>
  fixture.store.userInputs.list({
    userSeq: null,
    keySeq: null,
    sessionSeq: run.sessionSeq,
    status: null,
    limit: 9,
    offset: 0,
  });
const rowOf = (fixture: StoreFixture, run: Pick<ClaimedRun, 'seq'>) =>
  fixture.rows<Record<string, unknown>>(
    `SELECT status, ready, lease_until, worked_ms, resumes, attempt FROM runs WHERE seq = ${run.seq}`,
  )[0]!;
const typesOf = (fixture: StoreFixture) => fixture.committed.map(({ type }) => type);
const sessionStatus = async (fixture: StoreFixture, { sessionId }: Pick<ClaimedRun, 'sessionId'>) =>
  (await fixture.store.sessions.find(sessionId))!.status;

test('a run that waits is running without a lease, holds no slot, and has asked one question', {
  tags: ['§3.4-pending'],
}, async () => {
  const fixture = await storeFixture();
  const { run } = await waiting(fixture);
  expect(rowOf(fixture, run)).toMatchObject({ status: 'waiting', lease_until: null });
  expect(await sessionStatus(fixture, run)).toBe('running');
  const { items, total } = await inputs(fixture, run);
  expect(total).toBe(1);
  expect(items[0]).toMatchObject({
    sessionId: run.sessionId,
    runId: run.id,
    username: 'mara',
    toolUseId: 'ask1',
    toolInput: { question: 'Which colour?' },
    status: 'pending',
    answers: null,
    createdAt: fixture.clock.now(),
    expiresAt: fixture.clock.now() + HOUR_MS,
    answeredAt: null,
  });
  expect(fixture.committed.at(-1)).toMatchObject({ type: 'user_input.requested', runSeq: run.seq });
  expect(await fixture.store.runs.countUnfinished()).toEqual({ queued: 0, running: 0, waiting: 1, finalizing: 0 });
});

test('an answer sends the run back to the queue, without the time that it waited, and counts as no resume', async () => {
  const fixture = await storeFixture();
  const { run, id } = await waiting(fixture);
  fixture.clock.advance(90_000);
  expect(await fixture.store.userInputs.answer(id, ['red', { shade: 3 }])).toBe(true);
  expect(rowOf(fixture, run)).toMatchObject({ status: 'queued', ready: 1, worked_ms: 0, resumes: 0 });
  expect(await sessionStatus(fixture, run)).toBe('pending');
  expect(fixture.committed.at(-1)).toMatchObject({
    type: 'user_input.answered',
    payload: { requestId: id, toolUseId: 'ask1', answers: ['red', { shade: 3 }] },
  });
  expect(await fixture.store.userInputs.find(id)).toMatchObject({
    status: 'answered',
    answers: ['red', { shade: 3 }],
    answeredAt: fixture.clock.now(),
  });
  const [again] = await fixture.claim();
  expect(again).toMatchObject({ seq: run.seq, attempt: 2, workedMs: 0 });
  expect(await fixture.store.userInputs.listSettled(run.seq)).toEqual([
    { toolUseId: 'ask1', status: 'answered', answers: ['red', { shade: 3 }] },
  ]);
});

test('a jump of the wall clock while a run waits takes nothing from its time', async () => {
  const fixture = await storeFixture();
  const { id } = await waiting(fixture);
  fixture.clock.jump(-7 * 86_400_000);
  fixture.clock.advance(1_000);
  await fixture.store.userInputs.answer(id, 'red');
  const [again] = await fixture.claim();
  expect(again!.workedMs).toBe(0);
});

test('of an answer, a second answer, an expiry and a stop the first committed wins, in every order', {
  tags: ['§3.4-answered'],
}, async () => {
  const moves = {
    answer: (fixture: StoreFixture, id: string) => fixture.store.userInputs.answer(id, 'a'),
    again: (fixture: StoreFixture, id: string) => fixture.store.userInputs.answer(id, 'b'),
    expire: (fixture: StoreFixture, id: string) => fixture.store.userInputs.expire(id),
    due: async (fixture: StoreFixture) => (await fixture.store.userInputs.expireDue()) === 1,
    stop: async (fixture: StoreFixture, _id: string, run: ClaimedRun) =>
      ((await fixture.store.runs.stopSession(run.sessionSeq, USER)) as { expiredQuestions: number })
        .expiredQuestions === 1,
  } as const;
  const names = Object.keys(moves) as (keyof typeof moves)[];
  for (const first of names) {
    for (const second of names) {
      const fixture = await storeFixture();
      const { run, id } = await waiting(fixture);
      fixture.clock.advance(HOUR_MS);
      const held = await Promise.all([moves[first](fixture, id, run), moves[second](fixture, id, run)]);
      expect([first, second, ...held]).toEqual([first, second, true, false]);
      const settled = typesOf(fixture).filter(
        (type) => type === 'user_input.answered' || type === 'user_input.expired',
      );
      const isAnswer = first === 'answer' || first === 'again';
      expect(settled).toEqual([isAnswer ? 'user_input.answered' : 'user_input.expired']);
      expect((await fixture.store.userInputs.find(id))!.status).toBe(isAnswer ? 'answered' : 'expired');
      const isStopped = first === 'stop' || second === 'stop';
      expect(rowOf(fixture, run)).toMatchObject({ status: isStopped ? 'canceled' : 'queued' });
      expect(typesOf(fixture).filter((type) => type === 'run.stopped')).toHaveLength(isStopped ? 1 : 0);
    }
  }
});

test('a stop of a waiting run has no executor to wait for, and reports the expired question before the end', async () => {
  const fixture = await storeFixture();
  const { run } = await waiting(fixture);
  const behind = await fixture.accept({ sessionId: run.sessionId });
  const commit = await fixture.store.runs.stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, USER);
  expect(commit).toMatchObject({ kind: 'ended', canceled: 1, expiredQuestions: 1, unconfirmed: false });
  expect(typesOf(fixture).slice(-3)).toEqual(['user_input.expired', 'message', 'run.stopped']);
  expect((await fixture.claim()).map(({ seq }) => seq)).toEqual([behind.seq]);
});

test('a deleted session expires its questions and shows none', async () => {
  const fixture = await storeFixture();
  const { run, id } = await waiting(fixture);
  expect(await fixture.store.sessions.deleteSession(run.sessionSeq)).toMatchObject({ expiredQuestions: 1 });
  expect(await fixture.store.userInputs.find(id)).toBeUndefined();
  expect(await inputs(fixture, run)).toEqual({ items: [], total: 0 });
  expect(await fixture.store.userInputs.answer(id, 'late')).toBe(false);
  expect(await fixture.store.userInputs.nextExpiryAt()).toBeUndefined();
});

test('while a run waits its worker can’t write any more, and neither rescue nor leases touch it', async () => {
  const fixture = await storeFixture();
  const { run } = await waiting(fixture);
  const fence = fenceOf(run);
  const result = { step: 1, toolUseId: 'ask1', name: 'ask_user', ok: true, output: 'x', durationMs: 1 };
  const late = await Promise.all([
    fixture.store.runs.recordToolResult(fence, result),
    fixture.store.runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 9 } }]),
    fixture.store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' }),
    fixture.store.runs.settle(fence),
    fixture.store.runs.interrupt(fence, 'crash'),
    fixture.store.runs.waitForUser(fence, question()),
  ]);
  expect(late).toEqual([false, false, false, false, false, false]);
  // Its worker is on the way out, so it may still be held.
  expect(await fixture.store.runs.renewLeases('here', [fence], 60_000)).toBe(0);
  fixture.clock.advance(10 * 60_000);
  expect(await fixture.store.runs.renewLeases('here', [], 60_000)).toBe(0);
  expect(await fixture.store.runs.rescue('here')).toEqual({ settled: 0, interrupted: 0 });
  expect(await fixture.store.runs.listExecutingSessions('here')).toEqual([]);
  expect(rowOf(fixture, run)).toMatchObject({ status: 'waiting', lease_until: null, resumes: 0 });
});

test('a run that crashed before it waited asks again, and it is one question', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [first] = await fixture.claim();
  await fixture.store.runs.recordStep(fenceOf(first!), aStep({ calls }), FREE);
  await fixture.store.runs.rescue('here');
  const [second] = await fixture.claim();
  expect(await fixture.store.runs.waitForUser(fenceOf(first!), question())).toBe(false);
  expect(await fixture.store.runs.waitForUser(fenceOf(second!), question())).toBe(true);
  expect((await inputs(fixture, first!)).total).toBe(1);
  expect(rowOf(fixture, first!)).toMatchObject({ status: 'waiting', attempt: 2 });
});

test('a question that is already settled lets the run continue instead of waiting forever', async () => {
  const fixture = await storeFixture();
  const { run, id } = await waiting(fixture);
  await fixture.store.userInputs.answer(id, 'red');
  const [again] = await fixture.claim();
  expect(await fixture.store.runs.waitForUser(fenceOf(again!), question())).toBe(true);
  expect(rowOf(fixture, run)).toMatchObject({ status: 'queued', ready: 1 });
  expect(typesOf(fixture).filter((type) => type === 'user_input.requested')).toHaveLength(1);
});

test('an answered background run never times out', async () => {
  const fixture = await storeFixture();
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };
  const { run, id } = await waiting(fixture, { background, idempotencyKey: 'b' });
  fixture.clock.advance(2 * HOUR_MS);
  await fixture.store.userInputs.answer(id, 'red');
  expect(await fixture.store.runs.findNewestQueued()).toBeUndefined();
  expect(await fixture.store.runs.expireQueued(run.seq)).toBe(0);
});

test('waiting runs hold none of the slots of background runs, but count as unfinished', async () => {
  const fixture = await storeFixture();
  const background = { payload: null, limits: { maxUnfinishedPerKey: 3, maxUnfinishedPerUser: 9, capacity: 5 } };
  for (const idempotencyKey of ['a', 'b']) await waiting(fixture, { background, idempotencyKey });
  const third = await fixture.accept({ background, idempotencyKey: 'c' });
  const order = { ...BACKGROUND_CLAIM, slots: 1, maxExecutingPerKey: 1 };
  const claims = await fixture.store.runs.claim({
    limit: 9,
    node: 'here',
    leaseMs: 1,
    background: order,
    modelFor: () => 'm',
  });
  expect(claims.map(({ run }) => run.seq)).toEqual([third.seq]);
  await expect(fixture.accept({ background, idempotencyKey: 'd' })).rejects.toThrow('key_limit');
});

test('only those whose time is over expire, and the next is known, also after a restart', async () => {
  const fixture = await storeFixture();
  const early = await waiting(fixture);
  fixture.clock.advance(1_000);
  const late = await waiting(fixture);
  const reopened = openStore(fixture.file, fixture.clock);
  expect(await reopened.userInputs.nextExpiryAt()).toBe(fixture.clock.now() - 1_000 + HOUR_MS);
  await reopened.close();
  fixture.clock.advance(HOUR_MS - 1_001);
  expect(await fixture.store.userInputs.expireDue()).toBe(0);
  fixture.clock.advance(1);
  expect(await fixture.store.userInputs.expireDue()).toBe(1);
  expect((await fixture.store.userInputs.find(early.id))!.status).toBe('expired');
  expect((await fixture.store.userInputs.find(late.id))!.status).toBe('pending');
  expect(await fixture.store.userInputs.listSettled(early.run.seq)).toEqual([
    { toolUseId: 'ask1', status: 'expired', answers: null },
  ]);
});

test('lists are narrowed by user, session and status, the newest first', async () => {
  const fixture = await storeFixture();
  const [one, two] = [await waiting(fixture), await waiting(fixture)];
  await fixture.store.userInputs.answer(one.id, 'red');
  const all = { userSeq: fixture.user.seq, keySeq: null, sessionSeq: null, status: null, limit: 9, offset: 0 };
  const ids = async (over: object) =>
    (await fixture.store.userInputs.list({ ...all, ...over })).items.map(({ id }) => id);
  expect(await ids({})).toEqual([two.id, one.id]);
  expect(await ids({ status: 'pending' })).toEqual([two.id]);
  expect(await ids({ sessionSeq: one.run.sessionSeq })).toEqual([one.id]);
  expect(await ids({ userSeq: 99 })).toEqual([]);
  expect(await ids({ limit: 1, offset: 1 })).toEqual([one.id]);
});

test('the queue says which run waits for its user, and that the next run of the session waits for it', async () => {
  const fixture = await storeFixture();
  const { run } = await waiting(fixture);
  await fixture.accept({ sessionId: run.sessionId });
  const page = { limit: 9, offset: 0 };
  const { items } = await fixture.store.runs.list({ sessionSeq: null, status: 'running', ...page });
  expect(items.map(({ id, status }) => [id, status])).toEqual([[run.id, 'waiting']]);
  const queue = await fixture.store.runs.listWaiting(page);
  expect(queue.items).toMatchObject([{ behindInSession: run.id, behindQuestion: true, ready: false }]);
});
