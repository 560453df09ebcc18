import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../../src/store/engine/sqlite/open-database.ts';
import type { Transaction } from '../../../../src/store/engine/statement.ts';
import { fakeClock } from '../../../support/time/fake-clock.ts';
import { storeFixture } from '../../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

function openTemporary(file = join(temporaryDirectory(), 'errand.db')) {
  const database = openDatabase(file, fakeClock());
  onTestFinished(() => database.close());
  return { database, file };
}

const addTeam = (tx: Transaction, name: string) =>
  tx.count('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);

test('a verb that throws rejects alone; the others of its commit are kept', async () => {
  const { database } = openTemporary();
  const outcomes = await Promise.allSettled([
    database.write(addTeam)('one'),
    database.write(function* (tx) {
      yield* addTeam(tx, 'half');
      throw new Error('changed my mind');
    })(),
    database.write(addTeam)('two'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await database.read((tx) => tx.all('SELECT name FROM teams ORDER BY name'))()).toEqual([
    { name: 'one' },
    { name: 'two' },
  ]);
});

test('when a verb throws, the events of the others are in the journal once, numbered without a gap', async () => {
  const fixture = await storeFixture();
  const { seq, sessionSeq } = await fixture.accept();
  const { database } = openTemporary(fixture.file);
  const published: number[] = [];
  database.onCommitted((events) => void published.push(...events.map(({ streamSeq }) => streamSeq!)));
  const emit = (throws: boolean) =>
    // oxlint-disable-next-line require-yield
    database.write(function* (tx) {
      tx.emit(sessionSeq, seq, { type: 'run.resumed', payload: { resumes: 0 } });
      if (throws) throw new Error('changed my mind');
    })();
  const outcomes = await Promise.allSettled([emit(false), emit(true), emit(false)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await expect(emit(true)).rejects.toThrow('changed my mind');
  await emit(false);
  // The first is that of the run's acceptance.
  expect(published).toEqual([2, 3, 4]);
  const stored = await database.read((tx) => tx.all('SELECT stream_seq AS n FROM events ORDER BY id'))();
  expect(stored).toEqual([1, 2, 3, 4].map((n) => ({ n })));
});

test('events of several runs in one verb are published and stored alike, in their order', async () => {
  const fixture = await storeFixture();
  const [one, two] = [await fixture.accept(), await fixture.accept()];
  const { database } = openTemporary(fixture.file);
  const published: unknown[] = [];
  database.onCommitted((events) =>
    events.forEach(({ id, runSeq, streamSeq, payload }) =>
      published.push({ id, run: runSeq, n: streamSeq, payload: JSON.stringify(payload) }),
    ),
  );
  // As many as one insert has, more, one, and one that belongs to the session alone.
  const inRows = [one, two, one, null, two].flatMap((run, at) =>
    Array.from({ length: [16, 35, 1, 1, 2][at]! }, () => run),
  );
  // oxlint-disable-next-line require-yield
  await database.write(function* (tx) {
    for (const [index, run] of inRows.entries()) {
      tx.emit(one.sessionSeq, run?.seq ?? null, { type: 'content_block_start', payload: { index } });
    }
  })();
  const all = 'SELECT id, run_seq AS run, stream_seq AS n, payload FROM events WHERE type = ? ORDER BY id';
  expect(published).toEqual(await database.read((tx) => tx.all(all, 'content_block_start'))());
  expect(published).toMatchObject(
    inRows.map((run, index) => ({ run: run?.seq ?? null, payload: `{"index":${index}}` })),
  );
});

test('a verb that throws alone in its commit leaves nothing behind, and the next one is kept', async () => {
  const { database } = openTemporary();
  const lone = database.write(function* (tx) {
    yield* addTeam(tx, 'half');
    throw new Error('changed my mind');
  })();
  await expect(lone).rejects.toThrow('changed my mind');
  expect(database.fault()).toBeNull();
  await database.write(addTeam)('one');
  expect(await database.read((tx) => tx.all('SELECT name FROM teams'))()).toEqual([{ name: 'one' }]);
});

test('a verb may catch what its statement throws, and continue', async () => {
  const { database } = openTemporary();
  await database.write(addTeam)('one');
  const words = await database.write(function* (tx) {
    try {
      yield* addTeam(tx, 'one');
      return 'added';
    } catch (error) {
      yield* addTeam(tx, 'two');
      return (error as Error).message;
    }
  })();
  expect(words).toMatch(/UNIQUE/);
  expect(await database.read((tx) => tx.all('SELECT name FROM teams ORDER BY name'))()).toHaveLength(2);
});

test('verbs of one tick share one commit', async () => {
  const { database, file } = openTemporary();
  const other = new Connection(file, { readonly: true });
  onTestFinished(() => void other.close());
  const version = () => other.pragma('data_version', { simple: true }) as number;
  const before = version();
  await Promise.all(Array.from({ length: 50 }, async (_, index) => database.write(addTeam)(`team ${index}`)));
  expect(version() - before).toBe(1);
});

test('readers see committed rows only, and see them as soon as the verb resolves', async () => {
  const { database } = openTemporary();
  const write = database.write(addTeam)('one');
  expect(await database.read((tx) => tx.all('SELECT name FROM teams'))()).toEqual([]);
  await write;
  expect(await database.read((tx) => tx.all('SELECT name FROM teams'))()).toEqual([{ name: 'one' }]);
});

test('an event is published only after its commit, and never when its verb was rolled back', async () => {
  const fixture = await storeFixture();
  const accepted = fixture.accept();
  expect(fixture.committed).toEqual([]);
  await accepted;
  expect(fixture.committed.map(({ type }) => type)).toEqual(['run.queued']);
  const before = fixture.committed.length;
  await expect(fixture.accept({ key: { ...fixture.key, seq: 999 } })).rejects.toThrow(/FOREIGN KEY/);
  expect(fixture.committed).toHaveLength(before);
});

test('a verb that was rolled back leaves no gap in the stream of a run', async () => {
  const { database } = openTemporary();
  const seqs = await database.write(function* (tx) {
    const user = yield* tx.insert(
      `INSERT INTO users (id, username, full_name, department, role, password_hash, created_at, updated_at)
       VALUES ('u', 'u', '', '', 'user', '', 0, 0)`,
    );
    const key = yield* tx.insert(
      `INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, target, created_at)
       VALUES ('k', ?, '', 'global', x'00', '', 'free', 0)`,
      user,
    );
    const session = yield* tx.insert(
      `INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at)
       VALUES ('s', ?, ?, 'api', '', 'pending', 0, 0)`,
      user,
      key,
    );
    const run = yield* tx.insert(
      `INSERT INTO runs (id, session_seq, user_seq, key_seq, protocol, status, schedule_mode, ready, requested_model,
         include_usage, opened_session, target, created_at)
       VALUES ('r', ?, ?, ?, 'chat', 'queued', 'queued', 1, '', 0, 1, 'free', 0)`,
      session,
      user,
      key,
    );
    return { session, run };
  })();
  const emit = (index: number, fails: boolean) =>
    database.write(function* (tx) {
      yield* tx.get('SELECT 1');
      tx.emit(seqs.session, seqs.run, { type: 'content_block_start', payload: { index } });
      if (fails) throw new Error('changed my mind');
    })();
  await Promise.allSettled([emit(0, false), emit(1, true), emit(2, false), emit(3, true), emit(4, false)]);
  expect(await database.read((tx) => tx.all('SELECT stream_seq FROM events ORDER BY id'))()).toEqual([
    { streamSeq: 1 },
    { streamSeq: 2 },
    { streamSeq: 3 },
  ]);
});

test('a disk that is full refuses the verb with `unavailable`, keeps nothing of it, and recovers by itself', async () => {
  const { database, file } = openTemporary();
  await database.write(addTeam)('before');
  // The page limit is per connection, so it is set through the writing one: SQLite answers SQLITE_FULL as on a full disk.
  await database.write(function* (tx) {
    const { pageCount: pages } = (yield* tx.get<{ pageCount: number }>('PRAGMA page_count'))!;
    yield* tx.all(`PRAGMA max_page_count = ${pages}`);
  })();
  const large = 'x'.repeat(5_000_000);
  await expect(database.write(addTeam)(large)).rejects.toMatchObject({ reason: 'unavailable' });
  await database.write((tx) => tx.all('PRAGMA max_page_count = 1000000'))();
  await database.write(addTeam)('after');
  expect(database.fault()).toBeNull();
  const other = new Connection(file, { readonly: true });
  expect(other.prepare('SELECT name FROM teams ORDER BY rowid').all()).toEqual([{ name: 'before' }, { name: 'after' }]);
  expect(other.pragma('integrity_check', { simple: true })).toBe('ok');
  other.close();
});

test('calls that come one after another share one verb, and a verb between them keeps its place', async () => {
  const { database } = openTemporary();
  const shared: number[] = [];
  const addAll = database.writeAll(function* (tx, names: readonly string[]) {
    shared.push(names.length);
    for (const name of names) yield* addTeam(tx, name);
    return names.map((name) => name.toUpperCase());
  });
  const add = database.write(addTeam);
  const results = await Promise.all([addAll('a'), addAll('b'), add('c'), addAll('d'), addAll('e')]);
  expect(results).toEqual(['A', 'B', 1, 'D', 'E']);
  expect(await addAll('f')).toBe('F');
  expect(shared).toEqual([2, 2, 1]);
  const names = await database.read((tx) => tx.all<{ name: string }>('SELECT name FROM teams ORDER BY rowid'))();
  expect(names.map(({ name }) => name).join('')).toBe('abcdef');
});

test('calls share a verb until they have much work together', async () => {
  const { database } = openTemporary();
  const shared: number[] = [];
  const addAll = database.writeAll(
    function* (tx, names: readonly string[]) {
      shared.push(names.length);
      for (const name of names) yield* addTeam(tx, name.slice(0, 1));
      return names.map((name) => name[0]);
    },
    { sizeOf: (name) => name.length },
  );
  const long = 'z'.repeat(262_144);
  const names = ['a', 'b', `c${long}`, 'd', `e${long}`, `f${long}`, 'g'.repeat(200_000), 'h'];
  expect(await Promise.all(names.map(addAll))).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  expect(shared).toEqual([2, 1, 1, 1, 1, 2]);
});

test('calls that share a verb that throws all reject; others of the commit are kept', async () => {
  const { database } = openTemporary();
  const addAll = database.writeAll(function* (tx, names: readonly string[]) {
    for (const name of names) yield* addTeam(tx, name);
    if (names.includes('bad')) throw new Error('changed my mind');
    return names;
  });
  const outcomes = await Promise.allSettled([
    addAll('good'),
    addAll('bad'),
    database.write(addTeam)('other'),
    addAll('later'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await database.read((tx) => tx.all('SELECT name FROM teams ORDER BY rowid'))()).toEqual([
    { name: 'other' },
    { name: 'later' },
  ]);
});

test('commits are synced fully', () => {
  const { database } = openTemporary();
  return expect(database.write((tx) => tx.get('PRAGMA synchronous'))()).resolves.toEqual({ synchronous: 2 });
});

test('a closed database refuses verbs', async () => {
  const { database } = openTemporary();
  await database.close();
  await expect(database.write(addTeam)('late')).rejects.toMatchObject({ reason: 'unavailable' });
});

test('a statement keeps the plan it was prepared with, whatever values it is executed with', async () => {
  const { database } = openTemporary();
  await database.write(function* (tx) {
    yield* tx.run('CREATE TABLE tides (place TEXT NOT NULL, height INTEGER NOT NULL) STRICT');
    // Useful only with a known value: a statement that is planned by its values shows this order.
    yield* tx.run("CREATE INDEX tides_of_brest ON tides (height) WHERE place = 'Brest'");
    yield* tx.run("INSERT INTO tides VALUES ('Brest', 7), ('Brest', 5), ('Kiel', 1)");
  })();
  const heights = (place: string) =>
    database.read((tx) => tx.all<{ height: number }>('SELECT height FROM tides WHERE place = ?', place))();
  expect(await heights('Kiel')).toEqual([{ height: 1 }]);
  expect(await heights('Brest')).toEqual([{ height: 7 }, { height: 5 }]);
});

test('values compare as they do without a plus: by the column they meet', async () => {
  const { database } = openTemporary();
  await database.write(function* (tx) {
    yield* tx.run('CREATE TABLE kinds (number INTEGER, words TEXT) STRICT');
    yield* tx.run('INSERT INTO kinds VALUES (?, ?)', '7', '7');
  })();
  expect(await database.read((tx) => tx.all('SELECT * FROM kinds WHERE number = ? AND words = ?', '7', '7'))()).toEqual(
    [{ number: 7, words: '7' }],
  );
});
