import { expect, onTestFinished, test } from 'vitest';
import type { BudgetTerms } from '../../../src/domain/budgets/budget.ts';
import { mostOf } from '../../../src/domain/budgets/decide.ts';
import { NO_PRICE, type Usage } from '../../../src/domain/sessions/usage.ts';
import { openStore } from '../../support/store/open-store.ts';
import type { Reservation } from '../../../src/store/budgets/reserve.ts';
import type { Fence } from '../../../src/store/runs/fence.ts';
import { ledgerFaults } from '../../../src/selftest/checks/ledger-faults.ts';
import {
  aSpentCall,
  BACKGROUND_CLAIM,
  aStep,
  aTurn,
  fenceOf,
  FREE,
  storeHouse,
} from '../../support/store/store-house.ts';

const NOBODY = { keySeq: null, userSeq: null, teamId: null };
const USAGE: Usage = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const MOST = { tokens: 1_000, usd: 0 };
const PROMPT = { model: 'deep', inputTokens: 700, costUsd: 0.7 };

async function budgetHouse() {
  const house = await storeHouse();
  const set = (terms: Partial<BudgetTerms>) => {
    const subject = terms.subject ?? 'user';
    const payer = {
      user: { ...NOBODY, userSeq: house.user.seq },
      key: { ...NOBODY, keySeq: house.key.seq },
      run: NOBODY,
      team: { ...NOBODY, teamId: house.user.teamId },
    }[subject];
    const all = { unit: 'tokens', period: 'day', timeZone: 'UTC', limit: 10_000, ...terms, subject, payer } as const;
    return house.store.budgets.set(all, house.clock.now);
  };
  const { budgets, runs } = house.store;
  const free = (fence: Fence) => budgets.heldOf(fence).forEach(budgets.release);
  const spend = async (fence: ReturnType<typeof fenceOf>, usage = USAGE) => {
    await runs.recordSpent(fence, aSpentCall(usage), FREE);
    free(fence);
  };
  const begin = async () => {
    await house.accept();
    return fenceOf((await house.claim())[0]!);
  };
  const get = async (id: string) => (await house.store.budgets.find(id, house.clock.now()))!;
  const reserve = async (fence: Fence, most = MOST, awaited: readonly number[] = []) => {
    const call = { ...fence, most, prompt: PROMPT };
    return withoutHeld(await budgets.reserve(call, { now: house.clock.now(), awaited: new Set(awaited) }));
  };
  const moveTo = (at: number) => house.clock.jump(at - house.clock.now());
  return { ...house, set, spend, free, begin, get, reserve, moveTo };
}

function withoutHeld(reservation: Reservation) {
  return reservation.kind === 'granted' ? { kind: reservation.kind } : reservation;
}

test('sixty-four calls that begin at once at the ceiling exceed it by less than one call', async () => {
  const house = await budgetHouse();
  const { id } = await house.set({ limit: 10_500 });
  await Promise.all(Array.from({ length: 64 }, () => house.accept()));
  const fences = (await house.claim(64)).map((run) => fenceOf(run));
  expect(fences).toHaveLength(64);
  let calls = 0;
  let waiting = fences;
  let refused = 0;
  while (waiting.length > 0) {
    const verdicts = await Promise.all(waiting.map(async (fence) => ({ fence, ...(await house.reserve(fence)) })));
    const granted = verdicts.filter(({ kind }) => kind === 'granted');
    refused += verdicts.filter(({ kind }) => kind === 'used up').length;
    const { spent, reserved } = await house.get(id);
    expect(spent + reserved).toBeLessThan(10_500 + 1_000);
    await Promise.all(granted.map(({ fence }) => house.spend(fence)));
    calls += granted.length;
    waiting = verdicts.filter(({ kind }) => kind === 'wait').map(({ fence }) => fence);
  }
  expect(calls).toBe(11);
  expect(refused).toBe(64 - 11);
  expect(await house.get(id)).toMatchObject({ spent: 11_000, reserved: 0 });
});

test('a call that needs more than is left waits for others in progress, and is made alone', async () => {
  const house = await budgetHouse();
  const { seq } = await house.set({ limit: 1_500 });
  const [one, other] = [await house.begin(), await house.begin()];
  expect(await house.reserve(one)).toEqual({ kind: 'granted' });
  expect(await house.reserve(other)).toEqual({ kind: 'wait', budgets: [seq] });
  house.free(one);
  expect(await house.reserve(other, { tokens: 99_000, usd: 0 })).toEqual({ kind: 'granted' });
});

test('a call that was written down is recorded with the estimate of its prompt after a crash, once', async () => {
  const house = await budgetHouse();
  const { id } = await house.set({ limit: 1_500 });
  const [lost, other] = [await house.begin(), await house.begin()];
  await house.reserve(lost);
  await house.store.budgets.saveHeld(house.store.budgets.heldOf(lost));
  await house.store.close();
  for (const settled of [1, 0]) {
    const store = openStore(house.file, house.clock);
    onTestFinished(() => store.close());
    expect(await store.budgets.settleLeft()).toBe(settled);
    await store.runs.rescue();
    expect(await store.budgets.find(id, house.clock.now())).toMatchObject({ reserved: 0, spent: 700 });
    await store.close();
  }
  const [row] = house.rows('SELECT model, input_tokens, cost_usd, estimated, outcome, run_seq FROM usage_records');
  const facts = { model: 'deep', input_tokens: 700, cost_usd: 0.7, estimated: 1, outcome: 'lost' };
  expect(row).toEqual({ ...facts, run_seq: lost.runSeq });
  expect(ledgerFaults(house.file)).toEqual([]);
  const store = openStore(house.file, house.clock);
  onTestFinished(() => store.close());
  const claims = await store.runs.claim({ limit: 9, leaseMs: 1, background: BACKGROUND_CLAIM, modelFor: () => 'm' });
  const [again] = claims.map(({ run }) => fenceOf(run)).filter(({ runSeq }) => runSeq === other.runSeq);
  const reserve = (fence: Fence) =>
    store.budgets.reserve({ ...fence, most: MOST, prompt: PROMPT }, { now: house.clock.now(), awaited: new Set() });
  expect(await reserve(again!)).toMatchObject({ kind: 'granted' });
  expect(await reserve(lost)).toEqual({ kind: 'gone' });
});

test('a call that has ended is not written down any more, however it ended', async () => {
  const house = await budgetHouse();
  const { budgets, runs } = house.store;
  await house.set({ limit: 9_000 });
  const [kept, unkept, refused, lost] = [1, 2, 3, 4].map(() => house.begin());
  for (const fence of [await kept!, await unkept!, await refused!, await lost!]) {
    await house.reserve(fence);
    await budgets.saveHeld(budgets.heldOf(fence));
  }
  expect(house.rows('SELECT * FROM calls_in_progress')).toHaveLength(4);
  await house.spend(await kept!);
  await runs.recordUnkept(await unkept!, { ...aSpentCall(USAGE), outcome: 'stopped' }, FREE);
  await budgets.forget(budgets.heldOf(await refused!)[0]!);
  await budgets.settleLost(budgets.heldOf(await lost!)[0]!);
  expect(house.rows('SELECT * FROM calls_in_progress')).toEqual([]);
  expect(await budgets.settleLeft()).toBe(0);
});

test('a verb that throws in the commit of a call leaves it neither written down nor warned of twice', async () => {
  const house = await budgetHouse();
  const warned: number[] = [];
  house.store.onBudgetWarning(({ limit }) => warned.push(limit));
  await house.set({ limit: 1_100 });
  const fence = await house.begin();
  await house.reserve(fence);
  await house.store.budgets.saveHeld(house.store.budgets.heldOf(fence));
  const makeTeam = () => house.store.teams.create({ name: 'Green', budgetUsd: null });
  await makeTeam();
  const ends = await Promise.allSettled([house.spend(fence), makeTeam()]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(house.rows('SELECT * FROM calls_in_progress')).toEqual([]);
  expect(house.rows('SELECT * FROM usage_records')).toHaveLength(1);
  expect(warned).toEqual([1_100]);
});

test('a call whose reply is not kept is paid for, also after its run was stopped and its session deleted', async () => {
  const house = await budgetHouse();
  const { id } = await house.set({ limit: 2_000 });
  const run = await house.begin();
  await house.reserve(run);
  await house.store.runs.stopRun(run, 'user_requested_stop');
  const call = { ...aSpentCall(USAGE), estimated: true, outcome: 'stopped' } as const;
  await house.store.runs.recordUnkept(run, call, FREE);
  house.free(run);
  expect(await house.get(id)).toMatchObject({ spent: 1_000, reserved: 0 });
  const [row] = house.rows('SELECT estimated, outcome, step FROM usage_records');
  expect(row).toEqual({ estimated: 1, outcome: 'stopped', step: null });
  await house.store.sessions.deleteSession(run.sessionSeq);
  await house.store.runs.recordUnkept(run, call, FREE);
  expect((await house.get(id)).spent).toBe(2_000);
  // Most of it is used, and the session is gone.
  expect(house.rows('SELECT * FROM insights')).toEqual([]);
  expect(ledgerFaults(house.file)).toEqual([]);
});

test('a call waits for a budget that another one awaits, even if there is room; for another budget it does not', async () => {
  const house = await budgetHouse();
  const { seq } = await house.set({ limit: 9_000 });
  const run = await house.begin();
  expect(await house.reserve(run, MOST, [seq])).toEqual({ kind: 'wait', budgets: [seq] });
  expect(await house.reserve(run, MOST, [seq + 1])).toEqual({ kind: 'granted' });
});

test('a budget knows what was used before it was set, of its own subject and its own period only', async () => {
  const house = await budgetHouse();
  const team = await house.store.teams.create({ name: 'Red', budgetUsd: null });
  const yesterday = await house.begin();
  await house.spend(yesterday);
  house.clock.advance(86_400_000);
  await house.store.users.change('mara', { teamId: team.id });
  await house.spend(yesterday);
  const other = await house.makeKey();
  await house.accept({ key: other });
  await house.spend(fenceOf((await house.claim())[0]!));
  const spent = async (terms: Partial<BudgetTerms>) => (await house.set(terms)).spent;
  expect(await spent({ subject: 'key', period: 'day' })).toBe(1_000);
  expect(await spent({ subject: 'key', period: 'all' })).toBe(2_000);
  expect(await spent({ subject: 'user', period: 'day' })).toBe(2_000);
  expect(await spent({ subject: 'user', period: 'all' })).toBe(3_000);
  const payer = { ...NOBODY, teamId: team.id };
  const ofTeam = { subject: 'team', unit: 'tokens', period: 'all', timeZone: 'UTC', limit: 1, payer } as const;
  expect((await house.store.budgets.set(ofTeam, house.clock.now)).spent).toBe(2_000);
});

test('a budget that is set, raised, lowered or removed takes effect at the next call', async () => {
  const house = await budgetHouse();
  const run = await house.begin();
  expect(await house.reserve(run)).toEqual({ kind: 'granted' });
  await house.spend(run);
  const { id } = await house.set({ limit: 1_000 });
  const usedUp = { kind: 'used up', budget: { subject: 'user', period: 'day' } };
  expect(await house.reserve(run)).toMatchObject(usedUp);
  expect((await house.set({ limit: 1_001 })).id).toBe(id);
  expect(await house.reserve(run)).toEqual({ kind: 'granted' });
  await house.spend(run);
  expect((await house.get(id)).spent).toBe(2_000);
  await house.set({ limit: 0 });
  expect(await house.reserve(run)).toMatchObject(usedUp);
  await house.store.budgets.remove(id);
  expect(await house.reserve(run)).toEqual({ kind: 'granted' });
});

test('a day ends at midnight of its zone, and begins again where a clock is put back', async () => {
  const house = await budgetHouse();
  const { id, renewsAt } = await house.set({ limit: 1_000, timeZone: 'Asia/Kolkata' });
  const run = await house.begin();
  await house.spend(run);
  expect(await house.reserve(run)).toMatchObject({ kind: 'used up', budget: { renewsAt } });
  const setAt = house.clock.now();
  expect(new Date(renewsAt!).toISOString()).toMatch(/T18:30:00/);
  house.moveTo(renewsAt! - 1);
  expect(await house.reserve(run)).toMatchObject({ kind: 'used up' });
  house.moveTo(renewsAt!);
  expect(await house.reserve(run)).toEqual({ kind: 'granted' });
  await house.spend(run, { ...USAGE, inputTokens: 0 });
  expect((await house.get(id)).spent).toBe(100);
  house.moveTo(setAt);
  expect((await house.get(id)).spent).toBe(1_000);
  expect(await house.reserve(run)).toMatchObject({ kind: 'used up' });
});

test('a call is settled at the price that is recorded with it, whatever was held back', async () => {
  const house = await budgetHouse();
  const { id } = await house.set({ unit: 'usd', limit: 5 });
  const run = await house.begin();
  const price = { ...NO_PRICE, inputPerMillionUsd: 1_000, outputPerMillionUsd: 1_000 };
  await house.reserve(run, mostOf({ inputTokens: 900, outputTokens: 100 }, price));
  expect(await house.get(id)).toMatchObject({ reserved: 1, spent: 0 });
  const raised = { ...price, inputPerMillionUsd: 2_000 };
  await house.store.runs.recordStep(run, aStep({ usage: USAGE }), { name: 'dear', price: raised });
  house.free(run);
  expect(await house.get(id)).toMatchObject({ reserved: 0, spent: 1.9 });
});

test('a budget of runs limits each run by what it has used itself', async () => {
  const house = await budgetHouse();
  await house.set({ subject: 'run', period: 'all', limit: 1_000 });
  const [one, other] = [await house.begin(), await house.begin()];
  await house.spend(one);
  expect(await house.reserve(one)).toEqual({
    kind: 'used up',
    budget: { subject: 'run', period: 'all', renewsAt: null },
  });
  expect(await house.reserve(other)).toEqual({ kind: 'granted' });
});

test('a turn over a budget is refused, and a repeated request still finds its run', async () => {
  const house = await budgetHouse();
  const { renewsAt } = await house.set({ limit: 1_000 });
  await house.accept({ idempotencyKey: 'once' });
  await house.spend(fenceOf((await house.claim())[0]!));
  const refused = await house.store.runs.accept(aTurn(house.user, house.key));
  expect(refused).toEqual({ kind: 'over_budget', budget: { subject: 'user', period: 'day', renewsAt } });
  const repeated = await house.store.runs.accept({ ...aTurn(house.user, house.key), idempotencyKey: 'once' });
  expect(repeated.kind).toBe('replayed');
  house.moveTo(renewsAt!);
  await house.accept();
});

test('administrators are warned once in a period, when most of a budget is used', async () => {
  const house = await budgetHouse();
  const warned: unknown[] = [];
  house.store.onBudgetWarning((budget) => warned.push(budget));
  const { id, renewsAt } = await house.set({ limit: 3_750, subject: 'key' });
  const reply = async (fence: Fence, ...steps: readonly number[]) => {
    for (const step of steps) {
      await house.store.runs.recordStep({ ...fence, workedMs: 0 }, aStep({ step, usage: USAGE }), FREE);
    }
  };
  const run = await house.begin();
  await reply(run, 1, 2);
  expect(warned).toEqual([]);
  await reply(run, 3, 4);
  const budget = { id, subject: 'key', unit: 'tokens', period: 'day', limit: 3_750, spent: 3_000, renewsAt };
  expect(warned).toEqual([{ ...budget, name: house.key.id }]);
  const all = { userSeq: null, keySeq: null, sessionSeq: null, status: null, limit: 9, offset: 0 };
  const { items } = await house.store.insights.list(all);
  expect(items.map(({ title }) => title)).toEqual([`80 % of a budget is used: API key ${house.key.id}`]);
  house.moveTo(renewsAt!);
  await reply(run, 5, 6, 7);
  expect((await house.store.insights.list(all)).total).toBe(2);
});

test('a limit that is raised warns again, also of the same run', async () => {
  const house = await budgetHouse();
  const warned: number[] = [];
  house.store.onBudgetWarning(({ limit }) => warned.push(limit));
  await house.set({ limit: 1_000 });
  const run = await house.begin();
  await house.spend(run);
  await house.set({ limit: 2_000 });
  await house.spend(run);
  await house.set({ limit: 2_100 });
  await house.spend(run);
  expect(warned).toEqual([1_000, 2_000]);
});

test("a team's budget that is raised with the team warns again", async () => {
  const house = await budgetHouse();
  const { id } = await house.store.teams.create({ name: 'Red', budgetUsd: 1 });
  await house.store.users.change(house.user.id, { teamId: id });
  const warned: number[] = [];
  house.store.onBudgetWarning(({ limit }) => warned.push(limit));
  const run = await house.begin();
  const spend = () =>
    house.store.runs.recordSpent(run, aSpentCall(USAGE), {
      ...FREE,
      price: { ...NO_PRICE, inputPerMillionUsd: 1_000 },
    });
  await spend();
  await house.store.teams.change('Red', { budgetUsd: 2 });
  await spend();
  await spend();
  expect(warned).toEqual([1, 2]);
});

test('a budget of another user is not charged', async () => {
  const house = await budgetHouse();
  const other = await house.store.users.create({ ...house.user, username: 'olga', passwordHash: 'x' });
  const payer = { ...NOBODY, userSeq: other.seq };
  const terms = { subject: 'user', unit: 'tokens', period: 'all', timeZone: 'UTC', limit: 0, payer } as const;
  const { id } = await house.store.budgets.set(terms, house.clock.now);
  const run = await house.begin();
  await house.spend(run);
  expect(await house.reserve(run)).toEqual({ kind: 'granted' });
  expect((await house.get(id)).spent).toBe(0);
});

test('without any budget a call is neither reserved nor settled; the first one is known at once', async () => {
  const house = await budgetHouse();
  const seen: boolean[] = [];
  house.store.budgetsInForce.onChange((mayBe) => seen.push(mayBe));
  expect(house.store.budgetsInForce.mayBe()).toBe(true);
  await house.spend(await house.begin());
  expect(house.store.budgetsInForce.mayBe()).toBe(false);
  const { id } = await house.set({});
  expect(house.store.budgetsInForce.mayBe()).toBe(true);
  await house.store.budgets.remove(id);
  await house.accept();
  expect(seen).toEqual([false, true, false]);
});
