// Ids found by their start.
import { expect, test } from 'vitest';
import { storeFixture } from '../support/store/store-fixture.ts';

test('ids that begin so are found in their order, up to the limit, and not those of deleted sessions', async () => {
  const fixture = await storeFixture();
  const { store } = fixture;
  const runs = [await fixture.accept({}), await fixture.accept({}), await fixture.accept({})];
  const [first, second, third] = runs;
  expect(await store.findIds('runs', first!.id, 9)).toEqual([first!.id]);
  expect(await store.findIds('sessions', second!.sessionId.slice(0, 30), 9)).toContain(second!.sessionId);
  const all = runs.map(({ id }) => id).sort();
  const shared = all[0]!.slice(0, 4);
  expect(await store.findIds('runs', shared, 9)).toEqual(all.filter((id) => id.startsWith(shared)));
  expect(await store.findIds('runs', shared, 1)).toHaveLength(1);
  expect(await store.findIds('runs', 'ffff', 9)).toEqual([]);
  await store.sessions.deleteSession(third!.sessionSeq);
  expect(await store.findIds('runs', third!.id, 9)).toEqual([]);
  expect(await store.findIds('sessions', third!.sessionId, 9)).toEqual([]);
});
