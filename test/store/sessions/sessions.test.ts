// A key's sessions, listed quickly however many there are.
import { expect, test } from 'vitest';
import { leastOfFive } from '../../support/time/machine-speed.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

test("a key's sessions come with the one changed last first; other keys, kinds and deleted ones are left out", {
  tags: ['§4.6-list'],
}, async () => {
  const fixture = await storeFixture();
  const other = await fixture.makeKey();
  const [first, second, gone] = [await fixture.accept(), await fixture.accept(), await fixture.accept()];
  await fixture.accept({ key: other });
  await fixture.store.sessions.deleteSession(gone.sessionSeq);
  fixture.clock.advance(1_000);
  await fixture.accept({ sessionId: first.sessionId });
  const { items, total } = await fixture.store.sessions.listOfKey(fixture.key.seq, 100, 0);
  expect([items.map(({ id }) => id), total]).toEqual([[first.sessionId, second.sessionId], 2]);
  expect((await fixture.store.sessions.listOfKey(fixture.key.seq, 1, 1)).items.map(({ id }) => id)).toEqual([
    second.sessionId,
  ]);
  expect(await fixture.store.sessions.listOfKey(fixture.key.seq, 10, 2)).toEqual({ items: [], total: 2 });
});

test('a page of a hundred thousand sessions of one key is read from the index, the last one as well', {
  tags: ['§4.6-list'],
}, async () => {
  const fixture = await storeFixture();
  // Each is counted at its key: to many in one transaction, PostgreSQL adds more and more slowly.
  for (let from = 1; from <= 100_000; from += 1_000)
    fixture.change(`WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + 999})
      INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at)
      SELECT 's' || i, 1, 1, 'api', 'Tides', 'completed', i, i FROM n`);
  // The first call prepares and warms; medians leave out what the collector of garbage does.
  const medianMs = async (offset: number) => {
    const times: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const before = process.threadCpuUsage();
      const { items, total } = await fixture.store.sessions.listOfKey(1, 100, offset);
      const { user, system } = process.threadCpuUsage(before);
      times.push((user + system) / 1_000);
      expect([items.length, total, items[0]!.id]).toEqual([100, 100_000, `s${100_000 - offset}`]);
    }
    return times.toSorted((a, b) => a - b)[3]!;
  };
  expect(await leastOfFive(50, async () => medianMs(0))).toBeLessThan(50);
  expect(await leastOfFive(100, async () => medianMs(99_900))).toBeLessThan(100);
});
