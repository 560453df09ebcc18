import { expect, test } from 'vitest';
import { NO_DEFINITIONS } from '../../../src/catalog/definitions.ts';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { executeRun } from '../../../src/execution/executor/executor.ts';
import type { Reservation, WorkerPool } from '../../../src/execution/pool/worker-pool.ts';
import { makeQueue, modelOf, type Queue, type QueueParts } from '../../../src/execution/queue/queue.ts';
import type { Acceptance, NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import type { ClaimInput } from '../../../src/store/lifecycle/claim-runs.ts';
import { AT_ONCE, executorParts } from '../../support/agent/executor-parts.ts';
import { aTurn, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const catalog: Catalog = {
  endpoints: new Map(),
  models: new Map(),
  scenarios: new Map([
    ['general', { name: 'general', model: 'small' }],
    ['careful', { name: 'careful', model: 'large' }],
  ]),
  defaultScenario: 'general',
};

test.each([
  { why: "the key's own model wins", keyModel: 'fixed', scenario: 'careful', model: 'fixed' },
  { why: "else that of the owner's scenario", keyModel: null, scenario: 'careful', model: 'large' },
  { why: 'else that of the default scenario', keyModel: null, scenario: null, model: 'small' },
  { why: 'a scenario that is gone has none', keyModel: null, scenario: 'gone', model: null },
  {
    why: "a key's model is named though the catalog may have lost it",
    keyModel: 'lost',
    scenario: null,
    model: 'lost',
  },
])('the model of a run: $why', { tags: ['§1-model'] }, ({ keyModel, scenario, model }) => {
  const choice = { keyModel, scenario, target: 'free', leadModel: null };
  expect(modelOf({ catalog, definitions: NO_DEFINITIONS }, choice)).toBe(model);
});

/** A queue over a pool without threads, whose runs never end. */
function queueOver(
  fixture: StoreFixture,
  pool: Pick<WorkerPool, 'reserve' | 'slots' | 'withoutSlot'>,
  mayStart = () => true,
) {
  const parts = executorParts(fixture, pool);
  const execute: QueueParts['execute'] = (claim, slotFreed) => executeRun(parts, claim, slotFreed);
  const { store, clock, log, settings } = parts;
  const node = { id: 'here', mayStart, others: () => [] };
  return makeQueue({ store, pool, execute, modelFor: () => 'scripted', settings, node, clock, log });
}

test('a node that drains neither claims a run nor starts one with its turn; those that execute are counted', {
  tags: ['L6', 'C5'],
}, async () => {
  const fixture = await storeFixture();
  const taken: string[] = [];
  const reserve = (runId: string): Reservation => {
    taken.push(runId);
    return AT_ONCE;
  };
  let drains = false;
  const queue = queueOver(fixture, { reserve, slots: () => 4, withoutSlot: () => 0 }, () => !drains);
  queue.start();
  await admitTo(fixture, queue);
  await waitFor(() => taken.length === 1);
  drains = true;
  expect(await admitTo(fixture, queue)).toMatchObject({ kind: 'accepted', claim: null });
  queue.wake();
  await queue.stop({ sessionSeq: -1, runSeq: null });
  expect([taken.length, queue.executing(), queue.load().open]).toEqual([1, 1, false]);
  drains = false;
  queue.wake();
  await waitFor(() => taken.length === 2);
  expect(queue.executing()).toBe(2);
  queue.pause();
});

test('a run that waits for its thread outside the slots leaves its slot to the next at once', async () => {
  const fixture = await storeFixture();
  const [apart, other] = [await fixture.accept(), await fixture.accept()];
  const taken: string[] = [];
  const { promise: ready, resolve: leave } = Promise.withResolvers<void>();
  const reserve = (runId: string): Reservation => {
    taken.push(runId);
    return runId === apart.id ? { ...AT_ONCE, takesNoSlot: true, ready, leave } : AT_ONCE;
  };
  const queue = queueOver(fixture, { reserve, slots: () => 1, withoutSlot: () => Number(taken.includes(apart.id)) });
  queue.start();
  await waitFor(() => taken.includes(other.id));
  expect(queue.load()).toMatchObject({ slots: 1, busy: 1 });
  queue.pause();
  await queue.stop({ sessionSeq: apart.sessionSeq, runSeq: null });
});

test('a run that waited because all slots were taken is recorded with it, one that did not wait is not', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  let slots = 1;
  const queue = queueOver(fixture, { reserve: () => AT_ONCE, slots: () => slots, withoutSlot: () => 0 });
  const started = () => fixture.committed.flatMap(({ type, payload }) => (type === 'run.started' ? [payload] : []));
  queue.start();
  await waitFor(() => started().length === 1);
  await fixture.accept();
  slots = 2;
  queue.wake();
  await waitFor(() => started().length === 2);
  queue.pause();
  expect(started().map((payload) => ('fullSlots' in payload ? payload.fullSlots : null))).toEqual([null, 2]);
});

/** Accepts a turn as a request does. */
function admitTo(fixture: StoreFixture, queue: Queue, over: Partial<NewTurn> = {}): Promise<Acceptance> {
  return queue.admit((start) => fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), ...over, start }));
}

async function accepted(acceptance: Promise<Acceptance>) {
  const got = await acceptance;
  if (got.kind !== 'accepted') throw new Error(got.kind);
  return got;
}

/** A reservation that is ready, for a run that ends when it is asked to. */
const STOPPABLE: Reservation = {
  ...AT_ONCE,
  start: (_, { ended }) => ({ send: () => ended({ kind: 'done', outcome: { status: 'canceled' }, untouched: true }) }),
};

const ONE_SLOT = { reserve: () => STOPPABLE, slots: () => 1, withoutSlot: () => 0 };

test('a turn that is accepted while a slot is free starts in the same commit', async () => {
  const fixture = await storeFixture();
  const queue = queueOver(fixture, ONE_SLOT);
  queue.start();
  const commits: string[][] = [];
  fixture.store.onCommitted((events) => void commits.push(events.map(({ type }) => type)));
  const { run } = await accepted(admitTo(fixture, queue));
  expect(queue.load().busy).toBe(1);
  expect(queue.held()).toMatchObject([{ runSeq: run.seq, attempt: 1 }]);
  await fixture.store.durable();
  expect(commits).toEqual([['run.queued', 'run.started']]);
  queue.pause();
  await queue.stop({ sessionSeq: run.sessionSeq, runSeq: null });
});

test('of two turns that are accepted together, only as many start as there are free slots', async () => {
  const fixture = await storeFixture();
  const queue = queueOver(fixture, ONE_SLOT);
  queue.start();
  const [first, second] = await Promise.all([accepted(admitTo(fixture, queue)), accepted(admitTo(fixture, queue))]);
  expect([first.run.scheduleMode, second.run.scheduleMode]).toEqual(['immediate', 'queued']);
  await queue.stop({ sessionSeq: first.run.sessionSeq, runSeq: null });
  await waitFor(() => queue.held().some(({ runSeq }) => runSeq === second.run.seq));
  queue.pause();
  await queue.stop({ sessionSeq: second.run.sessionSeq, runSeq: null });
});

test('a turn that is accepted while runs are being claimed gets none of their slots', async () => {
  const fixture = await storeFixture();
  const waiting = await fixture.accept();
  const queue = queueOver(fixture, ONE_SLOT);
  const claiming = Promise.withResolvers<void>();
  const claim = fixture.store.runs.claim;
  Object.assign(fixture.store.runs, { claim: (order: ClaimInput) => (claiming.resolve(), claim(order)) });
  queue.start();
  await claiming.promise;
  const late = await accepted(admitTo(fixture, queue));
  expect(late.claim).toBe(null);
  expect(queue.held()).toMatchObject([{ runSeq: waiting.seq }]);
  queue.pause();
  await queue.stop({ sessionSeq: waiting.sessionSeq, runSeq: null });
});

test('a run that waits is not overtaken by a turn that finds a free slot', async () => {
  const fixture = await storeFixture();
  const queue = queueOver(fixture, { ...ONE_SLOT, slots: () => 2 });
  queue.start();
  await queue.idle();
  const waiting = await fixture.accept();
  const late = await accepted(admitTo(fixture, queue));
  expect(late.claim).toBe(null);
  await waitFor(() => queue.load().busy === 2);
  expect(queue.held().map(({ runSeq }) => runSeq)).toEqual([waiting.seq, late.run.seq]);
  queue.pause();
  await Promise.all([waiting, late.run].map(({ sessionSeq }) => queue.stop({ sessionSeq, runSeq: null })));
});

test('a run that waits is claimed although turns keep coming while the disk syncs', async () => {
  const fixture = await storeFixture(undefined, { syncsInBackground: true });
  const queue = queueOver(fixture, ONE_SLOT);
  queue.start();
  await queue.idle();
  const waiting = await fixture.accept();
  for (let turn = 0; turn < 5; turn += 1) await admitTo(fixture, queue);
  expect(queue.held()).toMatchObject([{ runSeq: waiting.seq }]);
  queue.pause();
  await queue.stop({ sessionSeq: waiting.sessionSeq, runSeq: null });
});

test('the slot of a turn that is refused is free again, and what came meanwhile starts', async () => {
  const fixture = await storeFixture();
  const queue = queueOver(fixture, ONE_SLOT);
  queue.start();
  await queue.idle();
  const { promise: refusal, reject: refuse } = Promise.withResolvers<Acceptance>();
  const refused = queue.admit(() => refusal);
  const { run, claim } = await accepted(admitTo(fixture, queue));
  expect(claim).toBe(null);
  refuse(new Error('refused'));
  await expect(refused).rejects.toThrow('refused');
  await waitFor(() => queue.held().some(({ runSeq }) => runSeq === run.seq));
  queue.pause();
  await queue.stop({ sessionSeq: run.sessionSeq, runSeq: null });
});

test('a stop that comes before an accepted run is in progress ends it, and so does a shutdown', async () => {
  for (const end of ['stop', 'release'] as const) {
    const fixture = await storeFixture();
    const queue = queueOver(fixture, ONE_SLOT);
    queue.start();
    await queue.idle();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const admitted = queue.admit(async (start) => {
      const acceptance = await fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), start });
      await gate;
      return acceptance;
    });
    const ended = end === 'stop' ? queue.stop({ sessionSeq: 1, runSeq: null }) : queue.release();
    open();
    await ended;
    expect((await accepted(admitted)).claim).not.toBe(null);
    expect(queue.load().busy).toBe(0);
    const [row] = fixture.rows<{ status: string }>('SELECT status FROM runs');
    expect(row!.status).toBe(end === 'stop' ? 'running' : 'queued');
  }
});

test('a turn that is accepted before the queue starts is claimed when it does', async () => {
  const fixture = await storeFixture();
  const queue = queueOver(fixture, ONE_SLOT);
  const accepting = accepted(admitTo(fixture, queue));
  queue.start();
  const { run, claim } = await accepting;
  expect(claim).toBe(null);
  await waitFor(() => fixture.committed.some(({ type }) => type === 'run.started'));
  queue.pause();
  await queue.stop({ sessionSeq: run.sessionSeq, runSeq: null });
});
