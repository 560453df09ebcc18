import { expect, test } from 'vitest';
import { NO_DEFINITIONS } from '../../../src/catalog/definitions.ts';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { executeRun } from '../../../src/execution/executor/executor.ts';
import type { Place, WorkerPool } from '../../../src/execution/executor/worker-pool.ts';
import { makeQueue, modelOf, type QueueParts } from '../../../src/execution/queue/queue.ts';
import { AT_ONCE, executorParts } from '../../support/agent/executor-parts.ts';
import { type StoreHouse, storeHouse } from '../../support/store/store-house.ts';
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
])('the model of a run: $why', ({ keyModel, scenario, model }) => {
  const choice = { keyModel, scenario, target: 'free', leadModel: null };
  expect(modelOf({ catalog, definitions: NO_DEFINITIONS }, choice)).toBe(model);
});

/** A queue over a pool without threads, whose runs never end. */
function queueOver(house: StoreHouse, pool: Pick<WorkerPool, 'take' | 'slots' | 'withoutSlot'>) {
  const parts = executorParts(house, pool);
  const execute: QueueParts['execute'] = (claim, slotFreed) => executeRun(parts, claim, slotFreed);
  const { store, clock, log, settings } = parts;
  return makeQueue({ store, pool, execute, modelFor: () => 'scripted', settings, clock, log });
}

test('a run that waits for its place outside the slots leaves its slot to the next at once', async () => {
  const house = await storeHouse();
  const [apart, other] = [await house.accept(), await house.accept()];
  const taken: string[] = [];
  const { promise: ready, resolve: leave } = Promise.withResolvers<void>();
  const take = (runId: string): Place => {
    taken.push(runId);
    return runId === apart.id ? { ...AT_ONCE, takesNoSlot: true, ready, leave } : AT_ONCE;
  };
  const queue = queueOver(house, { take, slots: () => 1, withoutSlot: () => Number(taken.includes(apart.id)) });
  queue.start();
  await waitFor(() => taken.includes(other.id));
  expect(queue.load()).toMatchObject({ slots: 1, busy: 1 });
  queue.pause();
  await queue.stop({ sessionSeq: apart.sessionSeq, runSeq: null });
});

test('a run that waited because all slots were taken is recorded with it, one that did not wait is not', async () => {
  const house = await storeHouse();
  await house.accept();
  let slots = 1;
  const queue = queueOver(house, { take: () => AT_ONCE, slots: () => slots, withoutSlot: () => 0 });
  const started = () => house.committed.flatMap(({ type, payload }) => (type === 'run.started' ? [payload] : []));
  queue.start();
  await waitFor(() => started().length === 1);
  await house.accept();
  slots = 2;
  queue.wake();
  await waitFor(() => started().length === 2);
  queue.pause();
  expect(started().map((payload) => ('fullSlots' in payload ? payload.fullSlots : null))).toEqual([null, 2]);
});

test('a turn that is accepted shares its commit with its claim', async () => {
  const house = await storeHouse();
  const queue = queueOver(house, { take: () => AT_ONCE, slots: () => 1, withoutSlot: () => 0 });
  queue.start();
  await waitFor(() => queue.load().open);
  const commits: string[][] = [];
  house.store.onCommitted((events) => void commits.push(events.map(({ type }) => type)));
  const accepting = house.accept();
  queue.claimAccepted();
  const run = await accepting;
  expect(commits[0]).toEqual(['run.queued', 'run.started']);
  queue.pause();
  await queue.stop({ sessionSeq: run.sessionSeq, runSeq: null });
});

test('a turn that is still uncommitted when the queue starts is claimed anyway', async () => {
  const house = await storeHouse();
  const queue = queueOver(house, { take: () => AT_ONCE, slots: () => 1, withoutSlot: () => 0 });
  const accepting = house.accept();
  queue.claimAccepted();
  queue.start();
  const run = await accepting;
  await waitFor(() => house.committed.some(({ type }) => type === 'run.started'));
  queue.pause();
  await queue.stop({ sessionSeq: run.sessionSeq, runSeq: null });
});
