// Summaries in the store: fenced, journaled, and the newest one found.
import { expect, test } from 'vitest';
import { fenceOf, storeFixture } from '../../support/store/store-fixture.ts';

test('a summary is kept with its event, and the newest of the session is found', async () => {
  const fixture = await storeFixture();
  const { compactions } = fixture.store;
  const accepted = await fixture.accept();
  const [run] = await fixture.claim();
  expect(await compactions.findNewest(run!.sessionSeq)).toBeUndefined();
  expect(await compactions.record(fenceOf(run!), { step: 0, summary: 'one', characters: 900 })).toBe(true);
  expect(await compactions.record(fenceOf(run!), { step: 3, summary: 'two', characters: 400 })).toBe(true);
  expect(await compactions.findNewest(run!.sessionSeq)).toEqual({ runSeq: accepted.seq, step: 3, summary: 'two' });
  const events = fixture.committed.filter(({ type }) => type === 'run.compacted');
  expect(events.map(({ payload, runSeq }) => ({ payload, runSeq }))).toEqual([
    { payload: { step: 0, characters: 900 }, runSeq: accepted.seq },
    { payload: { step: 3, characters: 400 }, runSeq: accepted.seq },
  ]);
  const other = await fixture.accept();
  expect(await compactions.findNewest(other.sessionSeq)).toBeUndefined();
});

test('a summary of an attempt that no longer holds the run leaves nothing behind', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.interrupt(fenceOf(run!), 'crash');
  const [again] = await fixture.claim();
  expect(await fixture.store.compactions.record(fenceOf(run!), { step: 1, summary: 'late', characters: 1 })).toBe(
    false,
  );
  expect(await fixture.store.compactions.findNewest(again!.sessionSeq)).toBeUndefined();
  expect(fixture.committed.some(({ type }) => type === 'run.compacted')).toBe(false);
});
