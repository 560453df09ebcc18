// Commits that are synced beside the event loop, since work that reports nothing begins with them: nobody else learns of them before.
import { fdatasync, fdatasyncSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../../../../src/store/engine/sqlite/open-database.ts';
import { COMMITTED, NO_ALARMS } from '../../../../../src/store/engine/database.ts';
import { PATIENCE_MS } from '../../../../../src/store/engine/sqlite/commits/log-sync.ts';
import type { Reader, Transaction } from '../../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { storeFixture } from '../../../../support/store/store-fixture.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';

/** Stands between the store and the disk: each sync beside the loop waits until the test ends it, and those at once are counted. */
const disk = vi.hoisted(() => ({
  syncs: [] as ((error: Error | null) => void)[],
  syncedNow: 0,
  failsNow: null as Error | null,
  /** What time does during a sync at once. */
  passes: (): void => undefined,
}));
vi.mock(import('node:fs'), async (original) => {
  const fs = await original();
  const wait = ((_fd: number, done: (error: Error | null) => void) => void disk.syncs.push(done)) as typeof fdatasync;
  const count = ((fd: number) => {
    disk.syncedNow += 1;
    if (disk.failsNow !== null) throw disk.failsNow;
    disk.passes();
    fs.fdatasyncSync(fd);
  }) as typeof fdatasyncSync;
  return { ...fs, fdatasync: wait, fdatasyncSync: count };
});
beforeEach(() => {
  disk.syncs.splice(0);
  disk.syncedNow = 0;
  disk.failsNow = null;
  disk.passes = () => undefined;
});

const addTeam = (tx: Transaction, name: string) =>
  tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
const countTeams = function* (tx: Reader) {
  return (yield* tx.get<{ n: number }>('SELECT count(*) AS n FROM teams'))!.n;
};

function open(file = join(temporaryDirectory(), 'errand.db')) {
  const lost: unknown[] = [];
  const alarms = { ...NO_ALARMS, lost: (error: unknown) => void lost.push(error) };
  const clock = fakeClock();
  const database = openDatabase(file, clock, { alarms, syncsInBackground: true });
  const count = database.read(countTeams);
  const countCommitted = database.read(countTeams, 'committed');
  /** Settles before the sync, for which its commit then waits in the background. */
  const early = database.write(addTeam, COMMITTED);
  const settled: string[] = [];
  /** Calls a verb, and notes when it is settled. */
  const note = <T>(name: string, promise: Promise<T>) =>
    promise.then(
      () => settled.push(name),
      () => settled.push(`${name} refused`),
    );
  return { database, clock, early, count, countCommitted, settled, note, lost, file };
}

const syncBegins = (number: number) => waitFor(() => disk.syncs.length === number);
const syncEnds = (number: number, error: Error | null = null) => disk.syncs[number - 1]!(error);
/** Turns of the loop in which everything that is due happens. */
const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
};

test('until the disk has synced a commit, no verb settles, no event is published and nobody reads its rows', {
  tags: ['D7-acceptance'],
}, async () => {
  const fixture = await storeFixture();
  const { seq, sessionSeq } = await fixture.accept();
  const { database, early, count, settled, note } = open(fixture.file);
  const published: string[] = [];
  database.onCommitted((events) => void published.push(...events.map(({ type }) => type)));
  const emit = database.write(function* (tx) {
    yield* addTeam(tx, 'one');
    tx.emit(sessionSeq, seq, { type: 'run.resumed', payload: { resumes: 0 } });
  });
  const written = note('written', emit());
  await early('two');
  await syncBegins(1);
  const before = note('read', count());
  await turns();
  expect([settled, published]).toEqual([[], []]);
  syncEnds(1);
  await Promise.all([written, before]);
  expect(settled).toEqual(['written', 'read']);
  expect(published).toEqual(['run.resumed']);
  await database.close();
});

test('verbs that come during a sync share the next commit, which begins after it', async () => {
  const { database, early, count, countCommitted } = open();
  const add = database.write(addTeam);
  await early('one');
  await syncBegins(1);
  const others = [add('two'), add('three')];
  await turns();
  expect(await countCommitted()).toBe(1);
  const syncedNow = disk.syncedNow;
  syncEnds(1);
  await Promise.all(others);
  expect(await count()).toBe(3);
  expect(disk.syncedNow).toBe(syncedNow + 1);
  await database.close();
});

test('a verb that settles when it is written does so during the sync, and one that throws rejects alone', async () => {
  const { database, early, settled, note } = open();
  const begun = note('early', early('one'));
  const broken = database.write(function* (tx: Transaction) {
    yield* addTeam(tx, 'half');
    throw new Error('changed my mind');
  });
  const alone = note('broken', broken());
  await syncBegins(1);
  await begun;
  await turns();
  expect(settled).toEqual(['early']);
  syncEnds(1);
  await alone;
  expect(settled).toEqual(['early', 'broken refused']);
  await database.close();
});

test('after a failed sync its verbs are refused, nothing more is read or written, and the opener is notified', async () => {
  const { database, early, count, settled, note, lost } = open();
  const refused = note('first', database.write(addTeam)('one'));
  await early('early');
  await syncBegins(1);
  const waiting = [note('second', database.write(addTeam)('two')), note('read', count())];
  syncEnds(1, Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
  await Promise.all([refused, ...waiting]);
  expect(settled.toSorted()).toEqual(['first refused', 'read refused', 'second refused']);
  expect(lost).toEqual([expect.objectContaining({ message: expect.stringMatching(/errand\.db .*IOERR_FSYNC/) })]);
  await expect(count()).rejects.toMatchObject({ reason: 'unavailable' });
  await database.close();
});

test('a database that is closed during a sync settles what was asked for, and syncs it', async () => {
  const { database, early, settled, note, file } = open();
  const writes = [note('one', database.write(addTeam)('one'))];
  await early('early');
  await syncBegins(1);
  writes.push(note('two', database.write(addTeam)('two')));
  const closed = note('closed', database.close());
  await turns();
  expect(settled).toEqual([]);
  syncEnds(1);
  await Promise.all([...writes, closed]);
  expect(settled).toEqual(['one', 'two', 'closed']);
  const other = new Connection(file, { readonly: true });
  onTestFinished(() => void other.close());
  expect(other.prepare('SELECT id FROM teams ORDER BY id').pluck().all()).toEqual(['early', 'one', 'two']);
});

test('what an earlier process left in the log is synced before anybody reads it', async () => {
  const { database } = open();
  expect(disk.syncedNow).toBe(1);
  await database.close();
});

test.each([
  ['a commit in which all wait for the disk', 1, 'durable'],
  ['a commit that many verbs share', 4, 'committed'],
] as const)('%s is synced at once, before any of its verbs settles', async (_, verbs, waitsFor) => {
  const { database, countCommitted } = open();
  const syncedNow = disk.syncedNow;
  const add = database.write(addTeam, { waitsFor });
  await Promise.all(Array.from({ length: verbs }, (_one, at) => add(`${at}`)));
  expect([disk.syncedNow, disk.syncs.length]).toEqual([syncedNow + 1, 0]);
  expect(await countCommitted()).toBe(verbs);
  await database.close();
});

test('a slow disk rests after each commit: the pause begins when its sync has ended', async () => {
  const { database, clock } = open();
  disk.passes = () => clock.advance(15);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  const add = database.write(addTeam);
  for (const name of ['slow by chance', 'slow again', 'after a pause']) await add(name);
  expect(timers).toHaveBeenCalledExactlyOnceWith(expect.any(Function), 15);
  await database.close();
});

test('a sync at once that fails refuses its verbs, and notifies the opener', async () => {
  const { database, lost } = open();
  disk.failsNow = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  await expect(database.write(addTeam)('one')).rejects.toMatchObject({ reason: 'unavailable' });
  expect(lost).toEqual([expect.objectContaining({ message: expect.stringMatching(/IOERR_FSYNC/) })]);
  await database.close();
});

test('work for an accepted run that must outlast a power failure waits for the sync', async () => {
  const { database, early, settled, note } = open();
  await early('one');
  await syncBegins(1);
  const kept = note('kept', database.durable());
  await turns();
  expect(settled).toEqual([]);
  syncEnds(1);
  await kept;
  expect(settled).toEqual(['kept']);
  await database.close();
});

test('a sync that another thread does not come to is made at once, and so are those until it has', async () => {
  const { database, clock, early, count } = open();
  await early('one');
  await syncBegins(1);
  const syncedNow = disk.syncedNow;
  clock.advance(PATIENCE_MS);
  expect(await count()).toBe(1);
  await early('two');
  expect(await count()).toBe(2);
  expect([disk.syncs.length, disk.syncedNow]).toEqual([1, syncedNow + 2]);
  syncEnds(1);
  await early('three');
  await syncBegins(2);
  syncEnds(2);
  expect(await count()).toBe(3);
  await database.close();
});

test('a failure of the disk that another thread reports late refuses whatever comes after it', async () => {
  const { database, clock, early, count, lost } = open();
  await early('one');
  await syncBegins(1);
  clock.advance(PATIENCE_MS);
  expect(await count()).toBe(1);
  syncEnds(1, Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
  await expect(database.write(addTeam)('two')).rejects.toMatchObject({ reason: 'unavailable' });
  expect(lost).toEqual([expect.objectContaining({ message: expect.stringMatching(/IOERR_FSYNC/) })]);
  await database.close();
});

test('a database is closed while another thread has still to come to a sync', async () => {
  const { database, clock, early, file } = open();
  await early('one');
  await syncBegins(1);
  clock.advance(PATIENCE_MS);
  await database.close();
  syncEnds(1);
  const other = new Connection(file, { readonly: true });
  onTestFinished(() => void other.close());
  expect(other.prepare('SELECT id FROM teams').pluck().all()).toEqual(['one']);
});
