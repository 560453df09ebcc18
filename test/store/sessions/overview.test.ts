// Lists of sessions and runs, and why runs wait; quick however many sessions a key has.
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fenceOf, storeHouse } from '../../support/store-house.ts';

const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

test("a key's sessions come with the one changed last first; other keys, kinds and deleted ones are left out", async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const [first, second, gone] = [await house.accept(), await house.accept(), await house.accept()];
  await house.accept({ key: other });
  await house.store.sessions.deleteSession(gone.sessionSeq);
  house.clock.advance(1_000);
  await house.accept({ sessionId: first.sessionId });
  const { items, total } = await house.store.sessions.listOfKey(house.key.seq, 100, 0);
  expect([items.map(({ id }) => id), total]).toEqual([[first.sessionId, second.sessionId], 2]);
  expect((await house.store.sessions.listOfKey(house.key.seq, 1, 1)).items.map(({ id }) => id)).toEqual([
    second.sessionId,
  ]);
  expect(await house.store.sessions.listOfKey(house.key.seq, 10, 2)).toEqual({ items: [], total: 2 });
});

test('a page of a hundred thousand sessions of one key is read from the index, the last one as well', async () => {
  const house = await storeHouse();
  const connection = new Connection(house.file);
  connection
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
       INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at)
       SELECT 's' || i, 1, 1, 'api', 'Tides', 'completed', i, i FROM n`,
    )
    .run();
  connection.close();
  // The first call prepares and warms; medians leave out what the collector of garbage does.
  const medianMs = async (offset: number) => {
    const times: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const before = process.threadCpuUsage();
      const { items, total } = await house.store.sessions.listOfKey(1, 100, offset);
      const { user, system } = process.threadCpuUsage(before);
      times.push((user + system) / 1_000);
      expect([items.length, total, items[0]!.id]).toEqual([100, 100_000, `s${100_000 - offset}`]);
    }
    return times.toSorted((a, b) => a - b)[3]!;
  };
  expect(await medianMs(0)).toBeLessThan(50);
  expect(await medianMs(99_900)).toBeLessThan(100);
});

test('each waiting run says what it waits behind', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const first = await house.accept();
  await house.claim();
  const behind = await house.accept({ sessionId: first.sessionId });
  const further = await house.accept({ sessionId: first.sessionId });
  const head = await house.accept({ key: other });
  const second = await house.accept({ key: other });
  house.clock.advance(5_000);
  const { items, total } = await house.store.overview.listWaiting({ limit: 3, offset: 0 });
  expect(total).toBe(4);
  expect(items).toMatchObject([
    { runId: behind.id, ready: false, behindInSession: first.id },
    { runId: further.id, ready: false, behindInSession: behind.id },
    { runId: head.id, ready: true, behindInSession: null, behindInKey: null, keyId: other.id, username: 'mara' },
  ]);
  expect((await house.store.overview.listWaiting({ limit: 3, offset: 3 })).items).toMatchObject([
    { runId: second.id, ready: true, behindInKey: head.id },
  ]);
});

test('sessions and runs are listed by owner, key, session and status, the newest first', async () => {
  const house = await storeHouse();
  const other = await house.makeKey();
  const done = await house.accept();
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), ENDED);
  await house.store.runs.settle(fenceOf(run!));
  const waiting = await house.accept({ key: other });
  const page = { limit: 10, offset: 0 };
  const { overview } = house.store;
  const sessions = async (userSeq: number | null, keySeq: number | null) =>
    (await overview.listSessionRecords({ userSeq, keySeq, ...page })).items.map(({ id }) => id);
  expect(await sessions(null, null)).toEqual([waiting.sessionId, done.sessionId]);
  expect(await sessions(house.user.seq, other.seq)).toEqual([waiting.sessionId]);
  expect(await sessions(house.user.seq + 1, null)).toEqual([]);
  const runs = async (filter: object) =>
    (await overview.listRunRecords({ sessionSeq: null, status: null, ...page, ...filter })).items.map(({ id }) => id);
  expect(await runs({})).toEqual([waiting.id, done.id]);
  expect(await runs({ status: 'completed' })).toEqual([done.id]);
  expect(await runs({ status: 'queued' })).toEqual([waiting.id]);
  expect(await runs({ sessionSeq: done.sessionSeq })).toEqual([done.id]);
  expect(await overview.findRunRecord(done.id)).toMatchObject({ username: 'mara', keyId: house.key.id });
});
