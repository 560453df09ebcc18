// The gate of budgets: who waits there, what lets them in, and the prices it reckons with.
import { expect, test, vi } from 'vitest';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { makeBudgetGate, shareBudgets } from '../../../src/execution/executor/budget-gate.ts';
import { makeLog } from '../../../src/log/log.ts';
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
  const reserved = async () => (await house.store.budgets.find(id, house.clock.now()))?.reserved;
  return { ...house, gate, prices, terms, begin, reserved };
}

/** Whether it has settled once all that was asked of the store is done. */
async function isOpen(promise: Promise<unknown>, { store }: Awaited<ReturnType<typeof gateHouse>>): Promise<boolean> {
  let open = false;
  void promise.then(() => (open = true));
  for (let turn = 0; turn < 5; turn += 1) await store.budgets.release({ runSeq: 0, attempt: 0 });
  return open;
}

const usage = { inputTokens: 400, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

test('a call waits until the call in progress is recorded, and fails once nothing is left', async () => {
  const house = await gateHouse(1_000);
  const [one, other, third] = [await house.begin(), await house.begin(), await house.begin()];
  expect(await house.gate.hold(one, CALL)).toEqual({ refusal: null });
  const waits = house.gate.hold(other, CALL);
  expect(await isOpen(waits, house)).toBe(false);
  await house.store.runs.recordStep(one, aStep({ usage }), FREE);
  house.gate.settled();
  expect(await waits).toEqual({ refusal: null });
  await house.store.runs.recordStep(other, aStep({ usage }), FREE);
  const { refusal } = await house.gate.hold(third, CALL);
  expect(refusal).toEqual({
    type: 'budget_error',
    message: 'The budget of this user is used up. It does not renew.',
    retryable: false,
  });
});

test('a call that failed lets the next one in', async () => {
  const house = await gateHouse(1_000);
  const [one, other] = [await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const waits = house.gate.hold(other, CALL);
  expect(await isOpen(waits, house)).toBe(false);
  house.gate.failed(one);
  expect(await waits).toEqual({ refusal: null });
});

test('however many calls end, those that wait look twenty times a second', async () => {
  const house = await gateHouse(1_000);
  const [one, other] = [await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const asked = vi.spyOn(house.store.budgets, 'reserve');
  const waits = house.gate.hold(other, CALL);
  for (let ended = 0; ended < 100; ended += 1) {
    house.gate.settled();
    expect(await isOpen(waits, house)).toBe(false);
  }
  expect(asked).toHaveBeenCalledTimes(2);
  await house.store.runs.recordStep(one, aStep({ usage }), FREE);
  house.clock.advance(50);
  expect(await waits).toEqual({ refusal: null });
});

test('what changes without a call is noticed within a second: a stop of another run, and one of its own', async () => {
  const house = await gateHouse(1_000);
  const [one, other, third] = [await house.begin(), await house.begin(), await house.begin()];
  await house.gate.hold(one, CALL);
  const waits = [house.gate.hold(other, CALL), house.gate.hold(third, CALL)];
  expect(await isOpen(Promise.all(waits), house)).toBe(false);
  await house.store.runs.stopRun(third, 'user_requested_stop');
  house.clock.advance(1_000);
  expect(await waits[1]).toEqual({ refusal: null });
  expect(await isOpen(waits[0]!, house)).toBe(false);
  await house.store.runs.stopRun(one, 'user_requested_stop');
  house.clock.advance(1_000);
  expect(await waits[0]).toEqual({ refusal: null });
});

test('each call is held at the price of its moment; a model without one costs nothing', async () => {
  const house = await gateHouse(10, 'usd');
  const run = await house.begin();
  await house.gate.hold(run, CALL);
  expect(await house.reserved()).toBe(1);
  house.prices.current = { ...PRICE, cacheWritePerMillionUsd: 2_000 };
  await house.gate.hold(run, CALL);
  expect(await house.reserved()).toBe(1.9);
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
