// Stopping, row by row of the table in §3.3, with an executor that confirms when the test says so.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Run } from '../../../src/domain/sessions/run.ts';
import type { StopResult } from '../../../src/domain/sessions/stop.ts';
import { makeStopper, type Stopper } from '../../../src/execution/queue/stop.ts';
import type { StopTarget } from '../../../src/execution/queue/in-progress.ts';
import { makeLog } from '../../../src/log/log.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const USER = 'user_requested_stop';
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
const FAILED = {
  outcome: 'failed',
  error: { type: 'api_error', message: 'The model is gone.', retryable: true },
} as const;

let fixture: StoreFixture;
let stopper: Stopper;
/** What the executors were asked, and what lets them confirm. */
let asked: StopTarget[];
let confirm: () => void;
let confirmed: number;
/** Sessions whose runs execute here, and what a claim in progress waits for. */
let here: number[];
let settled: Promise<void>;

beforeEach(async () => {
  fixture = await storeFixture();
  asked = [];
  confirmed = 0;
  here = [];
  settled = Promise.resolve();
  const waiting: (() => void)[] = [];
  confirm = () => waiting.splice(0).forEach((resolve) => resolve());
  stopper = makeStopper({
    store: fixture.store,
    node: 'here',
    onStopConfirmed: () => undefined,
    queue: {
      has: (sessionSeq) => here.includes(sessionSeq),
      settled: () => settled,
      stop: (target) => {
        asked.push(target);
        return new Promise((resolve) => waiting.push(resolve));
      },
    },
    clock: fixture.clock,
    log: makeLog({ level: 'fatal' }),
    stopConfirmed: () => {
      confirmed += 1;
    },
  });
});

async function executing(): Promise<Run> {
  const run = await fixture.accept();
  await fixture.claim();
  return run;
}

const sessionOf = ({ sessionSeq, sessionId }: Run) => ({ seq: sessionSeq, id: sessionId });
const stop = (run: Run) => stopper.stopSession(sessionOf(run), USER);
const summaryOf = ({ stopState, status, cancelledRuns, executorCancelled }: StopResult) => [
  stopState,
  status,
  cancelledRuns,
  executorCancelled,
];
const stops = () => fixture.committed.filter(({ type }) => type === 'run.stopped').length;
/** Everything stored of sessions and runs, to see that nothing has changed. */
const data = () => JSON.stringify([fixture.rows('SELECT * FROM sessions'), fixture.rows('SELECT * FROM runs')]);

/** Stops an executing run and lets the five seconds pass without a confirmation. */
async function unconfirmed(run: Run): Promise<StopResult> {
  const before = asked.length;
  const stopping = stop(run);
  await waitFor(() => asked.length > before);
  fixture.clock.advance(5_000);
  return stopping;
}

describe('the first stop', () => {
  test('is stopped once the executor confirms within five seconds', { tags: ['§3.3-confirmed'] }, async () => {
    const run = await executing();
    await fixture.accept({ sessionId: run.sessionId });
    const stopping = stop(run);
    await waitFor(() => asked.length === 1);
    // The move is committed before the executor is asked.
    expect(stops()).toBe(2);
    fixture.clock.advance(4_999);
    confirm();
    expect(summaryOf(await stopping)).toEqual(['stopped', 'stopped', 2, true]);
    expect(confirmed).toBe(1);
  });

  test('is stopping when the executor does not confirm, and the session is stopped all the same', {
    tags: ['§3.3-unconfirmed'],
  }, async () => {
    const run = await executing();
    expect(summaryOf(await unconfirmed(run))).toEqual(['stopping', 'stopped', 1, false]);
    expect((await fixture.store.sessions.find(run.sessionId))!.status).toBe('stopped');
    expect([stops(), confirmed]).toEqual([1, 0]);
  });

  test('of waiting runs needs no executor', async () => {
    const run = await fixture.accept();
    expect(summaryOf(await stop(run))).toEqual(['stopped', 'stopped', 1, false]);
    expect(asked).toEqual([]);
  });
});

test('of a run that waits for its user needs no executor, and counts the question that it ends', {
  tags: ['§2.11-expired-questions'],
}, async () => {
  const run = await executing();
  const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: 1, workedMs: 0 };
  const question = { toolUseId: 'ask1', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };
  await fixture.store.runs.waitForUser(fence, question);
  const result = await stop(run);
  expect(summaryOf(result)).toEqual(['stopped', 'stopped', 1, false]);
  expect([result.expiredQuestions, asked]).toEqual([1, []]);
  expect((await stop(run)).expiredQuestions).toBe(0);
});

describe('a further stop', () => {
  test('while a cancel is in progress is stopping: no second cancel, no change, no second event', {
    tags: ['§3.3-within-5-s'],
  }, async () => {
    const run = await executing();
    const first = stop(run);
    await waitFor(() => asked.length === 1);
    const before = data();
    expect(summaryOf(await stop(run))).toEqual(['stopping', 'stopped', 0, false]);
    expect([asked.length, stops(), data()]).toEqual([1, 1, before]);
    confirm();
    expect((await first).stopState).toBe('stopped');
  });

  test('within five seconds after an unconfirmed cancel is stopping and changes nothing', {
    tags: ['§3.3-within-5-s', '§8-stop-window'],
  }, async () => {
    const run = await executing();
    await unconfirmed(run);
    const before = data();
    fixture.clock.advance(5_000);
    expect(summaryOf(await stop(run))).toEqual(['stopping', 'stopped', 0, false]);
    expect([asked.length, stops(), data()]).toEqual([1, 1, before]);
  });

  test.each([
    ['stopped', true],
    ['stopping', false],
  ])(
    'more than five seconds after it asks the executor again and is %s',
    { tags: ['§3.3-after-5-s', '§8-stop-window'] },
    async (state, confirms) => {
      const run = await executing();
      await unconfirmed(run);
      fixture.clock.advance(5_001);
      const before = data();
      const again = stop(run);
      await waitFor(() => asked.length === 2);
      expect([stops(), data()]).toEqual([1, before]);
      if (confirms) confirm();
      else fixture.clock.advance(5_000);
      expect(summaryOf(await again)).toEqual([state, 'stopped', 0, confirms]);
      expect(stops()).toBe(1);
    },
  );

  test('after the executor has confirmed, be it late, is already_stopped', {
    tags: ['§3.3-already-stopped'],
  }, async () => {
    const run = await executing();
    await unconfirmed(run);
    confirm();
    await waitFor(() => confirmed === 1);
    const before = data();
    expect(summaryOf(await stop(run))).toEqual(['already_stopped', 'stopped', 0, false]);
    expect([asked.length, stops(), data()]).toEqual([1, 1, before]);
  });
});

test.each([
  ['completed', ENDED],
  ['failed', FAILED],
])('a %s session is not_running and keeps its status', { tags: ['§3.3-not-running'] }, async (status, ending) => {
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ending);
  await fixture.store.runs.settle(fenceOf(run!));
  const before = data();
  const result = await stopper.stopSession({ seq: run!.sessionSeq, id: run!.sessionId }, USER);
  expect(summaryOf(result)).toEqual(['not_running', status, 0, false]);
  expect([asked.length, stops(), data()]).toEqual([0, 0, before]);
});

test('a hundred stops at once end each run once and ask the executor once', async () => {
  const run = await executing();
  await fixture.accept({ sessionId: run.sessionId });
  const all = Array.from({ length: 100 }, () => stop(run));
  await waitFor(() => asked.length === 1);
  confirm();
  const results = await Promise.all(all);
  expect(results.filter(({ stopState }) => stopState === 'stopped')).toHaveLength(1);
  expect(results.reduce((sum, { cancelledRuns }) => sum + cancelledRuns, 0)).toBe(2);
  expect([asked.length, stops()]).toEqual([1, 2]);
});

test('a stopped session continues with its next turn, and that can be stopped again', {
  tags: ['E1-continues'],
}, async () => {
  const run = await executing();
  const first = stop(run);
  await waitFor(() => asked.length === 1);
  confirm();
  await first;
  const next = await fixture.accept({ sessionId: run.sessionId });
  expect((await fixture.claim()).map(({ id }) => id)).toEqual([next.id]);
  const second = stop(next);
  await waitFor(() => asked.length === 2);
  confirm();
  expect(summaryOf(await second)).toEqual(['stopped', 'stopped', 1, true]);
});

test('a stop that another node has committed asks the executor here, also when its run is still being claimed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  settled = promise;
  const noticed = stopper.noticeStopped({ sessionSeq: 1, runSeq: 1 });
  here = [1];
  resolve();
  await waitFor(() => asked.length > 0);
  expect(asked).toEqual([{ sessionSeq: 1, runSeq: 1 }]);
  confirm();
  await noticed;
  expect(confirmed).toBe(1);
  await stopper.noticeStopped({ sessionSeq: 2, runSeq: 2 });
  expect(asked).toHaveLength(1);
});

test('a stop that another node has committed is confirmed here when the executor has ended by itself before', async () => {
  const { sessionSeq, seq: runSeq } = await executing();
  await fixture.store.runs.stopSession(sessionSeq, USER);
  const noticed = stopper.noticeStopped({ sessionSeq, runSeq });
  await waitFor(() => asked.length > 0);
  confirm();
  await noticed;
  expect(confirmed).toBe(1);
  expect(await fixture.store.runs.isStoppingAt(sessionSeq, 'here')).toBe(false);
});

test("stopping one run asks only its executor, and the session's next run starts", async () => {
  const run = await executing();
  const next = await fixture.accept({ sessionId: run.sessionId });
  const stopping = stopper.stopRun(run, 'operator_requested_stop');
  await waitFor(() => asked.length === 1);
  expect(asked).toEqual([{ sessionSeq: run.sessionSeq, runSeq: run.seq }]);
  confirm();
  expect(summaryOf(await stopping)).toEqual(['stopped', 'pending', 1, true]);
  expect((await fixture.claim()).map(({ id }) => id)).toEqual([next.id]);
  expect((await stopper.stopRun(run, 'operator_requested_stop')).stopState).toBe('not_running');
});

test('deleting does not wait for the executor, but its files do', async () => {
  const run = await executing();
  await stopper.deleteSession(sessionOf(run));
  expect(asked).toHaveLength(1);
  expect([confirmed, await fixture.store.sessions.listCleanups(0, 10)]).toEqual([0, []]);
  confirm();
  await waitFor(() => confirmed === 1);
  expect(await fixture.store.sessions.listCleanups(0, 10)).toHaveLength(1);
  await expect(stopper.deleteSession(sessionOf(run))).rejects.toMatchObject({ reason: 'not_found' });
  await expect(stop(run)).rejects.toMatchObject({ reason: 'not_found' });
});

describe('a user who is disabled', () => {
  test('has every run of every session stopped, queued or executing, and no other run', async () => {
    const running = await executing();
    const queued = await fixture.accept({ sessionId: running.sessionId });
    const elsewhere = await fixture.accept();
    const nils = await fixture.store.users.create({ ...fixture.user, username: 'nils', passwordHash: 'x' });
    const newKey = { ...fixture.key, id: 'nilskey0', userSeq: nils.seq, secretSha256: Buffer.alloc(32) };
    const key = await fixture.store.keys.create(newKey);
    const others = await fixture.accept({ user: nils, key });
    await stopper.stopDisabled();
    expect(stops()).toBe(0);
    await fixture.store.users.change(nils.username, { role: 'admin' });
    await fixture.store.users.change(fixture.user.username, { disabled: true });
    await stopper.stopDisabled();
    const statusOf = async ({ seq }: Run) => (await fixture.store.runs.get(seq)).status;
    expect(await Promise.all([running, queued, elsewhere, others].map(statusOf))).toEqual([
      'canceled',
      'canceled',
      'canceled',
      'queued',
    ]);
    expect([stops(), confirmed]).toEqual([3, 0]);
    expect(asked).toEqual([{ sessionSeq: running.sessionSeq, runSeq: null }]);
    confirm();
    await waitFor(() => confirmed === 1);
    const before = data();
    await stopper.stopDisabled();
    expect(data()).toBe(before);
  });

  test('has them stopped also when there are more sessions than are stopped at once', async () => {
    for (let i = 0; i < 120; i += 1) await fixture.accept();
    await fixture.store.users.create({ ...fixture.user, username: 'nils', passwordHash: 'x' });
    await fixture.store.users.change(fixture.user.username, { disabled: true });
    await stopper.stopDisabled();
    expect(stops()).toBe(120);
    expect(await fixture.store.runs.countUnfinished()).toMatchObject({ queued: 0, running: 0 });
  });

  test('has what was accepted too late stopped instead of claimed, and the queue behind it continues', async () => {
    const nils = await fixture.store.users.create({ ...fixture.user, username: 'nils', passwordHash: 'x' });
    const newKey = { ...fixture.key, id: 'nilskey0', userSeq: nils.seq, secretSha256: Buffer.alloc(32) };
    const key = await fixture.store.keys.create(newKey);
    await fixture.store.users.change(fixture.user.username, { disabled: true });
    const [late] = await Promise.all([fixture.accept(), fixture.accept()]);
    const others = await fixture.accept({ user: nils, key });
    expect((await fixture.claim(1)).map(({ seq }) => seq)).toEqual([others.seq]);
    expect(stops()).toBe(2);
    expect(fixture.committed.some(({ type, runSeq }) => type === 'run.started' && runSeq === late.seq)).toBe(false);
  });
});
