// A firing follows its runs: steps one after another, each move reported once, and nothing between two commits.
import { expect, test } from 'vitest';
import { aPage } from '../../support/store/publishing.ts';
import { aTask, FAILED, fireDue, fireNow, movesOf, steps, work } from '../../support/store/schedules.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const PAGE = { limit: 9, offset: 0 };
const ENDED = ['none → pending', 'pending → running', 'running → completed'];

async function fired(work = steps('one', 'two', 'three')) {
  const fixture = await storeFixture();
  const task = await fixture.store.schedules.create(aTask(fixture.user.seq, { work }));
  await fireNow(fixture, task);
  const firing = async () => (await fixture.store.schedules.listFirings(task.seq, PAGE)).items[0]!;
  return { ...fixture, fixture, task, firing };
}

const runsOf = ({ rows }: StoreFixture) =>
  rows<{ status: string; sessionSeq: number }>('SELECT status, session_seq AS sessionSeq FROM runs ORDER BY seq');

test('steps run one after another in one session, and each is reported', {
  tags: ['§3.5', 'I1-firings', 'I7'],
}, async () => {
  const { fixture, task, firing } = await fired();
  expect(await firing()).toMatchObject({ status: 'pending', stepNo: 1, stepCount: 3, endedAt: null });
  const first = await work(fixture);
  expect(await firing()).toMatchObject({ status: 'running', stepNo: 2 });
  const [, waiting] = runsOf(fixture);
  expect(waiting).toEqual({ status: 'queued', sessionSeq: first.sessionSeq });
  expect((await fixture.store.sessions.find((await firing()).sessionId))!.status).toBe('pending');
  await work(fixture);
  const last = await work(fixture);
  expect(await firing()).toMatchObject({ status: 'completed', stepNo: 3, endedAt: fixture.clock.now() });
  expect(await fixture.claim()).toEqual([]);
  expect((await fixture.store.schedules.find(task.id))!.lastStatus).toBe('completed');
  expect(movesOf(fixture, first.id)).toEqual(ENDED);
  expect(movesOf(fixture, last.id)).toEqual(ENDED);
  const event = fixture.committed.findLast(({ type }) => type === 'scheduled_task.run_status_changed');
  expect(event).toMatchObject({
    runSeq: null,
    sessionSeq: first.sessionSeq,
    payload: {
      runId: last.id,
      taskId: task.id,
      stepId: task.steps[2]!.id,
      name: 'Tides',
      cron: '* * * * *',
      timezone: 'UTC',
      lastError: null,
    },
  });
  // The next run is reported after the end of the one before.
  const types = fixture.committed.map(({ type }) => type);
  expect(types.indexOf('run.done')).toBeLessThan(types.indexOf('run.queued', types.indexOf('run.queued') + 1));
});

test('a step that fails ends the firing', { tags: ['I1-firings', 'I7'] }, async () => {
  const { fixture, firing } = await fired();
  await work(fixture);
  const second = await work(fixture, FAILED);
  expect(await firing()).toMatchObject({ status: 'failed', stepNo: 2 });
  expect(await fixture.claim()).toEqual([]);
  expect(movesOf(fixture, second.id)).toEqual(['none → pending', 'pending → running', 'running → failed']);
  expect(fixture.committed.at(-1)).toMatchObject({ payload: { lastError: 'The model is gone.' } });
});

test('the pages of a task get a job when all steps have completed, and none otherwise', { tags: ['F12'] }, async () => {
  const { fixture, store, task } = await fired(steps('one', 'two'));
  await store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: task.id }));
  const jobs = () => fixture.rows<{ runSeq: number }>('SELECT run_seq AS runSeq FROM publish_jobs');
  await work(fixture);
  expect(jobs()).toEqual([]);
  const { seq } = await work(fixture);
  expect(jobs()).toEqual([{ runSeq: seq }]);
  await fireNow(fixture, task);
  await work(fixture, FAILED);
  expect(jobs()).toHaveLength(1);
});

test('a step that is incomplete ends the firing as failed', { tags: ['I1-firings'] }, async () => {
  const { fixture, firing } = await fired();
  await work(fixture, { ...FAILED, outcome: 'incomplete' } as never);
  expect(await firing()).toMatchObject({ status: 'failed', stepNo: 1 });
});

test.each(['stopRun', 'stopSession', 'deleteSession'])(
  '%s ends the firing as stopped, without another step',
  { tags: ['I7'] },
  async (how) => {
    const { fixture, store, firing } = await fired();
    const [run] = await fixture.claim();
    if (how === 'stopRun')
      await store.runs.stopRun({ sessionSeq: run!.sessionSeq, runSeq: run!.seq }, 'user_requested_stop');
    else if (how === 'stopSession') await store.runs.stopSession(run!.sessionSeq, 'user_requested_stop');
    else await store.sessions.deleteSession(run!.sessionSeq);
    expect(await firing()).toMatchObject({ status: 'stopped' });
    expect(movesOf(fixture, run!.id)).toEqual(['none → pending', 'pending → running', 'running → stopped']);
    const report = fixture.committed.findLast(({ type }) => type === 'scheduled_task.run_status_changed');
    expect(report).toMatchObject({ payload: { lastError: 'Stopped by the user.' } });
    await store.runs.rescue('here');
    expect(await fixture.claim()).toEqual([]);
  },
);

test('a crash between two moves neither repeats nor loses a step', { tags: ['§3.5', 'I1-firings'] }, async () => {
  const { fixture, store, firing } = await fired(steps('one', 'two'));
  const [run] = await fixture.claim();
  await store.runs.rescue('here');
  await work(fixture);
  await store.runs.rescue('here');
  await work(fixture);
  await store.runs.rescue('here');
  expect(await firing()).toMatchObject({ status: 'completed', stepNo: 2 });
  expect(runsOf(fixture)).toHaveLength(2);
  // Resuming after a crash is no move of the task's run.
  expect(movesOf(fixture, run!.id)).toEqual(ENDED);
});

test('a run whose agent had ended at the crash is settled by the rescue, with the next step', {
  tags: ['I7'],
}, async () => {
  const { fixture, store, firing } = await fired(steps('one', 'two'));
  const [run] = await fixture.claim();
  await store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  expect(await store.runs.rescue('here')).toMatchObject({ settled: 1 });
  expect(await firing()).toMatchObject({ stepNo: 2 });
  expect(await store.runs.rescue('here')).toEqual({ settled: 0, interrupted: 0 });
  expect(runsOf(fixture)).toHaveLength(2);
});

test('a run that waits for its user is running for its task, and continues', async () => {
  const { fixture, store, firing } = await fired(steps('one', 'two'));
  const [run] = await fixture.claim();
  const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };
  await store.runs.waitForUser(fenceOf(run!), question);
  expect(await firing()).toMatchObject({ status: 'running', stepNo: 1 });
  const filter = { userSeq: fixture.user.seq, keySeq: null, sessionSeq: null, status: 'pending' } as const;
  const { items } = await store.userInputs.list({ ...PAGE, ...filter });
  await store.userInputs.answer(items[0]!.id, 'yes');
  await work(fixture);
  expect(movesOf(fixture, run!.id)).toEqual(ENDED);
  expect(await firing()).toMatchObject({ stepNo: 2 });
});

test('queued runs of an owner who is disabled are stopped, and so is what waits behind', async () => {
  const { fixture, store, user, task, firing } = await fired();
  await store.users.create({ ...user, username: 'root', passwordHash: 'x' });
  await store.users.change('mara', { disabled: true });
  expect(await fixture.claim(9)).toEqual([]);
  expect(await firing()).toMatchObject({ status: 'stopped' });
  expect(movesOf(fixture)).toEqual(['none → pending', 'pending → stopped']);
  expect((await store.schedules.find(task.id))!.lastStatus).toBe('stopped');
});

test('runs of tasks are background work: they leave a slot, and take turns with the runs of keys', {
  tags: ['I6'],
}, async () => {
  const fixture = await storeFixture();
  const { store, user, clock } = fixture;
  for (let at = 0; at < 4; at += 1) await store.schedules.create(aTask(user.seq));
  clock.advance(60_000);
  await fireDue(fixture);
  const claim = (limit: number) =>
    store.runs.claim({
      limit,
      node: 'here',
      leaseMs: 60_000,
      background: { slots: 3, maxExecutingPerKey: 2 },
      modelFor: () => 'scripted',
    });
  // At most two of one owner at a time.
  expect(await claim(9)).toHaveLength(2);
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 9 } };
  await fixture.accept({ background });
  await fixture.accept({ background });
  // One slot is left for background work, and another key's turn has it.
  expect((await claim(9)).map(({ run }) => run.opensSession)).toEqual([true]);
  const { seq } = await fixture.accept();
  expect((await claim(9)).map(({ run }) => run.seq)).toEqual([seq]);
});

test('unfinished runs of tasks count toward the limit of their user, and of no key', { tags: ['I6'] }, async () => {
  const fixture = await storeFixture();
  for (let at = 0; at < 2; at += 1)
    await fireNow(fixture, await fixture.store.schedules.create(aTask(fixture.user.seq, { cron: '0 0 * * *' })));
  const accept = (maxUnfinishedPerKey: number, maxUnfinishedPerUser: number) =>
    fixture.accept({
      background: { payload: null, limits: { maxUnfinishedPerKey, maxUnfinishedPerUser, capacity: 9 } },
    });
  await expect(accept(1, 2)).rejects.toThrow('user_limit');
  await accept(1, 3);
  await expect(accept(1, 9)).rejects.toThrow('key_limit');
});

test('nobody waits for a run of a task: its wait in the queue never ends', async () => {
  const { store, fixture } = await fired();
  expect(await store.runs.findNewestQueued()).toBeUndefined();
  expect(await store.runs.expireQueued(Number.MAX_SAFE_INTEGER)).toBe(0);
  expect(runsOf(fixture)[0]!.status).toBe('queued');
});
