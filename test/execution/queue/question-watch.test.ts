// The watch over questions: they expire when their time is over, also after a restart, and nothing is missed.
import { expect, test, vi } from 'vitest';
import { makeQuestionWatch } from '../../../src/execution/queue/question-watch.ts';
import { makeLog } from '../../../src/log/log.ts';
import { openStore } from '../../support/store/open-store.ts';
import { fenceOf, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const HOUR_MS = 3_600_000;

async function asked(house: StoreHouse, lifetimeMs: number) {
  const run = await house.accept();
  await house.claim();
  const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: 1, workedMs: 0 };
  const question = { toolUseId: 'ask1', toolName: 'ask_user', toolInput: { question: 'Well?' }, lifetimeMs };
  expect(await house.store.runs.waitForUser(fence, question)).toBe(true);
  return run;
}

function watchOver(house: StoreHouse, store = house.store) {
  return makeQuestionWatch({ store, clock: house.clock, log: makeLog({ level: 'fatal' }) });
}

const statusOf = async (house: StoreHouse, { seq }: { seq: number }) => (await house.store.runs.get(seq)).status;

test('a question expires at its time and not before, and its run continues', async () => {
  const house = await storeHouse();
  const run = await asked(house, HOUR_MS);
  const watch = watchOver(house);
  watch.wake();
  house.clock.advance(HOUR_MS - 1);
  expect(await statusOf(house, run)).toBe('waiting');
  // The looks in between have to come to an end before the last one is due.
  await waitFor(async () => {
    house.clock.advance(1);
    return (await statusOf(house, run)) === 'queued';
  });
  await watch.stop();
  expect(house.committed.filter(({ type }) => type === 'user_input.expired')).toHaveLength(1);
  const [again] = await house.claim();
  expect(fenceOf(again!)).toMatchObject({ runSeq: run.seq, attempt: 2 });
});

test('an earlier question that comes later is not waited for too long', async () => {
  const house = await storeHouse();
  await asked(house, HOUR_MS);
  const watch = watchOver(house);
  watch.wake();
  const run = await asked(house, 1_000);
  watch.wake();
  house.clock.advance(1_000);
  await waitFor(async () => (await statusOf(house, run)) === 'queued');
  await watch.stop();
});

test('what expired while no daemon ran is found at the next start', async () => {
  const house = await storeHouse();
  const run = await asked(house, HOUR_MS);
  house.clock.advance(5 * HOUR_MS);
  const reopened = openStore(house.file, house.clock);
  const watch = watchOver(house, reopened);
  watch.wake();
  house.clock.advance(1);
  await waitFor(async () => (await statusOf(house, run)) === 'queued');
  await watch.stop();
  await reopened.close();
});

test('a jump of the wall clock is noticed within a minute', async () => {
  const house = await storeHouse();
  const run = await asked(house, HOUR_MS);
  const watch = watchOver(house);
  watch.wake();
  house.clock.jump(HOUR_MS);
  house.clock.advance(60_000);
  await waitFor(async () => (await statusOf(house, run)) === 'queued');
  await watch.stop();
});

test('a long list expires completely, and other writers get their turn in between', async () => {
  const house = await storeHouse();
  const runs = [];
  for (let count = 0; count < 450; count += 1) runs.push(await asked(house, 1_000));
  const expireDue = vi.spyOn(house.store.userInputs, 'expireDue');
  const watch = watchOver(house);
  watch.wake();
  house.clock.advance(1_000);
  await waitFor(async () => {
    house.clock.advance(1);
    return (await house.store.userInputs.nextExpiryAt()) === undefined;
  });
  await watch.stop();
  expect(expireDue).toHaveBeenCalledTimes(3);
  expect(await house.store.runs.countUnfinished()).toMatchObject({ queued: 450, waiting: 0 });
});

test('a disk that refuses is asked again', async () => {
  const house = await storeHouse();
  const run = await asked(house, 1_000);
  let refusals = 1;
  const store = {
    ...house.store,
    userInputs: {
      ...house.store.userInputs,
      expireDue: async () => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('disk full');
        return house.store.userInputs.expireDue();
      },
    },
  };
  const watch = watchOver(house, store);
  watch.wake();
  house.clock.advance(1_000);
  await waitFor(async () => {
    house.clock.advance(1_000);
    return (await statusOf(house, run)) === 'queued';
  });
  await watch.stop();
});

test('without a pending question there is nothing to do, and a stopped watch does nothing more', async () => {
  const house = await storeHouse();
  const watch = watchOver(house);
  watch.wake();
  await watch.stop();
  const run = await asked(house, 1);
  watch.wake();
  house.clock.advance(HOUR_MS);
  expect(await statusOf(house, run)).toBe('waiting');
  expect(house.committed.some(({ type }) => type === 'user_input.expired')).toBe(false);
});
