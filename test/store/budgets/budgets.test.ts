import { expect, onTestFinished, test } from 'vitest';
import type { BudgetTerms } from '../../../src/domain/budgets/budget.ts';
import { mostOf } from '../../../src/domain/budgets/decide.ts';
import { NO_PRICE, type Usage } from '../../../src/domain/sessions/usage.ts';
import { ledgerFaultsOf, openStore } from '../../support/store/open-store.ts';
import type { Reservation } from '../../../src/store/budgets/decide-calls.ts';
import type { Fence } from '../../../src/store/runs/fence.ts';
import {
  aSpentCall,
  BACKGROUND_CLAIM,
  aStep,
  aTurn,
  fenceOf,
  FREE,
  storeFixture,
} from '../../support/store/store-fixture.ts';

const NOBODY = { keySeq: null, userSeq: null, teamId: null };
const USAGE: Usage = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const MOST = { tokens: 1_000, usd: 0 };
const PROMPT = { model: 'deep', inputTokens: 700, costUsd: 0.7 };

async function budgetFixture() {
  const fixture = await storeFixture();
  const set = (terms: Partial<BudgetTerms>) => {
    const subject = terms.subject ?? 'user';
    const payer = {
      user: { ...NOBODY, userSeq: fixture.user.seq },
      key: { ...NOBODY, keySeq: fixture.key.seq },
      run: NOBODY,
      team: { ...NOBODY, teamId: fixture.user.teamId },
    }[subject];
    const all = { unit: 'tokens', period: 'day', timeZone: 'UTC', limit: 10_000, ...terms, subject, payer } as const;
    return fixture.store.budgets.set(all, fixture.clock.now);
  };
  const { budgets, runs } = fixture.store;
  const free = (fence: Fence) => budgets.heldOf(fence).forEach(budgets.release);
  const spend = async (fence: ReturnType<typeof fenceOf>, usage = USAGE) => {
    await runs.recordSpent(fence, aSpentCall(usage), FREE);
    free(fence);
  };
  const begin = async () => {
    await fixture.accept();
    return fenceOf((await fixture.claim())[0]!);
  };
  const get = async (id: string) => (await fixture.store.budgets.find(id, fixture.clock.now()))!;
  const reserve = async (fence: Fence, most = MOST, awaited: readonly number[] = []) => {
    const call = { ...fence, most, prompt: PROMPT };
    const [reservation] = await budgets.reserve([call], { now: fixture.clock.now(), awaited: new Set(awaited) });
    return withoutHeld(reservation!);
  };
  const moveTo = (at: number) => fixture.clock.jump(at - fixture.clock.now());
  return { ...fixture, set, spend, free, begin, get, reserve, moveTo };
}

function withoutHeld(reservation: Reservation) {
  return reservation.kind === 'granted' ? { kind: reservation.kind } : reservation;
}

test('sixty-four calls that begin at once at the ceiling exceed it by less than one call', async () => {
  const fixture = await budgetFixture();
  const { id } = await fixture.set({ limit: 10_500 });
  await Promise.all(Array.from({ length: 64 }, () => fixture.accept()));
  const fences = (await fixture.claim(64)).map((run) => fenceOf(run));
  expect(fences).toHaveLength(64);
  let calls = 0;
  let waiting = fences;
  let refused = 0;
  while (waiting.length > 0) {
    const verdicts = await Promise.all(waiting.map(async (fence) => ({ fence, ...(await fixture.reserve(fence)) })));
    const granted = verdicts.filter(({ kind }) => kind === 'granted');
    refused += verdicts.filter(({ kind }) => kind === 'used up').length;
    const { spent, reserved } = await fixture.get(id);
    expect(spent + reserved).toBeLessThan(10_500 + 1_000);
    await Promise.all(granted.map(({ fence }) => fixture.spend(fence)));
    calls += granted.length;
    waiting = verdicts.filter(({ kind }) => kind === 'wait').map(({ fence }) => fence);
  }
  expect(calls).toBe(11);
  expect(refused).toBe(64 - 11);
  expect(await fixture.get(id)).toMatchObject({ spent: 11_000, reserved: 0 });
});

test('a call that needs more than is left waits for others in progress, and is made alone', async () => {
  const fixture = await budgetFixture();
  const { seq } = await fixture.set({ limit: 1_500 });
  const [one, other] = [await fixture.begin(), await fixture.begin()];
  expect(await fixture.reserve(one)).toEqual({ kind: 'granted' });
  expect(await fixture.reserve(other)).toEqual({ kind: 'wait', budgets: [seq] });
  fixture.free(one);
  expect(await fixture.reserve(other, { tokens: 99_000, usd: 0 })).toEqual({ kind: 'granted' });
});

test('a call that was written down is recorded with the estimate of its prompt after a crash, once', async () => {
  const fixture = await budgetFixture();
  const { id } = await fixture.set({ limit: 1_500 });
  const [lost, other] = [await fixture.begin(), await fixture.begin()];
  await fixture.reserve(lost);
  await fixture.store.budgets.saveHeld(fixture.store.budgets.heldOf(lost));
  await fixture.store.close();
  for (let start = 0; start < 2; start += 1) {
    const store = openStore(fixture.file, fixture.clock);
    onTestFinished(() => store.close());
    await store.runs.rescue('here');
    expect(await store.budgets.find(id, fixture.clock.now())).toMatchObject({ reserved: 0, spent: 700 });
    await store.close();
  }
  const [row] = fixture.rows('SELECT model, input_tokens, cost_usd, estimated, outcome, run_seq FROM usage_records');
  const facts = { model: 'deep', input_tokens: 700, cost_usd: 0.7, estimated: 1, outcome: 'lost' };
  expect(row).toEqual({ ...facts, run_seq: lost.runSeq });
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
  const store = openStore(fixture.file, fixture.clock);
  onTestFinished(() => store.close());
  const claims = await store.runs.claim({
    limit: 9,
    node: 'here',
    leaseMs: 1,
    background: BACKGROUND_CLAIM,
    modelFor: () => 'm',
  });
  const [again] = claims.map(({ run }) => fenceOf(run)).filter(({ runSeq }) => runSeq === other.runSeq);
  const reserve = (fence: Fence) =>
    store.budgets.reserve([{ ...fence, most: MOST, prompt: PROMPT }], { now: fixture.clock.now(), awaited: new Set() });
  expect(await reserve(again!)).toMatchObject([{ kind: 'granted' }]);
  expect(await reserve(lost)).toEqual([{ kind: 'gone' }]);
});

test('a call that has ended is not written down any more, however it ended', async () => {
  const fixture = await budgetFixture();
  const { budgets, runs } = fixture.store;
  await fixture.set({ limit: 9_000 });
  const [kept, unkept, refused, lost] = [1, 2, 3, 4].map(() => fixture.begin());
  for (const fence of [await kept!, await unkept!, await refused!, await lost!]) {
    await fixture.reserve(fence);
    await budgets.saveHeld(budgets.heldOf(fence));
  }
  expect(fixture.rows('SELECT * FROM calls_in_progress')).toHaveLength(4);
  await fixture.spend(await kept!);
  await runs.recordUnkept(await unkept!, { ...aSpentCall(USAGE), outcome: 'stopped' }, FREE);
  await budgets.forget(budgets.heldOf(await refused!)[0]!);
  await budgets.settleLost(budgets.heldOf(await lost!)[0]!);
  expect(fixture.rows('SELECT * FROM calls_in_progress')).toEqual([]);
});

test('a verb that throws in the commit of a call leaves it neither written down nor warned of twice', async () => {
  const fixture = await budgetFixture();
  const warned: number[] = [];
  fixture.store.onBudgetWarning(({ limit }) => warned.push(limit));
  await fixture.set({ limit: 1_100 });
  const fence = await fixture.begin();
  await fixture.reserve(fence);
  await fixture.store.budgets.saveHeld(fixture.store.budgets.heldOf(fence));
  const makeTeam = () => fixture.store.teams.create({ name: 'Green', budgetUsd: null });
  await makeTeam();
  const ends = await Promise.allSettled([fixture.spend(fence), makeTeam()]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(fixture.rows('SELECT * FROM calls_in_progress')).toEqual([]);
  expect(fixture.rows('SELECT * FROM usage_records')).toHaveLength(1);
  expect(warned).toEqual([1_100]);
});

test('a call whose reply is not kept is paid for, also after its run was stopped and its session deleted', async () => {
  const fixture = await budgetFixture();
  const { id } = await fixture.set({ limit: 2_000 });
  const run = await fixture.begin();
  await fixture.reserve(run);
  await fixture.store.runs.stopRun(run, 'user_requested_stop');
  const call = { ...aSpentCall(USAGE), estimated: true, outcome: 'stopped' } as const;
  await fixture.store.runs.recordUnkept(run, call, FREE);
  fixture.free(run);
  expect(await fixture.get(id)).toMatchObject({ spent: 1_000, reserved: 0 });
  const [row] = fixture.rows('SELECT estimated, outcome, step FROM usage_records');
  expect(row).toEqual({ estimated: 1, outcome: 'stopped', step: null });
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  await fixture.store.runs.recordUnkept(run, call, FREE);
  expect((await fixture.get(id)).spent).toBe(2_000);
  // Most of it is used, and the session is gone.
  expect(fixture.rows('SELECT * FROM insights')).toEqual([]);
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('a call waits for a budget that another one awaits, even if there is room; for another budget it does not', async () => {
  const fixture = await budgetFixture();
  const { seq } = await fixture.set({ limit: 9_000 });
  const run = await fixture.begin();
  expect(await fixture.reserve(run, MOST, [seq])).toEqual({ kind: 'wait', budgets: [seq] });
  expect(await fixture.reserve(run, MOST, [seq + 1])).toEqual({ kind: 'granted' });
});

test('a budget knows what was used before it was set, of its own subject and its own period only', async () => {
  const fixture = await budgetFixture();
  const team = await fixture.store.teams.create({ name: 'Red', budgetUsd: null });
  const yesterday = await fixture.begin();
  await fixture.spend(yesterday);
  fixture.clock.advance(86_400_000);
  await fixture.store.users.change('mara', { teamId: team.id });
  await fixture.spend(yesterday);
  const other = await fixture.makeKey();
  await fixture.accept({ key: other });
  await fixture.spend(fenceOf((await fixture.claim())[0]!));
  const spent = async (terms: Partial<BudgetTerms>) => (await fixture.set(terms)).spent;
  expect(await spent({ subject: 'key', period: 'day' })).toBe(1_000);
  expect(await spent({ subject: 'key', period: 'all' })).toBe(2_000);
  expect(await spent({ subject: 'user', period: 'day' })).toBe(2_000);
  expect(await spent({ subject: 'user', period: 'all' })).toBe(3_000);
  const payer = { ...NOBODY, teamId: team.id };
  const ofTeam = { subject: 'team', unit: 'tokens', period: 'all', timeZone: 'UTC', limit: 1, payer } as const;
  expect((await fixture.store.budgets.set(ofTeam, fixture.clock.now)).spent).toBe(2_000);
});

test('a budget that is set, raised, lowered or removed takes effect at the next call', async () => {
  const fixture = await budgetFixture();
  const run = await fixture.begin();
  expect(await fixture.reserve(run)).toEqual({ kind: 'granted' });
  await fixture.spend(run);
  const { id } = await fixture.set({ limit: 1_000 });
  const usedUp = { kind: 'used up', budget: { subject: 'user', period: 'day' } };
  expect(await fixture.reserve(run)).toMatchObject(usedUp);
  expect((await fixture.set({ limit: 1_001 })).id).toBe(id);
  expect(await fixture.reserve(run)).toEqual({ kind: 'granted' });
  await fixture.spend(run);
  expect((await fixture.get(id)).spent).toBe(2_000);
  await fixture.set({ limit: 0 });
  expect(await fixture.reserve(run)).toMatchObject(usedUp);
  await fixture.store.budgets.remove(id);
  expect(await fixture.reserve(run)).toEqual({ kind: 'granted' });
});

test('a day ends at midnight of its zone, and begins again where a clock is put back', async () => {
  const fixture = await budgetFixture();
  const { id, renewsAt } = await fixture.set({ limit: 1_000, timeZone: 'Asia/Kolkata' });
  const run = await fixture.begin();
  await fixture.spend(run);
  expect(await fixture.reserve(run)).toMatchObject({ kind: 'used up', budget: { renewsAt } });
  const setAt = fixture.clock.now();
  expect(new Date(renewsAt!).toISOString()).toMatch(/T18:30:00/);
  fixture.moveTo(renewsAt! - 1);
  expect(await fixture.reserve(run)).toMatchObject({ kind: 'used up' });
  fixture.moveTo(renewsAt!);
  expect(await fixture.reserve(run)).toEqual({ kind: 'granted' });
  await fixture.spend(run, { ...USAGE, inputTokens: 0 });
  expect((await fixture.get(id)).spent).toBe(100);
  fixture.moveTo(setAt);
  expect((await fixture.get(id)).spent).toBe(1_000);
  expect(await fixture.reserve(run)).toMatchObject({ kind: 'used up' });
});

test('a call is settled at the price that is recorded with it, whatever was held back', async () => {
  const fixture = await budgetFixture();
  const { id } = await fixture.set({ unit: 'usd', limit: 5 });
  const run = await fixture.begin();
  const price = { ...NO_PRICE, inputPerMillionUsd: 1_000, outputPerMillionUsd: 1_000 };
  await fixture.reserve(run, mostOf({ inputTokens: 900, outputTokens: 100 }, price));
  expect(await fixture.get(id)).toMatchObject({ reserved: 1, spent: 0 });
  const raised = { ...price, inputPerMillionUsd: 2_000 };
  await fixture.store.runs.recordStep(run, aStep({ usage: USAGE }), { name: 'dear', price: raised });
  fixture.free(run);
  expect(await fixture.get(id)).toMatchObject({ reserved: 0, spent: 1.9 });
});

test('a budget of runs limits each run by what it has used itself', async () => {
  const fixture = await budgetFixture();
  await fixture.set({ subject: 'run', period: 'all', limit: 1_000 });
  const [one, other] = [await fixture.begin(), await fixture.begin()];
  await fixture.spend(one);
  expect(await fixture.reserve(one)).toEqual({
    kind: 'used up',
    budget: { subject: 'run', period: 'all', renewsAt: null },
  });
  expect(await fixture.reserve(other)).toEqual({ kind: 'granted' });
});

test('a turn over a budget is refused, and a repeated request still finds its run', async () => {
  const fixture = await budgetFixture();
  const { renewsAt } = await fixture.set({ limit: 1_000 });
  await fixture.accept({ idempotencyKey: 'once' });
  await fixture.spend(fenceOf((await fixture.claim())[0]!));
  const refused = await fixture.store.runs.accept(aTurn(fixture.user, fixture.key));
  expect(refused).toEqual({ kind: 'over_budget', budget: { subject: 'user', period: 'day', renewsAt } });
  const repeated = await fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), idempotencyKey: 'once' });
  expect(repeated.kind).toBe('replayed');
  fixture.moveTo(renewsAt!);
  await fixture.accept();
});

test('administrators are warned once in a period, when most of a budget is used', async () => {
  const fixture = await budgetFixture();
  const warned: unknown[] = [];
  fixture.store.onBudgetWarning((budget) => warned.push(budget));
  const { id, renewsAt } = await fixture.set({ limit: 3_750, subject: 'key' });
  const reply = async (fence: Fence, ...steps: readonly number[]) => {
    for (const step of steps) {
      await fixture.store.runs.recordStep({ ...fence, workedMs: 0 }, aStep({ step, usage: USAGE }), FREE);
    }
  };
  const run = await fixture.begin();
  await reply(run, 1, 2);
  expect(warned).toEqual([]);
  await reply(run, 3, 4);
  const budget = { id, subject: 'key', unit: 'tokens', period: 'day', limit: 3_750, spent: 3_000, renewsAt };
  expect(warned).toEqual([{ ...budget, name: fixture.key.id }]);
  const all = { userSeq: null, keySeq: null, sessionSeq: null, status: null, limit: 9, offset: 0 };
  const { items } = await fixture.store.insights.list(all);
  expect(items.map(({ title }) => title)).toEqual([`80 % of a budget is used: API key ${fixture.key.id}`]);
  fixture.moveTo(renewsAt!);
  await reply(run, 5, 6, 7);
  expect((await fixture.store.insights.list(all)).total).toBe(2);
});

test('a limit that is raised warns again, also of the same run', async () => {
  const fixture = await budgetFixture();
  const warned: number[] = [];
  fixture.store.onBudgetWarning(({ limit }) => warned.push(limit));
  await fixture.set({ limit: 1_000 });
  const run = await fixture.begin();
  await fixture.spend(run);
  await fixture.set({ limit: 2_000 });
  await fixture.spend(run);
  await fixture.set({ limit: 2_100 });
  await fixture.spend(run);
  expect(warned).toEqual([1_000, 2_000]);
});

test("a team's budget that is raised with the team warns again", async () => {
  const fixture = await budgetFixture();
  const { id } = await fixture.store.teams.create({ name: 'Red', budgetUsd: 1 });
  await fixture.store.users.change(fixture.user.id, { teamId: id });
  const warned: number[] = [];
  fixture.store.onBudgetWarning(({ limit }) => warned.push(limit));
  const run = await fixture.begin();
  const spend = () =>
    fixture.store.runs.recordSpent(run, aSpentCall(USAGE), {
      ...FREE,
      price: { ...NO_PRICE, inputPerMillionUsd: 1_000 },
    });
  await spend();
  await fixture.store.teams.change('Red', { budgetUsd: 2 });
  await spend();
  await spend();
  expect(warned).toEqual([1, 2]);
});

test('a budget of another user is not charged', async () => {
  const fixture = await budgetFixture();
  const other = await fixture.store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  const payer = { ...NOBODY, userSeq: other.seq };
  const terms = { subject: 'user', unit: 'tokens', period: 'all', timeZone: 'UTC', limit: 0, payer } as const;
  const { id } = await fixture.store.budgets.set(terms, fixture.clock.now);
  const run = await fixture.begin();
  await fixture.spend(run);
  expect(await fixture.reserve(run)).toEqual({ kind: 'granted' });
  expect((await fixture.get(id)).spent).toBe(0);
});

test('without any budget a call is neither reserved nor settled; the first one is known at once', async () => {
  const fixture = await budgetFixture();
  const seen: boolean[] = [];
  fixture.store.budgetsInForce.onChange((mayBe) => seen.push(mayBe));
  expect(fixture.store.budgetsInForce.mayBe()).toBe(true);
  await fixture.spend(await fixture.begin());
  expect(fixture.store.budgetsInForce.mayBe()).toBe(false);
  const { id } = await fixture.set({});
  expect(fixture.store.budgetsInForce.mayBe()).toBe(true);
  await fixture.store.budgets.remove(id);
  await fixture.accept();
  expect(seen).toEqual([false, true, false]);
});
