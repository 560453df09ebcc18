// The gate of budgets: who waits there, what lets them in, and the prices it reckons with.
import { expect, test, vi } from 'vitest';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { makeBudgetGate, shareBudgets } from '../../../src/execution/executor/budget-gate.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { StorageRefusal } from '../../../src/store/engine/storage-refusal.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

const CALL = { model: 'deep', inputTokens: 900, outputTokens: 100 };
const PRICE = { ...NO_PRICE, inputPerMillionUsd: 1_000, outputPerMillionUsd: 1_000 };

async function gateFixture(limit: number, unit: 'usd' | 'tokens' = 'tokens') {
  const fixture = await storeFixture();
  const prices = { current: PRICE };
  const models = () => new Map([['deep', { price: prices.current }]]);
  const catalog = () => ({ models: models() }) as never;
  const gate = makeBudgetGate({
    store: fixture.store,
    clock: fixture.clock,
    log: makeLog({ level: 'fatal' }),
    catalog,
  });
  const payer = { keySeq: null, userSeq: fixture.user.seq, teamId: null };
  const terms = { subject: 'user', unit, period: 'all', timeZone: 'UTC', limit, payer } as const;
  const { id } = await fixture.store.budgets.set(terms, fixture.clock.now);
  const begin = async () => {
    await fixture.accept();
    return fenceOf((await fixture.claim())[0]!);
  };
  const budget = async () => (await fixture.store.budgets.find(id, fixture.clock.now()))!;
  const reserved = async () => (await budget()).reserved;
  /** The call of the run ends with its reply. */
  const reply = (run: Progress) => {
    const recorded = fixture.store.runs.recordStep(run, aStep({ usage }), FREE);
    gate.settles(run, recorded);
    return recorded;
  };
  return { ...fixture, gate, prices, terms, begin, budget, reserved, reply };
}

/** All that was asked of the store is done. */
const settled = ({ nodes }: Pick<Store, 'nodes'>) => nodes.leave({ id: 'none', process: 'none' });

/** Whether it has settled once all that was asked of the store is done. */
async function isOpen(promise: Promise<unknown>, { store }: Awaited<ReturnType<typeof gateFixture>>): Promise<boolean> {
  let open = false;
  void promise.then(() => (open = true));
  for (let turn = 0; turn < 5; turn += 1) await settled(store);
  return open;
}

const usage = { inputTokens: 400, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

test('a call waits until the call in progress is recorded, and fails once nothing is left', async () => {
  const fixture = await gateFixture(1_000);
  const [one, other, third] = [await fixture.begin(), await fixture.begin(), await fixture.begin()];
  expect(await fixture.gate.hold(one, CALL)).toEqual({ refusal: null });
  const waits = fixture.gate.hold(other, CALL);
  expect(await isOpen(waits, fixture)).toBe(false);
  await fixture.reply(one);
  expect(await waits).toEqual({ refusal: null });
  await fixture.reply(other);
  const { refusal } = await fixture.gate.hold(third, CALL);
  expect(refusal).toEqual({
    type: 'budget_error',
    message: 'The budget of this user is used up. It does not renew.',
    retryable: false,
  });
});

test('a call that cost nothing lets the next one in', async () => {
  const fixture = await gateFixture(1_000);
  const [one, other] = [await fixture.begin(), await fixture.begin()];
  await fixture.gate.hold(one, CALL);
  const waits = fixture.gate.hold(other, CALL);
  expect(await isOpen(waits, fixture)).toBe(false);
  fixture.gate.refused(one);
  expect(await waits).toEqual({ refusal: null });
});

test('however many calls end, those that wait look twenty times a second', async () => {
  const fixture = await gateFixture(1_000);
  const [one, other] = [await fixture.begin(), await fixture.begin()];
  await fixture.gate.hold(one, CALL);
  const asked = vi.spyOn(fixture.store.budgets, 'reserve');
  const waits = fixture.gate.hold(other, CALL);
  for (let ended = 0; ended < 20; ended += 1) {
    await fixture.gate.ended(await fixture.begin());
    fixture.gate.settles(one, Promise.resolve(false));
    expect(await isOpen(waits, fixture)).toBe(false);
  }
  expect(asked).toHaveBeenCalledTimes(2);
  await fixture.gate.ended(one);
  fixture.clock.advance(50);
  expect(await waits).toEqual({ refusal: null });
});

test('a call that wants much goes before those that come later and want little, of its own budget only', async () => {
  const fixture = await gateFixture(2_000);
  const [one, large, small, later] = [
    await fixture.begin(),
    await fixture.begin(),
    await fixture.begin(),
    await fixture.begin(),
  ];
  await fixture.gate.hold(one, CALL);
  const largeWaits = fixture.gate.hold(large, { ...CALL, inputTokens: 1_800 });
  expect(await isOpen(largeWaits, fixture)).toBe(false);
  // There is room for it, but a stream of such calls would keep the large one out for ever.
  const smallWaits = fixture.gate.hold(small, CALL);
  expect(await isOpen(smallWaits, fixture)).toBe(false);
  const olga = await fixture.store.users.create({ ...fixture.user, username: 'olga', passwordHash: 'x' });
  const payer = { keySeq: null, userSeq: olga.seq, teamId: null };
  await fixture.store.budgets.set({ ...fixture.terms, payer }, fixture.clock.now);
  fixture.change(`UPDATE runs SET user_seq = ${olga.seq} WHERE seq = ${later.runSeq}`);
  expect(await fixture.gate.hold(later, CALL)).toEqual({ refusal: null });
  await fixture.reply(one);
  expect(await isOpen(smallWaits, fixture)).toBe(false);
  fixture.gate.refused(large);
  fixture.clock.advance(1_000);
  expect(await largeWaits).toEqual({ refusal: null });
  fixture.gate.refused(large);
  fixture.clock.advance(1_000);
  expect(await smallWaits).toEqual({ refusal: null });
});

test('a run that is stopped while it waits lets those behind it pass within a second', async () => {
  const fixture = await gateFixture(2_000);
  const [one, large, small] = [await fixture.begin(), await fixture.begin(), await fixture.begin()];
  await fixture.gate.hold(one, CALL);
  const largeWaits = fixture.gate.hold(large, { ...CALL, inputTokens: 1_800 });
  const smallWaits = fixture.gate.hold(small, CALL);
  expect(await isOpen(Promise.race([largeWaits, smallWaits]), fixture)).toBe(false);
  await fixture.store.runs.stopRun(large, 'user_requested_stop');
  fixture.clock.advance(1_000);
  expect(await Promise.all([largeWaits, smallWaits])).toEqual([{ refusal: null }, { refusal: null }]);
  expect(await fixture.reserved()).toBe(2_000);
});

test('a run that ends while its budget is asked holds nothing back', async () => {
  const fixture = await gateFixture(2_000);
  const run = await fixture.begin();
  const { reserve } = fixture.store.budgets;
  vi.spyOn(fixture.store.budgets, 'reserve').mockImplementationOnce(async (...args) => {
    await fixture.gate.ended(run);
    // It finds the run as it was before its end.
    return reserve(...args);
  });
  expect(await fixture.gate.hold(run, CALL)).toEqual({ refusal: null });
  await settled(fixture.store);
  expect(await fixture.reserved()).toBe(0);
});

test('a call of which nothing is heard is paid for by the estimate of its prompt, when its attempt has ended', async () => {
  const fixture = await gateFixture(5_000);
  const run = await fixture.begin();
  await fixture.gate.hold(run, CALL);
  await fixture.store.runs.interrupt(run, 'crash');
  await fixture.gate.ended(run);
  expect(await fixture.budget()).toMatchObject({ spent: 900, reserved: 0 });
  const [row] = fixture.rows('SELECT model, input_tokens, output_tokens, estimated, outcome FROM usage_records');
  expect(row).toEqual({ model: 'deep', input_tokens: 900, output_tokens: 0, estimated: 1, outcome: 'lost' });
});

test('a call that was recorded is not paid for twice, however late its record is committed', async () => {
  const fixture = await gateFixture(5_000);
  const run = await fixture.begin();
  await fixture.gate.hold(run, CALL);
  void fixture.reply(run);
  await fixture.gate.ended(run);
  expect(await fixture.budget()).toMatchObject({ spent: 500, reserved: 0 });
});

test('a call whose record was refused stays held until its attempt has ended, and is paid for then', async () => {
  const fixture = await gateFixture(5_000);
  const run = await fixture.begin();
  await fixture.gate.hold(run, CALL);
  fixture.gate.settles(run, Promise.reject(new Error('full')));
  expect(await fixture.reserved()).toBe(1_000);
  await fixture.gate.ended(run);
  expect(await fixture.budget()).toMatchObject({ spent: 900, reserved: 0 });
});

test('where the storage refuses the record of a lost call, it stays held, and is recorded once the storage works', async () => {
  const fixture = await gateFixture(5_000);
  const run = await fixture.begin();
  await fixture.gate.hold(run, CALL);
  const settle = vi.spyOn(fixture.store.budgets, 'settleLost');
  settle.mockRejectedValueOnce(new StorageRefusal('away', { passes: true, cause: null }));
  await fixture.store.runs.interrupt(run, 'crash');
  await fixture.gate.ended(run);
  await fixture.gate.ended(run);
  expect(await fixture.budget()).toMatchObject({ spent: 0, reserved: 1_000 });
  fixture.clock.advance(1_000);
  await expect.poll(fixture.budget).toMatchObject({ spent: 900, reserved: 0 });
  expect(settle).toHaveBeenCalledTimes(2);
});

test('an attempt that begins before the end of the one before it leaves its call to be recorded', async () => {
  const fixture = await gateFixture(5_000);
  const first = await fixture.begin();
  await fixture.gate.hold(first, CALL);
  await fixture.store.runs.interrupt(first, 'crash');
  const second = fenceOf((await fixture.claim())[0]!);
  await fixture.gate.hold(second, CALL);
  expect(await fixture.reserved()).toBe(2_000);
  await fixture.gate.ended(first);
  expect(await fixture.budget()).toMatchObject({ spent: 900, reserved: 1_000 });
  await fixture.reply(second);
  await fixture.gate.ended(second);
  expect(await fixture.budget()).toMatchObject({ spent: 1_400, reserved: 0 });
});

test('calls in progress are written down after a second, and what ends before costs no statement', async () => {
  const fixture = await gateFixture(9_000);
  const saved = vi.spyOn(fixture.store.budgets, 'saveHeld');
  const [short, long] = [await fixture.begin(), await fixture.begin()];
  await fixture.gate.hold(short, CALL);
  await fixture.reply(short);
  fixture.clock.advance(1_000);
  expect(saved).not.toHaveBeenCalled();
  await fixture.gate.hold(long, CALL);
  fixture.clock.advance(1_000);
  expect(saved).toHaveBeenCalledTimes(1);
  await saved.mock.results[0]!.value;
  expect(fixture.rows('SELECT run_seq FROM calls_in_progress')).toEqual([{ run_seq: long.runSeq }]);
  fixture.gate.refused(long);
  await settled(fixture.store);
  expect((await fixture.budget()).spent).toBe(500);
});

test('each call is held at the price of its moment; a model without one costs nothing', async () => {
  const fixture = await gateFixture(10, 'usd');
  const run = await fixture.begin();
  await fixture.gate.hold(run, CALL);
  expect(await fixture.reserved()).toBe(1);
  fixture.gate.refused(run);
  fixture.prices.current = { ...PRICE, cacheWritePerMillionUsd: 2_000 };
  await fixture.gate.hold(run, CALL);
  expect(await fixture.reserved()).toBe(1.9);
  fixture.gate.refused(run);
  await fixture.gate.hold(run, { ...CALL, model: 'unknown' });
  expect(await fixture.reserved()).toBe(0);
});

test('workers learn of the first budget before it is committed, and of the last one’s end', async () => {
  const fixture = await storeFixture();
  const shared = shareBudgets(fixture.store.budgetsInForce);
  expect(shared[0]).toBe(1);
  await fixture.accept();
  expect(shared[0]).toBe(0);
  const payer = { keySeq: null, userSeq: fixture.user.seq, teamId: null };
  const terms = { subject: 'user', unit: 'usd', period: 'day', timeZone: 'UTC', limit: 1, payer } as const;
  const { id } = await fixture.store.budgets.set(terms, fixture.clock.now);
  expect(shared[0]).toBe(1);
  await fixture.store.budgets.remove(id);
  await fixture.accept();
  expect(shared[0]).toBe(0);
});
