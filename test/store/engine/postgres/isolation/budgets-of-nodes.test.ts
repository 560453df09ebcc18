// Budgets where several processes share the database: what one holds, spends, sets or loses counts for all of them.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BudgetTerms } from '../../../../../src/domain/budgets/budget.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { NO_PRICE, type Usage } from '../../../../../src/domain/sessions/usage.ts';
import { makeBudgetGate, shareBudgets } from '../../../../../src/execution/executor/budget-gate.ts';
import { makeBudgetWatch } from '../../../../../src/execution/executor/budget-watch.ts';
import { makeLog } from '../../../../../src/log/log.ts';
import type { Store } from '../../../../../src/store/open-store.ts';
import type { Fence, Progress } from '../../../../../src/store/runs/fence.ts';
import { openProcess } from '../../../../support/postgres/processes.ts';
import { aNode } from '../../../../support/store/nodes.ts';
import { ledgerFaultsOf } from '../../../../support/store/open-store.ts';
import { aSpentCall, aTurn, fenceOf, FREE, storeFixture } from '../../../../support/store/store-fixture.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

const USAGE: Usage = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const MOST = { tokens: 1_000, usd: 0 };
const PROMPT = { model: 'deep', inputTokens: 700, costUsd: 0.7 };
const LOG = makeLog({ level: 'fatal' });

/** The stores of so many nodes, `node 0` and so on, and a user whose budgets are set. */
async function nodesFixture(count: number) {
  const fixture = await storeFixture(undefined, {}, openProcess);
  const others = Array.from({ length: count - 1 }, () => openProcess(fixture.file, fixture.clock));
  onTestFinished(async () => void (await Promise.all(others.map((store) => store.close()))));
  const stores = [fixture.store, ...others];
  const set = (store: Store, limit: number, over: Partial<BudgetTerms> = {}) => {
    const payer = { keySeq: null, userSeq: fixture.user.seq, teamId: null };
    const terms = { subject: 'user', unit: 'tokens', period: 'month', timeZone: 'UTC', ...over } as const;
    return store.budgets.set({ ...terms, payer, limit }, fixture.clock.now);
  };
  /** Runs that a node executes. */
  const begin = async (node: number, runs = 1): Promise<Progress[]> => {
    for (let run = 0; run < runs; run += 1) await fixture.accept();
    return (await fixture.claim(runs, { node: `node ${node}` })).map((run) => fenceOf(run));
  };
  const reserve = async (store: Store, fence: Fence, most = MOST) => {
    const asking = { now: fixture.clock.now(), awaited: new Set<number>() };
    return (await store.budgets.reserve([{ ...fence, most, prompt: PROMPT }], asking))[0]!;
  };
  const find = async (store: Store, id: string) => (await store.budgets.find(id, fixture.clock.now()))!;
  return { ...fixture, stores, set, begin, reserve, find };
}

describe('nodes with parallel calls against one small budget', () => {
  test.each([1, 3])(
    '%i exceed it by less than one call, and those that wait on one get what another gives back',
    async (count) => {
      const { stores, set, begin, find, rows, ...fixture } = await nodesFixture(count);
      const clock = { ...systemClock, now: fixture.clock.now };
      const { id } = await set(stores[0]!, 10_500);
      const catalog = () => ({ models: new Map([['deep', { price: NO_PRICE }]]) }) as never;
      let inProgress = 0;
      let most = 0;
      const perform = async (store: Store, gate: ReturnType<typeof makeBudgetGate>, run: Progress): Promise<number> => {
        for (let calls = 0; ; calls += 1) {
          const { refusal } = await gate.hold(run, { model: 'deep', inputTokens: 900, outputTokens: 100 });
          if (refusal !== null) {
            await gate.ended(run);
            return calls;
          }
          most = Math.max(most, (inProgress += 1));
          // The others ask meanwhile.
          await store.durable();
          const recorded = store.runs.recordSpent(run, aSpentCall(USAGE), FREE);
          gate.settles(run, recorded);
          await recorded;
          inProgress -= 1;
        }
      };
      const calls = await Promise.all(
        stores.map(async (store, node) => {
          const gate = makeBudgetGate({ store, clock, log: LOG, catalog });
          const runs = await begin(node, 6);
          return Promise.all(runs.map((run) => perform(store, gate, run)));
        }),
      );
      expect(calls.flat()).toHaveLength(6 * count);
      expect(calls.flat().reduce((sum, each) => sum + each)).toBe(11);
      expect(most).toBeGreaterThan(1);
      for (const store of stores) expect(await find(store, id)).toMatchObject({ spent: 11_000, reserved: 0 });
      expect(rows('SELECT run_seq FROM calls_in_progress')).toEqual([]);
    },
  );
});

test('what a node holds back is held for the others, of each unit, and shown by all', async () => {
  const { stores, set, begin, reserve, find, clock } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const tokens = await set(one, 1_500);
  const usd = await set(one, 5, { unit: 'usd' });
  const [[held], [waiting]] = [await begin(0), await begin(1)];
  expect(await reserve(one, held!, { tokens: 1_000, usd: 2 })).toMatchObject({ kind: 'granted' });
  for (const store of stores) {
    expect(await find(store, tokens.id)).toMatchObject({ spent: 0, reserved: 1_000 });
    expect(await find(store, usd.id)).toMatchObject({ spent: 0, reserved: 2 });
    const nobody = { keySeq: null, userSeq: null, teamId: null };
    const { items } = await store.budgets.list({ subject: null, payer: nobody, limit: 9, offset: 0 }, clock.now());
    expect(items.map(({ reserved }) => reserved)).toEqual([2, 1_000]);
  }
  expect(await reserve(other, waiting!, MOST)).toEqual({ kind: 'wait', budgets: [tokens.seq] });
  expect(await reserve(other, waiting!, { tokens: 500, usd: 4 })).toEqual({ kind: 'wait', budgets: [usd.seq] });
  await one.budgets.forget(one.budgets.heldOf(held!)[0]!);
  expect(await reserve(other, waiting!, MOST)).toMatchObject({ kind: 'granted' });
});

test('calls that ask at once are decided in their order, and each counts for those behind it', async () => {
  const { stores, set, begin, find, clock } = await nodesFixture(1);
  const { id, seq } = await set(stores[0]!, 3_000);
  const runs = await begin(0, 4);
  const sizes = [1_000, 2_500, 1_000, 100];
  const calls = runs.map((run, at) => ({ ...run, most: { tokens: sizes[at]!, usd: 0 }, prompt: PROMPT }));
  const reservations = await stores[0]!.budgets.reserve(calls, { now: clock.now(), awaited: new Set() });
  // The second one is not overtaken by those behind it, though there is room for them.
  expect(reservations.map(({ kind }) => kind)).toEqual(['granted', 'wait', 'wait', 'wait']);
  expect(reservations[3]).toEqual({ kind: 'wait', budgets: [seq] });
  expect(await find(stores[0]!, id)).toMatchObject({ reserved: 1_000 });
});

test('a budget that one node sets is enforced and charged by the other from its next call on', async () => {
  const { stores, set, begin, reserve, find, user, key } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const [run] = await begin(1);
  const shared = shareBudgets(other.budgetsInForce);
  // What it may have missed before it listened.
  await expect.poll(async () => [await other.budgets.lookForBudgets(), shared[0]]).toEqual([undefined, 0]);
  await other.runs.recordSpent(run!, aSpentCall(USAGE), FREE);
  const { id } = await set(one, 2_000);
  expect(await find(one, id)).toMatchObject({ spent: 1_000 });
  // Whether it was told or not, it charges the call.
  await other.runs.recordSpent(run!, aSpentCall(USAGE), FREE);
  expect(await find(one, id)).toMatchObject({ spent: 2_000 });
  // Its workers ask from now on.
  expect(shared[0]).toBe(1);
  expect(await reserve(other, run!)).toMatchObject({ kind: 'used up' });
  expect(await other.runs.accept(aTurn(user, key))).toMatchObject({ kind: 'over_budget' });
  await one.budgets.remove(id);
  expect(await reserve(other, run!)).toEqual({ kind: 'granted', held: null });
});

test("a team's budget that one node sets, and that of runs, apply to the other's calls", async () => {
  const { stores, set, begin, reserve, user } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const [run] = await begin(1);
  expect(await reserve(other, run!)).toEqual({ kind: 'granted', held: null });
  const team = await one.teams.create({ name: 'Red', budgetUsd: null });
  await one.users.change(user.username, { teamId: team.id });
  await one.teams.change('Red', { budgetUsd: 0 });
  expect(await reserve(other, run!)).toMatchObject({ kind: 'used up', budget: { subject: 'team' } });
  await one.teams.change('Red', { budgetUsd: null });
  await set(one, 0, { subject: 'run', period: 'all' });
  expect(await reserve(other, run!)).toMatchObject({ kind: 'used up', budget: { subject: 'run' } });
});

test('workers learn of the first budget that another node sets, told at once or by a look within a second', async () => {
  const { stores, set, change } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const clock = fakeClock();
  const watch = makeBudgetWatch({ store: other, clock, log: LOG });
  onTestFinished(watch.stop);
  const shared = shareBudgets(other.budgetsInForce);
  const look = async () => {
    clock.advance(1_000);
    await watch.settled();
  };
  watch.wake();
  // What it may have missed before it listened.
  await expect.poll(async () => [await look(), shared[0]]).toEqual([undefined, 0]);
  const { id } = await set(one, 1);
  await expect.poll(() => shared[0]).toBe(1);
  await one.budgets.remove(id);
  await expect.poll(async () => [await look(), shared[0]]).toEqual([undefined, 0]);
  // Nobody tells of this one.
  change(`INSERT INTO budgets (id, subject, user_seq, unit, period, timezone, amount, created_at, updated_at)
    VALUES ('x', 'user', 1, 'usd', 'day', 'UTC', 1, 0, 0)`);
  expect(shared[0]).toBe(0);
  await look();
  expect(shared[0]).toBe(1);
});

test("a lost node's calls are charged once, by the estimate of their prompt, also when it comes back", async () => {
  const { stores, set, begin, reserve, find, file, rows } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const { id } = await set(one, 1_500);
  for (const [node, store] of stores.entries()) await store.nodes.beat(aNode({ id: `node ${node}` }), null);
  const [[lost], [waiting]] = [await begin(1), await begin(0)];
  expect(await reserve(other, lost!)).toMatchObject({ kind: 'granted' });
  expect(await reserve(one, waiting!)).toMatchObject({ kind: 'wait' });
  const taken = await Promise.all(stores.map((store) => store.nodes.takeOver({ id: 'node 1', beats: 1 })));
  expect(taken.filter((one) => one !== null)).toEqual([{ settled: 0, interrupted: 1 }]);
  for (const store of stores) expect(await find(store, id)).toMatchObject({ spent: 700, reserved: 0 });
  expect(await reserve(one, waiting!, { tokens: 800, usd: 0 })).toMatchObject({ kind: 'granted' });
  // The process that was lost ends its attempt, and starts again.
  for (const call of other.budgets.heldOf(lost!)) await other.budgets.settleLost(call);
  await other.runs.rescue('node 1');
  expect(await find(one, id)).toMatchObject({ spent: 700, reserved: 800 });
  const facts = { run_seq: lost!.runSeq, input_tokens: 700, outcome: 'lost' };
  expect(rows('SELECT run_seq, input_tokens, outcome FROM usage_records')).toEqual([facts]);
  expect(ledgerFaultsOf(file)).toEqual([]);
});

test('an attempt that another node has followed holds its call until that is recorded, and so does the other', async () => {
  const { stores, set, begin, reserve, find, claim } = await nodesFixture(2);
  const [one, other] = stores as [Store, Store];
  const { id } = await set(one, 9_000);
  const [first] = await begin(0);
  await reserve(one, first!);
  await one.runs.interrupt(first!, 'drain');
  const second = fenceOf((await claim(1, { node: 'node 1' }))[0]!);
  expect(await reserve(other, second)).toMatchObject({ kind: 'granted' });
  expect(await find(other, id)).toMatchObject({ spent: 0, reserved: 2_000 });
  await one.budgets.settleLost(one.budgets.heldOf(first!)[0]!);
  expect(await find(other, id)).toMatchObject({ spent: 700, reserved: 1_000 });
  await other.runs.recordSpent(second, aSpentCall(USAGE), FREE);
  expect(await find(one, id)).toMatchObject({ spent: 1_700, reserved: 0 });
});

test('a warning is told once, by the node that has recorded the call, when others can see that', async () => {
  const { stores, set, begin, accept, rows } = await nodesFixture(2);
  const warned: unknown[] = [];
  for (const [node, store] of stores.entries())
    store.onBudgetWarning(() => warned.push({ node, calls: rows('SELECT seq FROM usage_records').length }));
  const [one, other] = stores as [Store, Store];
  await set(one, 1_000);
  const [run] = await begin(1);
  await other.runs.recordSpent(run!, aSpentCall(USAGE), FREE);
  expect(warned).toEqual([{ node: 1, calls: 1 }]);
  await set(other, 9_000);
  await accept();
  await Promise.all(
    stores.map((store) => store.runs.recordSpent(run!, aSpentCall({ ...USAGE, inputTokens: 3_500 }), FREE)),
  );
  expect(warned).toHaveLength(2);
  expect(rows('SELECT seq FROM insights')).toHaveLength(2);
});
