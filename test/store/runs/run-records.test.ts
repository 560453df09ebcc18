import { expect, test } from 'vitest';
import { fenceOf, storeHouse } from '../../support/store/store-house.ts';

test('runs are listed by session and status, the newest first, and found with the names of owner and key', async () => {
  const house = await storeHouse();
  const done = await house.accept();
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await house.store.runs.settle(fenceOf(run!));
  const waiting = await house.accept();
  const all = { sessionSeq: null, status: null, limit: 10, offset: 0 };
  const runs = async (filter: object) => (await house.store.runs.list({ ...all, ...filter })).items.map(({ id }) => id);
  expect(await runs({})).toEqual([waiting.id, done.id]);
  expect(await runs({ status: 'completed' })).toEqual([done.id]);
  expect(await runs({ status: 'queued' })).toEqual([waiting.id]);
  expect(await runs({ sessionSeq: done.sessionSeq })).toEqual([done.id]);
  expect(await house.store.runs.find(done.id)).toMatchObject({ username: 'mara', keyId: house.key.id });
});
