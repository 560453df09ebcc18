// Commits beside other processes: a lock is waited for, whenever it is taken. And commits of verbs that take long.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { openDatabase } from '../../../../../src/store/engine/sqlite/open-database.ts';
import type { Transaction } from '../../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';

/** Calls `taken` once, right after some connection has given back its transaction. */
function afterRollback(taken: () => void): void {
  const { prototype } = new Connection(':memory:').prepare('SELECT 1').constructor as {
    prototype: { run(...values: unknown[]): unknown; readonly source: string };
  };
  const { run } = prototype;
  let isOver = false;
  prototype.run = function once(...values) {
    const result = run.apply(this, values);
    if (this.source === 'ROLLBACK' && !isOver) {
      isOver = true;
      taken();
    }
    return result;
  };
  onTestFinished(() => void (prototype.run = run));
}

test('verbs that share a commit with one that throws wait for a process that takes the lock in between', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const database = openDatabase(file, systemClock);
  const other = new Connection(file, { timeout: 0 });
  const addTeam = database.write((tx: Transaction, name: string) =>
    tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name),
  );
  const fail = database.write(function* (tx: Transaction) {
    yield* tx.get('SELECT 1');
    throw new Error('refused');
  });
  afterRollback(() => {
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('ROLLBACK'), 60);
  });
  const ends = await Promise.allSettled([addTeam('a'), fail(), addTeam('b')]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ends[1]).toMatchObject({ reason: { message: 'refused' } });
  const names = other.prepare('SELECT name FROM teams ORDER BY name').pluck().all();
  expect(names).toEqual(['a', 'b']);
  other.close();
  await database.close();
});

/** A database whose verbs each take so many milliseconds, and the events in their order. */
function slowFixture() {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const database = openDatabase(join(temporaryDirectory(), 'errand.db'), clock);
  onTestFinished(() => database.close());
  const seen: string[] = [];
  database.watchCommits({
    committed: () => void seen.push('commit'),
    refused: () => void seen.push('refused'),
    repeated: () => undefined,
  });
  const work = database.write(function* (tx: Transaction, name: string, ms: number, fails = false) {
    yield* tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
    now += ms;
    if (fails) throw new Error('refused');
  });
  const call = async (name: string, ms: number, fails = false) => {
    await work(name, ms, fails).then(
      () => seen.push(name),
      () => seen.push(`${name} fails`),
    );
  };
  const names = database.read((tx) => tx.all<{ name: string }>('SELECT name FROM teams ORDER BY rowid'));
  return { database, seen, call, names };
}

test('a commit begins no further verb once its work has taken 10 ms; the loop turns, and the others follow in order', async () => {
  const { seen, call, names } = slowFixture();
  let turns = 0;
  const count = () => {
    turns += 1;
    if (seen.filter((event) => event === 'commit').length < 3) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([call('a', 6), call('b', 6), call('c', 60), call('d', 1), call('e', 1)]);
  expect(seen).toEqual(['commit', 'a', 'b', 'commit', 'c', 'commit', 'd', 'e']);
  expect(turns).toBeGreaterThan(2);
  expect(await names()).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }, { name: 'e' }]);
});

test('a verb that throws among those that take long undoes itself alone', async () => {
  const { seen, call, names } = slowFixture();
  await Promise.all([call('a', 6), call('b', 6, true), call('c', 6), call('d', 6)]);
  expect(seen.filter((event) => event !== 'commit')).toEqual(['a', 'b fails', 'c', 'd']);
  expect((await names()).map(({ name }) => name)).toEqual(['a', 'c', 'd']);
});

test('the verbs that a commit has left are carried out before the database closes', async () => {
  const { database, seen, call } = slowFixture();
  const all = Promise.all([call('a', 20), call('b', 20), call('c', 20)]);
  await database.close();
  await all;
  expect(seen.filter((event) => event !== 'commit')).toEqual(['a', 'b', 'c']);
});
