// What models were asked with: stored once, and gone with the last run that was asked with it.
import { expect, test } from 'vitest';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { makeBatch } from '../../../src/store/retention/batch.ts';

const setupOf = (text: string) => ({ sha256: `hash of ${text}`, bytes: Buffer.from(text) });

/** A run that has ended, with a reply for each setup. */
async function aRun({ accept, claim, store }: StoreFixture, ...texts: readonly (string | null)[]) {
  const run = await accept();
  const [claimed] = await claim();
  const fence = fenceOf(claimed!);
  for (const [at, text] of texts.entries())
    await store.runs.recordStep(fence, aStep({ step: at + 1, setup: text === null ? null : setupOf(text) }), FREE);
  await store.runs.finalize(fence, { outcome: 'completed', answer: 'Tides.', stopReason: 'end_turn' });
  await store.runs.settle(fence);
  return run;
}

const textsIn = (fixture: StoreFixture) =>
  fixture.rows<{ text: string }>('SELECT text FROM run_setups ORDER BY text').map(({ text }) => text);

test('runs that are asked with the same share one row, and each knows from which step on', async () => {
  const fixture = await storeFixture();
  const runs = [await aRun(fixture, 'a', null, 'b', 'a'), await aRun(fixture, 'a')];
  expect(textsIn(fixture)).toEqual(['a', 'b']);
  const read = await Promise.all(runs.map(({ seq }) => fixture.store.turns.getAskedWith(seq)));
  const setups = read.map((whole) => whole.setups.map(({ step, text }) => [step, text]));
  expect(setups).toEqual([
    [
      [1, 'a'],
      [3, 'b'],
      [4, 'a'],
    ],
    [[1, 'a']],
  ]);
});

test('when the session of a run is erased, what it shares with others stays', async () => {
  const fixture = await storeFixture();
  const [first, second] = [await aRun(fixture, 'own', 'shared', 'own'), await aRun(fixture, 'shared')];
  const erase = async (sessionSeq: number) => {
    await fixture.store.sessions.deleteSession(sessionSeq);
    for (let after: number | null = 0; after !== null; )
      after = await fixture.store.erasures.eraseRuns(sessionSeq, after);
  };
  await erase(first.sessionSeq);
  expect(textsIn(fixture)).toEqual(['shared']);
  expect(fixture.rows(`SELECT 1 FROM steps WHERE run_seq = ${first.seq} AND setup IS NOT NULL`)).toEqual([]);
  await erase(second.sessionSeq);
  expect(textsIn(fixture)).toEqual([]);
});

test('retention removes it with the other details of a run', async () => {
  const fixture = await storeFixture();
  await aRun(fixture, 'a');
  const later = await aRun(fixture, 'a', 'b');
  fixture.change(`UPDATE runs SET finished_at = finished_at + 1000 WHERE seq = ${later.seq}`);
  const remove = (before: number) =>
    fixture.store.retention.detailsOfRuns(
      before,
      makeBatch(() => 0),
    );
  await remove(fixture.clock.now() + 500);
  expect(textsIn(fixture)).toEqual(['a', 'b']);
  await remove(fixture.clock.now() + 5_000);
  expect(textsIn(fixture)).toEqual([]);
});
