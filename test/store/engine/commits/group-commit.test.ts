// Commits beside other processes: a lock is waited for, whenever it is taken.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { openDatabase } from '../../../../src/store/engine/database.ts';
import type { Transaction } from '../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

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
