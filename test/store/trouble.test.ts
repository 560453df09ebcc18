// Locks of other processes, failed syncs and damaged files: waited for, fatal, and reported in words.
import { closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { messageOf } from '../../src/domain/errors.ts';
import { inOwnTurn } from '../../src/domain/loop/own-turn.ts';
import type { Database } from '../../src/store/engine/database.ts';
import { openDatabase } from '../../src/store/engine/sqlite/open-database.ts';
import type { Transaction } from '../../src/store/engine/statement.ts';
import { NO_ALARMS, type StoreAlarms } from '../../src/store/engine/database.ts';
import { explainToOperator, isLocked } from '../../src/store/engine/sqlite/storage-fault.ts';
import { type FakeClock, fakeClock } from '../support/time/fake-clock.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

interface Fixture {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly file: string;
  readonly troubles: string[];
  readonly lost: unknown[];
}

function open(file = join(temporaryDirectory(), 'errand.db')): Fixture {
  const clock = fakeClock();
  const [troubles, lost]: [string[], unknown[]] = [[], []];
  const alarms: StoreAlarms = {
    ...NO_ALARMS,
    trouble: (words) => void troubles.push(words),
    lost: (error) => void lost.push(error),
  };
  const database = openDatabase(file, clock, { alarms });
  onTestFinished(() => database.close());
  return { database, clock, file, troubles, lost };
}

const addTeam = (tx: Transaction, name: string) =>
  tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name.slice(0, 40), name);
const teamsOf = ({ database }: Fixture) =>
  database.read(function* (tx) {
    return (yield* tx.all<{ id: string }>('SELECT id FROM teams ORDER BY id')).map(({ id }) => id);
  })();

/** Another process that writes: a shell, or a tool that makes a copy. */
function lockBeside({ file }: Fixture): { end(): void } {
  const other = new Connection(file);
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  return { end: () => void other.exec('COMMIT') };
}

/** Lets the event loop turn: whatever is due now has happened after it. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('verbs wait for the lock of another process, and the event loop turns meanwhile', async () => {
  const fixture = open();
  const lock = lockBeside(fixture);
  let settled = 0;
  const writes = ['one', 'two'].map((name) =>
    fixture.database
      .write(addTeam)(name)
      .finally(() => (settled += 1)),
  );
  await turns(1_000);
  expect(settled).toBe(0);
  expect(await teamsOf(fixture)).toEqual([]);
  expect(fixture.database.fault()).toBeNull();
  const late = fixture.database.write(addTeam)('three');
  lock.end();
  await Promise.all([...writes, late]);
  expect(await teamsOf(fixture)).toEqual(['one', 'three', 'two']);
  expect(fixture.troubles).toEqual([]);
});

test('a lock that lasts refuses what waits for it, all at once and in words, and leaves the store well', async () => {
  const fixture = open();
  const lock = lockBeside(fixture);
  const first = fixture.database.write(addTeam)('one');
  await turns(10);
  fixture.clock.advance(4_000);
  const second = fixture.database.write(addTeam)('two');
  const outcomes = Promise.allSettled([first, second]);
  fixture.clock.advance(1_000);
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { reason: 'unavailable', message: "The daemon's storage is locked by another process." },
    });
    if (outcome.status === 'rejected') expect(isLocked(outcome.reason)).toBe(true);
  }
  expect(fixture.database.fault()).toMatch(/locked/);
  expect(fixture.troubles).toEqual([expect.stringContaining(fixture.file)]);
  lock.end();
  await fixture.database.write(addTeam)('three');
  expect(await teamsOf(fixture)).toEqual(['three']);
  expect(fixture.database.fault()).toBeNull();
});

test('a database that is closed under a lock keeps what was asked for before', async () => {
  const fixture = open();
  const lock = lockBeside(fixture);
  const write = fixture.database.write(addTeam)('one');
  const closed = fixture.database.close();
  await turns(10);
  lock.end();
  await Promise.all([write, closed]);
  const other = new Connection(fixture.file, { readonly: true });
  onTestFinished(() => void other.close());
  expect(other.prepare('SELECT id FROM teams').pluck().all()).toEqual(['one']);
});

/** Lets one statement of every connection fail as SQLite does. */
function failStatement(sql: RegExp, code: string, message: string): { readonly tries: () => number } {
  let tries = 0;
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: never, text: string) {
    const statement: object = prepare.call(this, text);
    if (!sql.test(text)) return statement as never;
    const fail = () => {
      tries += 1;
      throw new Connection.SqliteError(message, code);
    };
    return Object.assign(Object.create(statement) as object, { run: fail, get: fail }) as never;
  });
  onTestFinished(() => spy.mockRestore());
  return { tries: () => tries };
}

test.each(['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC'])(
  'after a failed sync (%s) nothing more is written, and the opener of the store is notified once',
  async (code) => {
    const failing = failStatement(/^COMMIT$/, code, 'disk I/O error');
    const fixture = open();
    const refusal = { reason: 'unavailable', message: expect.not.stringMatching(/SQLITE|errand\.db/) };
    await expect(fixture.database.write(addTeam)('one')).rejects.toMatchObject(refusal);
    expect(fixture.lost).toEqual([
      expect.objectContaining({ message: expect.stringMatching(new RegExp(`errand\\.db .*${code}`)) }),
    ]);
    for (const name of ['two', 'three']) {
      await expect(fixture.database.write(addTeam)(name)).rejects.toMatchObject(refusal);
    }
    expect(failing.tries()).toBe(1);
    expect(fixture.lost).toHaveLength(1);
    expect(fixture.troubles).toHaveLength(1);
  },
);

test('a sync that fails in a checkpoint ends writing as one in a commit does', async () => {
  failStatement(/wal_checkpoint\(PASSIVE\)/, 'SQLITE_IOERR_FSYNC', 'disk I/O error');
  const fixture = open();
  await fixture.database.write(addTeam)('x'.repeat(5_000_000));
  expect(fixture.lost).toEqual([]);
  fixture.clock.advance(50);
  await inOwnTurn(() => undefined);
  expect(fixture.lost).toHaveLength(1);
  await expect(fixture.database.write(addTeam)('two')).rejects.toMatchObject({ reason: 'unavailable' });
});

test.each([
  ['SQLITE_FULL', /no space is left/],
  ['SQLITE_IOERR_WRITE', /the disk fails/],
  ['SQLITE_READONLY', /read-only/],
  ['SQLITE_CANTOPEN', /refuses to write/],
])('%s is reported to callers without its code, and to operators with its code and the file', async (code, words) => {
  failStatement(/^COMMIT$/, code, 'as SQLite says');
  const fixture = open();
  const refused = await fixture.database
    .write(addTeam)('one')
    .catch((error: unknown) => messageOf(error));
  expect(refused).toMatch(words);
  expect(refused).not.toMatch(/SQLITE|errand\.db/);
  expect(fixture.troubles).toEqual([expect.stringMatching(new RegExp(`errand\\.db .*as SQLite says, ${code}`))]);
  expect(fixture.lost).toEqual([]);
});

/** A database with pages that a test can damage. */
async function fileWithPages(): Promise<string> {
  const file = join(temporaryDirectory(), 'errand.db');
  const database = openDatabase(file, fakeClock());
  for (let at = 0; at < 40; at += 1) await database.write(addTeam)(`${at} ${'x'.repeat(20_000)}`);
  await database.close();
  return file;
}

test('a file that is not a database is refused at startup with its name and what to do', () => {
  const file = join(temporaryDirectory(), 'errand.db');
  writeFileSync(file, 'not a database, '.repeat(1_000));
  let thrown: unknown;
  try {
    openDatabase(file, fakeClock());
  } catch (error) {
    thrown = explainToOperator(error, file);
  }
  expect(thrown).toMatchObject({
    reason: 'unavailable',
    message: expect.stringMatching(/errand\.db is damaged .*NOTADB.*put a backup in its place.*\.recover/),
  });
});

test('a damaged page refuses what needs it, in words; the rest continues, and the damage stays reported', async () => {
  const file = await fileWithPages();
  const { size } = statSync(file);
  const descriptor = openSync(file, 'r+');
  for (let at = Math.floor(size / 8192) * 4096; at < size; at += 4096)
    writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, at);
  closeSync(descriptor);
  const fixture = open(file);
  const read = () => fixture.database.read((tx) => tx.all('SELECT * FROM teams'))();
  await expect(read()).rejects.toThrow(/^The daemon's storage is damaged\.$/);
  expect(fixture.troubles).toEqual([expect.stringMatching(/errand\.db is damaged .*CORRUPT.*backup/)]);
  await fixture.database.write((tx) => tx.get('SELECT count(*) FROM api_keys'))();
  expect(fixture.database.fault()).toMatch(/damaged/);
  await expect(read()).rejects.toThrow(/damaged/);
  expect(fixture.troubles).toHaveLength(1);
});

test('a truncated file is reported as damaged', async () => {
  const file = await fileWithPages();
  truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096);
  const refusal = expect.stringMatching(/is damaged/);
  const outcomes = async () => {
    try {
      const { database } = open(file);
      await database.read((tx) => tx.all('SELECT * FROM teams'))();
    } catch (error) {
      return messageOf(explainToOperator(error, file));
    }
    return '';
  };
  expect(await outcomes()).toEqual(refusal);
});

test('the writer answers with a commit, and with a refusal while another process holds the file', async () => {
  const fixture = open();
  await expect(fixture.database.answered()).resolves.toBeUndefined();
  const lock = lockBeside(fixture);
  const answer = fixture.database.answered();
  await turns(1);
  fixture.clock.advance(5_000);
  await expect(answer).rejects.toMatchObject({ reason: 'unavailable' });
  lock.end();
});
