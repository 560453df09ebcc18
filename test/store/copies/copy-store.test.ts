// Moving a store from one engine to the other and back.
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { type CopyRequest, type CopyStep, copyStore } from '../../../src/store/copies/copy-store.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { lockDataDirectory } from '../../../src/store/engine/sqlite/file/lock.ts';
import type { StoreLocation } from '../../../src/store/location.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';
import { addressOf } from '../../support/postgres/address-of.ts';
import { canRunPostgres } from '../../support/postgres/programs.ts';
import { dumpFile } from '../../support/store/dump-file.ts';
import { callEveryVerb } from '../../support/store/every-verb.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

let cluster: Cluster;
let made = 0;

async function emptyDatabase(): Promise<StoreLocation & { readonly kind: 'postgres' }> {
  const name = `copy_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return { kind: 'postgres', address: addressOf(cluster.url(name)), connections: 4 };
}

const fileIn = (directory = temporaryDirectory()) => ({ kind: 'sqlite', file: join(directory, 'errand.db') }) as const;

type Over = Partial<Omit<CopyRequest, 'from' | 'to'>>;
const copy = (from: StoreLocation, to: StoreLocation, over: Over = {}) =>
  copyStore({
    from,
    to,
    dataDir: temporaryDirectory(),
    progress: () => undefined,
    signal: new AbortController().signal,
    ...over,
  });

const kept = temporaryDirectory({}, { onTestFinished: afterAll });
/** A store with rows of nearly every table, closed; and the same with strange ones. Made once. */
const [plain, strange] = [join(kept, 'plain.db'), join(kept, 'strange.db')];

async function furnish(): Promise<void> {
  const fixture = await storeFixture(plain);
  await callEveryVerb(fixture);
  await fixture.accept();
  await fixture.store.close();
  // What the fixture has open beside the store keeps its log.
  const connection = new Connection(plain);
  connection.pragma('wal_checkpoint(TRUNCATE)');
  connection.close();
  copyFileSync(plain, strange);
  addStrange(strange);
}

/** A copy of one of them in a directory of its own. */
async function furnished(of = plain) {
  if (!existsSync(plain)) await furnish();
  const place = fileIn();
  copyFileSync(of, place.file);
  return place;
}

/** Texts that are longer than a batch, or that PostgreSQL doesn't take as they are, and numbers at their limits. */
function addStrange(file: string): void {
  const connection = new Connection(file);
  const [message] = connection.prepare('SELECT * FROM messages LIMIT 1').all() as {
    run_seq: number;
    session_seq: number;
  }[];
  const run = connection.prepare('SELECT max(seq) + 1 FROM runs').pluck();
  const addRun = connection.prepare(
    `INSERT INTO runs (seq, id, session_seq, user_seq, protocol, status, schedule_mode, ready, requested_model, include_usage,
       opened_session, target, cost_usd, created_at)
     SELECT ?, 'strange-' || ?, session_seq, user_seq, protocol, 'queued', schedule_mode, 0, requested_model, 0, 0, target, ?, ?
     FROM runs WHERE seq = ?`,
  );
  const add = connection.prepare(
    "INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at) VALUES (?, ?, 'user', ?, ?, ?)",
  );
  const texts = [
    'a\0b\0',
    '\uFDD0',
    '\uFDD00\0',
    '\uD800',
    'x\uDC00y',
    '',
    '\\N',
    "'; DROP TABLE runs",
    '\u{10FFFF}\uFFFF',
    '\r\n\t',
    ...Array.from(
      { length: 5 },
      (_, index) => randomBytes(2_600_000).toString('base64') + index + 'é'.repeat(3_000_000),
    ),
  ];
  for (const [index, text] of texts.entries()) {
    const seq = run.get() as number;
    const cost = [0.1, 1e-300, 1.7976931348623157e308, -1.5][index] ?? 0;
    addRun.run(seq, seq, cost, [9_223_372_036_854_775_807n, -1n][index] ?? 1n, message!.run_seq);
    add.run(message!.session_seq, seq, text, text.slice(0, 100), index);
  }
  connection.close();
}

describe.skipIf(!canRunPostgres())('errand store copy', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test('there and back, all rows are the same, and so is what numbers the next ones', async () => {
    const from = await furnished(strange);
    const before = dumpFile(from.file);
    const filled = Object.values(before).filter((rows) => Array.isArray(rows) && rows.length > 0);
    expect(filled.length).toBeGreaterThan(40);
    const [there, back] = [await emptyDatabase(), fileIn()];
    const compared = await copy(from, there);
    expect(compared.every(({ source, target }) => source.rows === target.rows && source.sha256 === target.sha256)).toBe(
      true,
    );
    expect(dumpFile(from.file)).toEqual(before);
    const again = await copy(there, back);
    expect(again.map(({ source }) => source)).toEqual(compared.map(({ source }) => source));
    expect(readdirSync(dirname(back.file))).toEqual(['errand.db']);
    expect(dumpFile(back.file)).toEqual(before);
    expect(statSync(back.file).mode & 0o777).toBe(0o600);
  });

  test('a daemon continues with the copy: new rows get the next numbers, and keys their counts', async () => {
    const from = await furnished();
    const there = await emptyDatabase();
    const [sessions, listed] = await copy(from, there).then(async () => {
      const database = openPostgres(there.address, systemClock);
      const add = database.write(function* (tx) {
        const user = (yield* tx.get<{ seq: number }>('SELECT seq FROM users LIMIT 1'))!;
        const key = (yield* tx.get<{ seq: number; listed: number }>(
          'SELECT seq, listed_sessions AS listed FROM api_keys LIMIT 1',
        ))!;
        const seq = yield* tx.insert(
          `INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, created_at, updated_at)
           VALUES ('new', ?, ?, 'api', '', 'pending', 1, 1)`,
          user.seq,
          key.seq,
        );
        const now = (yield* tx.get<{ listed: number }>(
          'SELECT listed_sessions AS listed FROM api_keys WHERE seq = ?',
          key.seq,
        ))!;
        return [seq, now.listed - key.listed] as const;
      });
      const added = await add();
      await database.close();
      return added;
    });
    const last = new Connection(from.file, { readonly: true }).prepare('SELECT max(seq) FROM sessions').pluck().get();
    expect(sessions).toBe(Number(last) + 1);
    expect(listed).toBe(1);
  });

  test('an interrupted copy is continued, in both directions, wherever it was', async () => {
    const from = await furnished(strange);
    const before = dumpFile(from.file);
    const [there, back] = [await emptyDatabase(), fileIn()];
    for (const [source, target] of [
      [from, there],
      [there, back],
    ] as const) {
      const seen: string[] = [];
      for (const point of ['copying 2', 'copying 20', 'copying 3', 'comparing 5', 'indexes 20', 'indexes 3']) {
        const interrupted = new AbortController();
        let [step, count] = ['', 0];
        const progress = (now: CopyStep, done: number, total: number) => {
          count = now === step ? count + 1 : 1;
          step = now;
          if (count === 1) seen.push(`${now} from ${done === 0 ? 'the start' : 'there'}`);
          expect(done).toBeLessThanOrEqual(total);
          if (`${step} ${count}` === point) interrupted.abort(new Error(point));
        };
        await expect(copy(source, target, { progress, signal: interrupted.signal })).rejects.toThrow(point);
      }
      expect(target.kind === 'sqlite' && existsSync(target.file)).toBe(false);
      const rows: number[] = [];
      await copy(source, target, { progress: (step, done) => step === 'copying' && rows.push(done) });
      // All of them were there.
      expect(rows).toEqual([]);
    }
    expect(dumpFile(back.file)).toEqual(before);
  });

  test('what has changed at the source between two calls is noticed', async () => {
    const from = await furnished();
    const there = await emptyDatabase();
    const interrupted = new AbortController();
    const progress = (step: CopyStep) => step === 'comparing' && interrupted.abort(new Error('stopped'));
    await expect(copy(from, there, { progress, signal: interrupted.signal })).rejects.toThrow('stopped');
    const connection = new Connection(from.file);
    connection.exec("UPDATE users SET full_name = 'Changed'");
    connection.close();
    await expect(copy(from, there)).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringMatching(/: users \(\d+ rows there, \d+ here\)\. /) as string,
    });
    expect(await cluster.query(there.address.database, "SELECT to_regclass('schema_version') AS is")).toEqual([
      { is: null },
    ]);
  });

  test('a daemon does not start with a database whose copy was interrupted', async () => {
    const there = await emptyDatabase();
    const interrupted = new AbortController();
    const progress = () => interrupted.abort(new Error('stopped'));
    await expect(copy(await furnished(), there, { progress, signal: interrupted.signal })).rejects.toThrow('stopped');
    const database = openPostgres(there.address, systemClock);
    await expect(database.answered()).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('errand store copy') as string,
    });
    await database.close();
  });

  test('a database whose tables a daemon has made, and not used, is as good as an empty one', async () => {
    const [from, there] = [await furnished(), await emptyDatabase()];
    const database = openPostgres(there.address, systemClock);
    await database.answered();
    await database.close();
    const back = fileIn();
    await copy(from, there);
    await copy(there, back);
    expect(dumpFile(back.file)).toEqual(dumpFile(from.file));
  });

  test('what is not empty is refused, and stays as it is', async () => {
    const from = await furnished();
    const there = await emptyDatabase();
    await cluster.query(there.address.database, 'CREATE TABLE theirs ()');
    await expect(copy(from, there)).rejects.toThrow('is not empty: it has tables');
    const other = await emptyDatabase();
    await copy(from, other);
    await expect(copy(from, other)).rejects.toThrow('is not empty: an Errand stores its rows there');
    const file = fileIn();
    writeFileSync(file.file, 'theirs');
    await expect(copy(other, file)).rejects.toThrow('exists already');
    expect(readFileSync(file.file, 'utf8')).toBe('theirs');
    await expect(copy(from, from)).rejects.toMatchObject({ reason: 'bad_request' });
  });

  test('another schema is refused, older or newer, and what is no store', async () => {
    const there = await emptyDatabase();
    const change = async (version: number) => {
      const from = await furnished();
      const connection = new Connection(from.file);
      connection.pragma(`user_version = ${version}`);
      connection.close();
      return from;
    };
    await expect(copy(await change(SCHEMA_VERSION + 1), there)).rejects.toThrow('newer than');
    await expect(copy(await change(SCHEMA_VERSION - 1), there)).rejects.toThrow('Start the daemon once with it');
    await expect(copy(await change(0), there)).rejects.toThrow('is not a database of Errand');
    await expect(copy(there, fileIn())).rejects.toThrow('is not a database of Errand');
    await expect(copy(fileIn(), there)).rejects.toMatchObject({ reason: 'not_found' });
    await copy(await furnished(), there);
    await cluster.query(there.address.database, `UPDATE schema_version SET version = ${SCHEMA_VERSION + 1}`);
    await expect(copy(there, fileIn())).rejects.toThrow('newer than');
  });

  test('while a daemon uses a place, nothing is copied', async () => {
    const from = await furnished();
    const there = await emptyDatabase();
    const lock = lockDataDirectory(dirname(from.file));
    await expect(copy(from, there)).rejects.toThrow('is in use by another Errand');
    lock.release();
    await copy(from, there);
    const daemon = openPostgres(there.address, systemClock);
    await daemon.answered();
    await expect(copy(there, fileIn())).rejects.toThrow('in use by another Errand');
    await daemon.close();
  });

  test('a server that ends in between is named, and the copy is continued when it is back', async () => {
    const from = await furnished(strange);
    const there = await emptyDatabase();
    let ended: Promise<unknown> | undefined;
    const progress = (step: CopyStep, done: number) => {
      if (step === 'copying' && done > 20) ended ??= cluster.stop();
    };
    await expect(copy(from, there, { progress })).rejects.toMatchObject({ reason: 'unavailable' });
    await ended;
    await cluster.start();
    await copy(from, there);
    const back = fileIn();
    await copy(there, back);
    expect(dumpFile(back.file)).toEqual(dumpFile(from.file));
  });

  test('a file that was begun by another version is left alone', async () => {
    const there = await emptyDatabase();
    await copy(await furnished(), there);
    const file = fileIn();
    const connection = new Connection(`${file.file}.copy`);
    connection.exec('CREATE TABLE teams (id)');
    connection.close();
    await expect(copy(there, file)).rejects.toThrow('was begun by another version');
  });
});
