// The watch over questions: they expire when their time is over, also after a restart, and nothing is missed.
import { expect, test, vi } from 'vitest';
import { makeQuestionWatch } from '../../../src/execution/queue/question-watch.ts';
import { makeLog } from '../../../src/log/log.ts';
import { openStore } from '../../support/store/open-store.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const HOUR_MS = 3_600_000;

async function asked(fixture: StoreFixture, lifetimeMs: number) {
  const run = await fixture.accept();
  await fixture.claim();
  const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: 1, workedMs: 0 };
  const question = { toolUseId: 'ask1', toolName: 'ask_user', toolInput: { question: 'Well?' }, lifetimeMs };
  expect(await fixture.store.runs.waitForUser(fence, question)).toBe(true);
  return run;
}

function watchOver(fixture: StoreFixture, store = fixture.store) {
  return makeQuestionWatch({ store, clock: fixture.clock, log: makeLog({ level: 'fatal' }) });
}

const statusOf = async (fixture: StoreFixture, { seq }: { seq: number }) => (await fixture.store.runs.get(seq)).status;

test('a question expires at its time and not before, and its run continues', async () => {
  const fixture = await storeFixture();
  const run = await asked(fixture, HOUR_MS);
  const watch = watchOver(fixture);
  watch.wake();
  fixture.clock.advance(HOUR_MS - 1);
  expect(await statusOf(fixture, run)).toBe('waiting');
  // The looks in between have to come to an end before the last one is due.
  await waitFor(async () => {
    fixture.clock.advance(1);
    return (await statusOf(fixture, run)) === 'queued';
  });
  await watch.stop();
  expect(fixture.committed.filter(({ type }) => type === 'user_input.expired')).toHaveLength(1);
  const [again] = await fixture.claim();
  expect(fenceOf(again!)).toMatchObject({ runSeq: run.seq, attempt: 2 });
});

test('an earlier question that comes later is not waited for too long', async () => {
  const fixture = await storeFixture();
  await asked(fixture, HOUR_MS);
  const watch = watchOver(fixture);
  watch.wake();
  const run = await asked(fixture, 1_000);
  watch.wake();
  fixture.clock.advance(1_000);
  await waitFor(async () => (await statusOf(fixture, run)) === 'queued');
  await watch.stop();
});

test('what expired while no daemon ran is found at the next start', async () => {
  const fixture = await storeFixture();
  const run = await asked(fixture, HOUR_MS);
  fixture.clock.advance(5 * HOUR_MS);
  const reopened = openStore(fixture.file, fixture.clock);
  const watch = watchOver(fixture, reopened);
  watch.wake();
  fixture.clock.advance(1);
  await waitFor(async () => (await statusOf(fixture, run)) === 'queued');
  await watch.stop();
  await reopened.close();
});

test('a jump of the wall clock is noticed within a minute', async () => {
  const fixture = await storeFixture();
  const run = await asked(fixture, HOUR_MS);
  const watch = watchOver(fixture);
  watch.wake();
  fixture.clock.jump(HOUR_MS);
  fixture.clock.advance(60_000);
  await waitFor(async () => (await statusOf(fixture, run)) === 'queued');
  await watch.stop();
});

test('a long list expires completely, and other writers get their turn in between', async () => {
  const fixture = await storeFixture();
  const runs = [];
  for (let count = 0; count < 450; count += 1) runs.push(await asked(fixture, 1_000));
  const expireDue = vi.spyOn(fixture.store.userInputs, 'expireDue');
  const watch = watchOver(fixture);
  watch.wake();
  fixture.clock.advance(1_000);
  await waitFor(async () => {
    fixture.clock.advance(1);
    return (await fixture.store.userInputs.nextExpiryAt()) === undefined;
  });
  await watch.stop();
  expect(expireDue).toHaveBeenCalledTimes(3);
  expect(await fixture.store.runs.countUnfinished()).toMatchObject({ queued: 450, waiting: 0 });
});

test('a disk that refuses is asked again', async () => {
  const fixture = await storeFixture();
  const run = await asked(fixture, 1_000);
  let refusals = 1;
  const store = {
    ...fixture.store,
    userInputs: {
      ...fixture.store.userInputs,
      expireDue: async () => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('disk full');
        return fixture.store.userInputs.expireDue();
      },
    },
  };
  const watch = watchOver(fixture, store);
  watch.wake();
  fixture.clock.advance(1_000);
  await waitFor(async () => {
    fixture.clock.advance(1_000);
    return (await statusOf(fixture, run)) === 'queued';
  });
  await watch.stop();
});

test('without a pending question there is nothing to do, and a stopped watch does nothing more', async () => {
  const fixture = await storeFixture();
  const watch = watchOver(fixture);
  watch.wake();
  await watch.stop();
  const run = await asked(fixture, 1);
  watch.wake();
  fixture.clock.advance(HOUR_MS);
  expect(await statusOf(fixture, run)).toBe('waiting');
  expect(fixture.committed.some(({ type }) => type === 'user_input.expired')).toBe(false);
});
