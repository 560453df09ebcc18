// What a commit of a removal gets done, however slow its statements are.
import { expect, test } from 'vitest';
import { makeBatch } from '../../../src/store/retention/batch.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

/** Its time is over whenever somebody looks. */
function slowBatch() {
  let now = 0;
  return makeBatch(() => (now += 1_000));
}

test('where statements take longer than a commit has, each still gets through all tables that its verb looks at', async () => {
  const { store, clock } = await storeFixture();
  const { retention } = store;
  for (const remove of [
    retention.archives,
    retention.firings,
    retention.scheduledSessions,
    retention.versions,
    retention.eventsOfRuns,
    retention.eventsOfSessions,
    retention.detailsOfRuns,
  ])
    expect(await remove(clock.now() + 1, slowBatch())).toMatchObject({ rows: 0, more: false });
});

test('there are few portions once the time is over', () => {
  const batch = slowBatch();
  expect(Array.from({ length: 6 }, () => batch.room(20))).toEqual([5, 5, 0, 0, 0, 0]);
  const fast = makeBatch(() => 0);
  expect(fast.room(20)).toBe(5);
});
