// The gate of budgets: who waits there, what lets them in, and the prices it reckons with.
import { expect, test, vi } from 'vitest';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { makeBudgetGate, shareBudgets } from '../../../src/execution/executor/budget-gate.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { aStep, fenceOf, FREE, storeHouse } from '../../support/store/store-house.ts';

const CALL = { model: 'deep', inputTokens: 900, outputTokens: 100 };
const PRICE = { ...NO_PRICE, inputPerMillionUsd: 1_000, outputPerMillionUsd: 1_000 };

async function gateHouse(limit: number, unit: 'usd' | 'tokens' = 'tokens') {
  const house = await storeHouse();
  const prices = { current: PRICE };
  const models = () => new Map([['deep', { price: prices.current }]]);
  const catalog = () => ({ models: models() }) as never;
  const gate = makeBudgetGate({ store: house.store, clock: house.clock, log: makeLog({ level: 'fatal' }), catalog });
  const payer = { keySeq: null, userSeq: house.user.seq, teamId: null };
  const terms = { subject: 'user', unit, period: 'all', timeZone: 'UTC', limit, payer } as const;
  const { id } = await house.store.budgets.set(terms, house.clock.now);
  const begin = async () => {
    await house.accept();
    return fenceOf((await house.claim())[0]!);
  };
  const budget = async () => (await house.store.budgets.find(id, house.clock.now()))!;
  const reserved = async () => (await budget()).reserved;
  /** The call of the run ends with its reply. */
  const reply = (run: Progress) => {
    const recorded = house.store.runs.recordStep(run, aStep({ usage }), FREE);
    gate.settles(run, recorded);
    return recorded;
  };
  return { ...house, gate, prices, terms, begin, budget, reserved, reply };
}

/** Whether it has settled once all that was asked of the store is done. */
async function isOpen(promise: Promise<unknown>, { store }: Awaited<ReturnType<typeof gateHouse>>): Promise<boolean> {
  let open = false;
  void promise.then(() => (open = true));
  for (let turn = 0; turn < 5; turn += 1) await store.budgets.settleLeft();
  return open;
}

const usage = { inputTokens: 400, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

test('a call waits until the call in progress is recorded, and fails once nothing is left', async () => {
  const house = await gateHouse(1_000);
  const [one, other, third] = [await house.begin(), await house.begin(), await house.begin()];
  expect(await house.gate.hold(one, CALL)).toEqual({ refusal: null });
  const waits = house.gate.hold(other, CALL);
  expect(await isOpen(waits, house)).toBe(false);
  await house.reply(one);
  expect(await waits).toEqual({ refusal: null });
  await house.reply(other);
  const { refusal } = await house.gate.hold(third, CALL);
  expect(refusal).toEqual({
    type: 'budget_error',
    message: 'The budget of this user is used up. It does not renew.',
    retryable: false,
  });
});

test('a call that cost nothing lets the next one in', async () => {
  const house = await gateHouse(1_000);
  const [one, other] = [await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const waits = house.gate.hold(other, CALL);
  expect(await isOpen(waits, house)).toBe(false);
  house.gate.refused(one);
  expect(await waits).toEqual({ refusal: null });
});

test('however many calls end, those that wait look twenty times a second', async () => {
  const house = await gateHouse(1_000);
  const [one, other] = [await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const asked = vi.spyOn(house.store.budgets, 'reserve');
  const waits = house.gate.hold(other, CALL);
  for (let ended = 0; ended < 20; ended += 1) {
    await house.gate.ended(await house.begin());
    house.gate.settles(one, Promise.resolve(false));
    expect(await isOpen(waits, house)).toBe(false);
  }
  expect(asked).toHaveBeenCalledTimes(2);
  await house.gate.ended(one);
  house.clock.advance(50);
  expect(await waits).toEqual({ refusal: null });
});

test('a call that wants much goes before those that come later and want little, of its own budget only', async () => {
  const house = await gateHouse(2_000);
  const [one, large, small, later] = [
    await house.begin(),
    await house.begin(),
    await house.begin(),
    await house.begin(),
  ];
  await house.gate.hold(one, CALL);
  const largeWaits = house.gate.hold(large, { ...CALL, inputTokens: 1_800 });
  expect(await isOpen(largeWaits, house)).toBe(false);
  // There is room for it, but a stream of such calls would keep the large one out for ever.
  const smallWaits = house.gate.hold(small, CALL);
  expect(await isOpen(smallWaits, house)).toBe(false);
  const olga = await house.store.users.create({ ...house.user, username: 'olga', passwordHash: 'x' });
  const payer = { keySeq: null, userSeq: olga.seq, teamId: null };
  await house.store.budgets.set({ ...house.terms, payer }, house.clock.now);
  house.change(`UPDATE runs SET user_seq = ${olga.seq} WHERE seq = ${later.runSeq}`);
  expect(await house.gate.hold(later, CALL)).toEqual({ refusal: null });
  await house.reply(one);
  expect(await isOpen(smallWaits, house)).toBe(false);
  house.gate.refused(large);
  house.clock.advance(1_000);
  expect(await largeWaits).toEqual({ refusal: null });
  house.gate.refused(large);
  house.clock.advance(1_000);
  expect(await smallWaits).toEqual({ refusal: null });
});

test('a run that is stopped while it waits lets those behind it pass within a second', async () => {
  const house = await gateHouse(2_000);
  const [one, large, small] = [await house.begin(), await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const largeWaits = house.gate.hold(large, { ...CALL, inputTokens: 1_800 });
  const smallWaits = house.gate.hold(small, CALL);
  expect(await isOpen(Promise.race([largeWaits, smallWaits]), house)).toBe(false);
  await house.store.runs.stopRun(large, 'user_requested_stop');
  house.clock.advance(1_000);
  expect(await Promise.all([largeWaits, smallWaits])).toEqual([{ refusal: null }, { refusal: null }]);
  expect(await house.reserved()).toBe(2_000);
});

test('a call of which nothing is heard is paid for by the estimate of its prompt, when its attempt has ended', async () => {
  const house = await gateHouse(5_000);
  const run = await house.begin();
  await house.gate.hold(run, CALL);
  await house.store.runs.interrupt(run, 'crash');
  await house.gate.ended(run);
  expect(await house.budget()).toMatchObject({ spent: 900, reserved: 0 });
  const [row] = house.rows('SELECT model, input_tokens, output_tokens, estimated, outcome FROM usage_records');
  expect(row).toEqual({ model: 'deep', input_tokens: 900, output_tokens: 0, estimated: 1, outcome: 'lost' });
});

test('a call that was recorded is not paid for twice, however late its record is committed', async () => {
  const house = await gateHouse(5_000);
  const run = await house.begin();
  await house.gate.hold(run, CALL);
  void house.reply(run);
  await house.gate.ended(run);
  expect(await house.budget()).toMatchObject({ spent: 500, reserved: 0 });
});

test('a call whose record was refused stays held until its attempt has ended, and is paid for then', async () => {
  const house = await gateHouse(5_000);
  const run = await house.begin();
  await house.gate.hold(run, CALL);
  house.gate.settles(run, Promise.reject(new Error('full')));
  expect(await house.reserved()).toBe(1_000);
  await house.gate.ended(run);
  expect(await house.budget()).toMatchObject({ spent: 900, reserved: 0 });
});

test('calls in progress are written down after a second, and what ends before costs no statement', async () => {
  const house = await gateHouse(9_000);
  const saved = vi.spyOn(house.store.budgets, 'saveHeld');
  const [short, long] = [await house.begin(), await house.begin()];
  await house.gate.hold(short, CALL);
  await house.reply(short);
  house.clock.advance(1_000);
  expect(saved).not.toHaveBeenCalled();
  await house.gate.hold(long, CALL);
  house.clock.advance(1_000);
  expect(saved).toHaveBeenCalledTimes(1);
  await saved.mock.results[0]!.value;
  expect(house.rows('SELECT run_seq FROM calls_in_progress')).toEqual([{ run_seq: long.runSeq }]);
  house.gate.refused(long);
  await house.store.budgets.settleLeft();
  expect((await house.budget()).spent).toBe(500);
});

test('each call is held at the price of its moment; a model without one costs nothing', async () => {
  const house = await gateHouse(10, 'usd');
  const run = await house.begin();
  await house.gate.hold(run, CALL);
  expect(await house.reserved()).toBe(1);
  house.gate.refused(run);
  house.prices.current = { ...PRICE, cacheWritePerMillionUsd: 2_000 };
  await house.gate.hold(run, CALL);
  expect(await house.reserved()).toBe(1.9);
  house.gate.refused(run);
  await house.gate.hold(run, { ...CALL, model: 'unknown' });
  expect(await house.reserved()).toBe(0);
});

test('workers learn of the first budget before it is committed, and of the last one’s end', async () => {
  const house = await storeHouse();
  const shared = shareBudgets(house.store.budgetsInForce);
  expect(shared[0]).toBe(1);
  await house.accept();
  expect(shared[0]).toBe(0);
  const payer = { keySeq: null, userSeq: house.user.seq, teamId: null };
  const terms = { subject: 'user', unit: 'usd', period: 'day', timeZone: 'UTC', limit: 1, payer } as const;
  const { id } = await house.store.budgets.set(terms, house.clock.now);
  expect(shared[0]).toBe(1);
  await house.store.budgets.remove(id);
  await house.accept();
  expect(shared[0]).toBe(0);
});
