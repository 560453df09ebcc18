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
