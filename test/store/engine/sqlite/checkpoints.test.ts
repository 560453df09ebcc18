// The write-ahead log: short again when nothing is written, and reported when a reader prevents that.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { inOwnTurn } from '../../../../src/domain/loop/own-turn.ts';
import { openDatabase } from '../../../../src/store/engine/sqlite/open-database.ts';
import { NO_ALARMS } from '../../../../src/store/engine/database.ts';
import type { Transaction } from '../../../../src/store/engine/statement.ts';
import { fakeClock } from '../../../support/time/fake-clock.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const MB = 1_048_576;

function open() {
  const file = join(temporaryDirectory(), 'errand.db');
  const clock = fakeClock();
  const burdens: string[] = [];
  const database = openDatabase(file, clock, {
    alarms: { ...NO_ALARMS, burdened: (words) => void burdens.push(words) },
  });
  onTestFinished(() => database.close());
  const pass = async (ms: number) => {
    clock.advance(ms);
    // After the log was looked at.
    await inOwnTurn(() => undefined);
  };
  let teams = 0;
  // A name is stored in the table and in its index.
  const addTeam = (tx: Transaction) =>
    tx.run(
      'INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)',
      (teams += 1),
      `${teams}${'x'.repeat(MB / 2)}`,
    );
  return {
    database,
    pass,
    burdens,
    add: async () => database.write(addTeam)(),
    logBytes: () => statSync(`${file}-wal`).size,
    fileBytes: () => statSync(file).size,
    /** Writes this many megabytes, one per commit, each followed by the check after a commit unless there is no pause. */
    write: async (megabytes: number, pauseMs = 50) => {
      for (let at = 0; at < megabytes; at += 1) {
        await database.write(addTeam)();
        await pass(pauseMs);
      }
    },
    /** A process that reads one state of the database for as long as it likes. */
    readBeside: () => {
      const reader = new Connection(file, { readonly: true });
      onTestFinished(() => void reader.close());
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM teams').get();
      return { end: () => void reader.exec('COMMIT') };
    },
  };
}

test('the log stays short while much is written, and is cut when the database is quiet', async () => {
  const fixture = open();
  await fixture.write(60);
  expect(fixture.logBytes()).toBeLessThan(12 * MB);
  // Less than is cut may be left of it, which depends on the size of the schema.
  await fixture.write(6, 0);
  await fixture.pass(50);
  await fixture.pass(5_000);
  expect(fixture.logBytes()).toBeLessThan(MB);
  expect(fixture.fileBytes()).toBeGreaterThan(60 * MB);
  expect(fixture.burdens).toEqual([]);
});

test('a little that was written is moved into the file when the database is quiet', async () => {
  const fixture = open();
  await fixture.write(1);
  expect(fixture.fileBytes()).toBeLessThan(MB);
  await fixture.pass(5_000);
  expect(fixture.fileBytes()).toBeGreaterThan(MB);
});

test('a reader that keeps the log growing is reported at each doubling; the log shrinks when it has ended', async () => {
  const fixture = open();
  await fixture.write(1);
  const reader = fixture.readBeside();
  await fixture.write(60);
  expect(fixture.database.burden()).toBeNull();
  expect(fixture.burdens).toEqual([]);
  await fixture.write(10);
  expect(fixture.database.burden()).toMatch(/^its write-ahead log has grown to (6[5-9]|7\d) MB: /);
  expect(fixture.burdens).toHaveLength(1);
  await fixture.write(40);
  expect(fixture.burdens).toHaveLength(1);
  await fixture.write(30);
  expect(fixture.burdens).toHaveLength(2);
  expect(fixture.logBytes()).toBeGreaterThan(128 * MB);
  reader.end();
  await fixture.write(1);
  await fixture.pass(5_000);
  expect(fixture.database.burden()).toBeNull();
  expect(fixture.logBytes()).toBeLessThan(MB);
});

test('a full log is moved before the next commit, without waiting to be looked at', async () => {
  const fixture = open();
  // More than a full log, in one commit.
  await Promise.all(Array.from({ length: 8 }, async () => fixture.add()));
  expect(fixture.fileBytes()).toBeLessThan(MB);
  await fixture.add();
  expect(fixture.fileBytes()).toBeGreaterThan(7 * MB);
  const bytes = fixture.logBytes();
  await fixture.add();
  expect(fixture.logBytes()).toBe(bytes);
});

test('a log that a reader holds is no reason not to commit', async () => {
  const fixture = open();
  await fixture.add();
  const reader = fixture.readBeside();
  for (let at = 0; at < 12; at += 1) await fixture.add();
  reader.end();
  expect(fixture.logBytes()).toBeGreaterThan(12 * MB);
});
