import { expect, test } from 'vitest';
import { fenceOf, storeFixture } from '../../support/store/store-fixture.ts';

test('runs are listed by session and status, the newest first, and found with the names of owner and key', async () => {
  const fixture = await storeFixture();
  const done = await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  const waiting = await fixture.accept();
  const all = { sessionSeq: null, status: null, limit: 10, offset: 0 };
  const runs = async (filter: object) =>
    (await fixture.store.runs.list({ ...all, ...filter })).items.map(({ id }) => id);
  expect(await runs({})).toEqual([waiting.id, done.id]);
  expect(await runs({ status: 'completed' })).toEqual([done.id]);
  expect(await runs({ status: 'queued' })).toEqual([waiting.id]);
  expect(await runs({ sessionSeq: done.sessionSeq })).toEqual([done.id]);
  expect(await fixture.store.runs.find(done.id)).toMatchObject({ username: 'mara', keyId: fixture.key.id });
});

test('a run is named by what it was asked, and by its session where that has no words', async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept({ title: 'Tides', preview: 'Tell me of tides.' });
  const next = await fixture.accept({ title: 'Tides', preview: '' });
  const { items } = await fixture.store.runs.list({ sessionSeq: null, status: null, limit: 10, offset: 0 });
  expect(items.map(({ id, title }) => [id, title])).toEqual([
    [next.id, 'Tides'],
    [first.id, 'Tell me of tides.'],
  ]);
  expect(await fixture.store.runs.find(first.id)).toMatchObject({ title: 'Tell me of tides.' });
});
