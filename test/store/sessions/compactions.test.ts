// Summaries in the store: fenced, journaled, and the newest one found.
import { expect, test } from 'vitest';
import { fenceOf, storeHouse } from '../../support/store/store-house.ts';

test('a summary is kept with its event, and the newest of the session is found', async () => {
  const house = await storeHouse();
  const { compactions } = house.store;
  const accepted = await house.accept();
  const [run] = await house.claim();
  expect(await compactions.findNewest(run!.sessionSeq)).toBeUndefined();
  expect(await compactions.record(fenceOf(run!), { step: 0, summary: 'one', characters: 900 })).toBe(true);
  expect(await compactions.record(fenceOf(run!), { step: 3, summary: 'two', characters: 400 })).toBe(true);
  expect(await compactions.findNewest(run!.sessionSeq)).toEqual({ runSeq: accepted.seq, step: 3, summary: 'two' });
  const events = house.committed.filter(({ type }) => type === 'run.compacted');
  expect(events.map(({ payload, runSeq }) => ({ payload, runSeq }))).toEqual([
    { payload: { step: 0, characters: 900 }, runSeq: accepted.seq },
    { payload: { step: 3, characters: 400 }, runSeq: accepted.seq },
  ]);
  const other = await house.accept();
  expect(await compactions.findNewest(other.sessionSeq)).toBeUndefined();
});

test('a summary of an attempt that no longer holds the run leaves nothing behind', async () => {
  const house = await storeHouse();
  await house.accept();
  const [run] = await house.claim();
  await house.store.runs.interrupt(fenceOf(run!), 'crash');
  const [again] = await house.claim();
  expect(await house.store.compactions.record(fenceOf(run!), { step: 1, summary: 'late', characters: 1 })).toBe(false);
  expect(await house.store.compactions.findNewest(again!.sessionSeq)).toBeUndefined();
  expect(house.committed.some(({ type }) => type === 'run.compacted')).toBe(false);
});
