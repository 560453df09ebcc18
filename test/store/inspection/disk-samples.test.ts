import { expect, test } from 'vitest';
import { storeFixture } from '../../support/store/store-fixture.ts';

const DAY_MS = 86_400_000;

test('samples of a week are kept, and none of a time that has not come', async () => {
  const { store, clock } = await storeFixture();
  const start = clock.now();
  await store.diskSamples.record({ freeBytes: 3, freeInodes: 30 });
  clock.advance(6 * DAY_MS);
  await store.diskSamples.record({ freeBytes: 2, freeInodes: null });
  expect(await store.diskSamples.list()).toEqual([
    { at: start, freeBytes: 3, freeInodes: 30 },
    { at: start + 6 * DAY_MS, freeBytes: 2, freeInodes: null },
  ]);

  clock.advance(2 * DAY_MS);
  await store.diskSamples.record({ freeBytes: 1, freeInodes: null });
  expect((await store.diskSamples.list()).map(({ freeBytes }) => freeBytes)).toEqual([2, 1]);

  clock.jump(-DAY_MS);
  await store.diskSamples.record({ freeBytes: 5, freeInodes: null });
  expect((await store.diskSamples.list()).map(({ freeBytes }) => freeBytes)).toEqual([2, 5]);
});
