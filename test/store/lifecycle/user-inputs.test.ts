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
  type StoreHouse,
  storeHouse,
} from '../../support/store/store-house.ts';

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
async function waiting(house: StoreHouse, turn: Parameters<StoreHouse['accept']>[0] = {}) {
  await house.accept(turn);
  const [run] = await house.claim();
  await house.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  expect(await house.store.runs.waitForUser(fenceOf(run!), question())).toBe(true);
  const { items } = await inputs(house, run!);
  return { run: run!, id: items[0]!.id };
}

const inputs = (house: StoreHouse, run: Pick<ClaimedRun, 'sessionSeq'>) =>
  house.store.userInputs.list({
    userSeq: null,
    keySeq: null,
    sessionSeq: run.sessionSeq,
    status: null,
    limit: 9,
    offset: 0,
  });
const rowOf = (house: StoreHouse, run: Pick<ClaimedRun, 'seq'>) =>
  house.rows<Record<string, unknown>>(
    `SELECT status, ready, lease_until, worked_ms, resumes, attempt FROM runs WHERE seq = ${run.seq}`,
  )[0]!;
const typesOf = (house: StoreHouse) => house.committed.map(({ type }) => type);
const sessionStatus = async (house: StoreHouse, { sessionId }: Pick<ClaimedRun, 'sessionId'>) =>
  (await house.store.sessions.find(sessionId))!.status;

test('a run that waits is running without a lease, holds no slot, and has asked one question', {
  tags: ['§3.4-pending'],
}, async () => {
  const house = await storeHouse();
  const { run } = await waiting(house);
  expect(rowOf(house, run)).toMatchObject({ status: 'waiting', lease_until: null });
  expect(await sessionStatus(house, run)).toBe('running');
  const { items, total } = await inputs(house, run);
  expect(total).toBe(1);
  expect(items[0]).toMatchObject({
    sessionId: run.sessionId,
    runId: run.id,
    username: 'mara',
    toolUseId: 'ask1',
    toolInput: { question: 'Which colour?' },
    status: 'pending',
    answers: null,
    createdAt: house.clock.now(),
    expiresAt: house.clock.now() + HOUR_MS,
    answeredAt: null,
  });
  expect(house.committed.at(-1)).toMatchObject({ type: 'user_input.requested', runSeq: run.seq });
  expect(await house.store.runs.countUnfinished()).toEqual({ queued: 0, running: 0, waiting: 1, finalizing: 0 });
});

test('an answer sends the run back to the queue, without the time that it waited, and counts as no resume', async () => {
  const house = await storeHouse();
  const { run, id } = await waiting(house);
  house.clock.advance(90_000);
  expect(await house.store.userInputs.answer(id, ['red', { shade: 3 }])).toBe(true);
  expect(rowOf(house, run)).toMatchObject({ status: 'queued', ready: 1, worked_ms: 0, resumes: 0 });
  expect(await sessionStatus(house, run)).toBe('pending');
  expect(house.committed.at(-1)).toMatchObject({
    type: 'user_input.answered',
    payload: { requestId: id, toolUseId: 'ask1', answers: ['red', { shade: 3 }] },
  });
  expect(await house.store.userInputs.find(id)).toMatchObject({
    status: 'answered',
    answers: ['red', { shade: 3 }],
    answeredAt: house.clock.now(),
  });
  const [again] = await house.claim();
  expect(again).toMatchObject({ seq: run.seq, attempt: 2, workedMs: 0 });
  expect(await house.store.userInputs.listSettled(run.seq)).toEqual([
    { toolUseId: 'ask1', status: 'answered', answers: ['red', { shade: 3 }] },
  ]);
});

test('a jump of the wall clock while a run waits takes nothing from its time', async () => {
  const house = await storeHouse();
  const { id } = await waiting(house);
  house.clock.jump(-7 * 86_400_000);
  house.clock.advance(1_000);
  await house.store.userInputs.answer(id, 'red');
  const [again] = await house.claim();
  expect(again!.workedMs).toBe(0);
});

test('of an answer, a second answer, an expiry and a stop the first committed wins, in every order', {
  tags: ['§3.4-answered'],
}, async () => {
  const moves = {
    answer: (house: StoreHouse, id: string) => house.store.userInputs.answer(id, 'a'),
    again: (house: StoreHouse, id: string) => house.store.userInputs.answer(id, 'b'),
    expire: (house: StoreHouse, id: string) => house.store.userInputs.expire(id),
    due: async (house: StoreHouse) => (await house.store.userInputs.expireDue()) === 1,
    stop: async (house: StoreHouse, _id: string, run: ClaimedRun) =>
      ((await house.store.runs.stopSession(run.sessionSeq, USER)) as { expiredQuestions: number }).expiredQuestions ===
      1,
  } as const;
  const names = Object.keys(moves) as (keyof typeof moves)[];
  for (const first of names) {
    for (const second of names) {
      const house = await storeHouse();
      const { run, id } = await waiting(house);
      house.clock.advance(HOUR_MS);
      const held = await Promise.all([moves[first](house, id, run), moves[second](house, id, run)]);
      expect([first, second, ...held]).toEqual([first, second, true, false]);
      const settled = typesOf(house).filter((type) => type === 'user_input.answered' || type === 'user_input.expired');
      const isAnswer = first === 'answer' || first === 'again';
      expect(settled).toEqual([isAnswer ? 'user_input.answered' : 'user_input.expired']);
      expect((await house.store.userInputs.find(id))!.status).toBe(isAnswer ? 'answered' : 'expired');
      const isStopped = first === 'stop' || second === 'stop';
      expect(rowOf(house, run)).toMatchObject({ status: isStopped ? 'canceled' : 'queued' });
      expect(typesOf(house).filter((type) => type === 'run.stopped')).toHaveLength(isStopped ? 1 : 0);
    }
  }
});

test('a stop of a waiting run has no executor to wait for, and reports the expired question before the end', async () => {
  const house = await storeHouse();
  const { run } = await waiting(house);
  const behind = await house.accept({ sessionId: run.sessionId });
  const commit = await house.store.runs.stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, USER);
  expect(commit).toMatchObject({ kind: 'ended', canceled: 1, expiredQuestions: 1, unconfirmed: false });
  expect(typesOf(house).slice(-3)).toEqual(['user_input.expired', 'message', 'run.stopped']);
  expect((await house.claim()).map(({ seq }) => seq)).toEqual([behind.seq]);
});

test('a deleted session expires its questions and shows none', async () => {
  const house = await storeHouse();
  const { run, id } = await waiting(house);
  expect(await house.store.sessions.deleteSession(run.sessionSeq)).toMatchObject({ expiredQuestions: 1 });
  expect(await house.store.userInputs.find(id)).toBeUndefined();
  expect(await inputs(house, run)).toEqual({ items: [], total: 0 });
  expect(await house.store.userInputs.answer(id, 'late')).toBe(false);
  expect(await house.store.userInputs.nextExpiryAt()).toBeUndefined();
});

test('while a run waits its worker can’t write any more, and neither rescue nor leases touch it', async () => {
  const house = await storeHouse();
  const { run } = await waiting(house);
  const fence = fenceOf(run);
  const result = { step: 1, toolUseId: 'ask1', name: 'ask_user', ok: true, output: 'x', durationMs: 1 };
  const late = await Promise.all([
    house.store.runs.recordToolResult(fence, result),
    house.store.runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 9 } }]),
    house.store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' }),
    house.store.runs.settle(fence),
    house.store.runs.interrupt(fence, 'crash'),
    house.store.runs.waitForUser(fence, question()),
  ]);
  expect(late).toEqual([false, false, false, false, false, false]);
  // Its worker is on the way out, so it may still be held.
  expect(await house.store.runs.renewLeases([fence], 60_000)).toBe(0);
  house.clock.advance(10 * 60_000);
  expect(await house.store.runs.renewLeases([], 60_000)).toBe(0);
  expect(await house.store.runs.rescue()).toEqual({ settled: 0, interrupted: 0, queued: 0 });
  expect(await house.store.runs.listExecutingSessions()).toEqual([]);
  expect(rowOf(house, run)).toMatchObject({ status: 'waiting', lease_until: null, resumes: 0 });
});

test('a run that crashed before it waited asks again, and it is one question', async () => {
  const house = await storeHouse();
  await house.accept();
  const [first] = await house.claim();
  await house.store.runs.recordStep(fenceOf(first!), aStep({ calls }), FREE);
  await house.store.runs.rescue();
  const [second] = await house.claim();
  expect(await house.store.runs.waitForUser(fenceOf(first!), question())).toBe(false);
  expect(await house.store.runs.waitForUser(fenceOf(second!), question())).toBe(true);
  expect((await inputs(house, first!)).total).toBe(1);
  expect(rowOf(house, first!)).toMatchObject({ status: 'waiting', attempt: 2 });
});

test('a question that is already settled lets the run continue instead of waiting forever', async () => {
  const house = await storeHouse();
  const { run, id } = await waiting(house);
  await house.store.userInputs.answer(id, 'red');
  const [again] = await house.claim();
  expect(await house.store.runs.waitForUser(fenceOf(again!), question())).toBe(true);
  expect(rowOf(house, run)).toMatchObject({ status: 'queued', ready: 1 });
  expect(typesOf(house).filter((type) => type === 'user_input.requested')).toHaveLength(1);
});

test('an answered background run never times out', async () => {
  const house = await storeHouse();
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };
  const { run, id } = await waiting(house, { background, idempotencyKey: 'b' });
  house.clock.advance(2 * HOUR_MS);
  await house.store.userInputs.answer(id, 'red');
  expect(await house.store.runs.findNewestQueued()).toBeUndefined();
  expect(await house.store.runs.expireQueued(run.seq)).toBe(0);
});

test('waiting runs hold none of the slots of background runs, but count as unfinished', async () => {
  const house = await storeHouse();
  const background = { payload: null, limits: { maxUnfinishedPerKey: 3, maxUnfinishedPerUser: 9, capacity: 5 } };
  for (const idempotencyKey of ['a', 'b']) await waiting(house, { background, idempotencyKey });
  const third = await house.accept({ background, idempotencyKey: 'c' });
  const order = { ...BACKGROUND_CLAIM, slots: 1, maxExecutingPerKey: 1 };
  const claims = await house.store.runs.claim({ limit: 9, leaseMs: 1, background: order, modelFor: () => 'm' });
  expect(claims.map(({ run }) => run.seq)).toEqual([third.seq]);
  await expect(house.accept({ background, idempotencyKey: 'd' })).rejects.toThrow('key_limit');
});

test('only those whose time is over expire, and the next is known, also after a restart', async () => {
  const house = await storeHouse();
  const early = await waiting(house);
  house.clock.advance(1_000);
  const late = await waiting(house);
  const reopened = openStore(house.file, house.clock);
  expect(await reopened.userInputs.nextExpiryAt()).toBe(house.clock.now() - 1_000 + HOUR_MS);
  await reopened.close();
  house.clock.advance(HOUR_MS - 1_001);
  expect(await house.store.userInputs.expireDue()).toBe(0);
  house.clock.advance(1);
  expect(await house.store.userInputs.expireDue()).toBe(1);
  expect((await house.store.userInputs.find(early.id))!.status).toBe('expired');
  expect((await house.store.userInputs.find(late.id))!.status).toBe('pending');
  expect(await house.store.userInputs.listSettled(early.run.seq)).toEqual([
    { toolUseId: 'ask1', status: 'expired', answers: null },
  ]);
});

test('lists are narrowed by user, session and status, the newest first', async () => {
  const house = await storeHouse();
  const [one, two] = [await waiting(house), await waiting(house)];
  await house.store.userInputs.answer(one.id, 'red');
  const all = { userSeq: house.user.seq, keySeq: null, sessionSeq: null, status: null, limit: 9, offset: 0 };
  const ids = async (over: object) =>
    (await house.store.userInputs.list({ ...all, ...over })).items.map(({ id }) => id);
  expect(await ids({})).toEqual([two.id, one.id]);
  expect(await ids({ status: 'pending' })).toEqual([two.id]);
  expect(await ids({ sessionSeq: one.run.sessionSeq })).toEqual([one.id]);
  expect(await ids({ userSeq: 99 })).toEqual([]);
  expect(await ids({ limit: 1, offset: 1 })).toEqual([one.id]);
});

test('the queue says which run waits for its user, and that the next run of the session waits for it', async () => {
  const house = await storeHouse();
  const { run } = await waiting(house);
  await house.accept({ sessionId: run.sessionId });
  const page = { limit: 9, offset: 0 };
  const { items } = await house.store.runs.list({ sessionSeq: null, status: 'running', ...page });
  expect(items.map(({ id, status }) => [id, status])).toEqual([[run.id, 'waiting']]);
  const queue = await house.store.runs.listWaiting(page);
  expect(queue.items).toMatchObject([{ behindInSession: run.id, behindQuestion: true, ready: false }]);
});
