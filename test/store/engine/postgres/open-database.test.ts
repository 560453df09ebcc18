// The engine on a real server: what its verbs promise, and what they do when connections end.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { Database, StoreAlarms } from '../../../../src/store/engine/database.ts';
import { NO_ALARMS } from '../../../../src/store/engine/database.ts';
import { readPostgresAddress } from '../../../../src/store/engine/postgres/connections/address.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import type { Reader, Step, Transaction } from '../../../../src/store/engine/statement.ts';
import { type Cluster, startCluster, SUPERUSER } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let cluster: Cluster;
let made = 0;

async function emptyDatabase(): Promise<string> {
  const name = `engine_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
  return name;
}

function open(name: string, alarms: Partial<StoreAlarms> = {}, clock = systemClock): Database {
  const read = readPostgresAddress(cluster.url(name));
  if (!read.ok) throw new Error(read.problems.join());
  const database = openPostgres(read.address, clock, { alarms: { ...NO_ALARMS, ...alarms } });
  onTestFinished(() => database.close());
  return database;
}

const addTeam = (tx: Transaction, name: string) =>
  tx.count('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
const teams = (tx: Reader) => tx.all<{ name: string }>('SELECT name FROM teams ORDER BY name');
/** Ends the connections that write, or all. */
const endConnections = (name: string, which = 'true') =>
  cluster.query(
    'postgres',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND usename <> '${SUPERUSER}' AND ${which}`,
  );

describe.skipIf(!canRunPostgres())('a database of PostgreSQL', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test('is made where it is empty, and found again', async () => {
    const name = await emptyDatabase();
    const first = open(name);
    await first.write(addTeam)('one');
    await first.close();
    expect(await open(name).read(teams)()).toEqual([{ name: 'one' }]);
  });

  test('a verb that throws among many costs them few transactions', async () => {
    // However slow the machine is, the verbs have time.
    const database = open(await emptyDatabase(), {}, { ...systemClock, monotonic: () => 0 });
    const add = database.write(addTeam);
    await add('first');
    let commits = 0;
    database.watchCommits({
      committed: () => void (commits += 1),
      refused: () => undefined,
      repeated: () => undefined,
    });
    const names = Array.from({ length: 64 }, (_, at) => String(100 + at));
    const outcomes = await Promise.allSettled(names.map((name) => add(name === '140' ? 'first' : name)));
    expect(outcomes.flatMap(({ status }, at) => (status === 'rejected' ? [names[at]] : []))).toEqual(['140']);
    expect(await database.read(teams)()).toHaveLength(64);
    expect(commits).toBeLessThan(10);
  });

  test('a verb that throws, or whose statement fails, rejects alone', async () => {
    const database = open(await emptyDatabase());
    const add = database.write(addTeam);
    const outcomes = await Promise.allSettled([
      add('one'),
      database.write(function* (tx: Transaction) {
        yield* addTeam(tx, 'half');
        throw new Error('changed my mind');
      })(),
      add('two'),
      add('one'),
      database.write((tx) => tx.run('INSERT INTO teams (id) VALUES (?)', 'x'))(),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(await database.read(teams)()).toEqual([{ name: 'one' }, { name: 'two' }]);
  });

  test('verbs of one session, and those on anything, are carried out one after another', async () => {
    const database = open(await emptyDatabase());
    await database.write(addTeam)('0');
    // Reads a number, and writes the next one: two at once would write the same.
    const count = database.write(
      function* (tx: Transaction, _session: number): Step<void> {
        const { name } = (yield* tx.get<{ name: string }>('SELECT name FROM teams'))!;
        yield* tx.run('UPDATE teams SET name = ?', String(Number(name) + 1));
      },
      { scope: (session) => (session === 0 ? 'all' : [session]) },
    );
    await Promise.all(Array.from({ length: 40 }, (_, at) => count(at % 10 === 0 ? 0 : 1)));
    expect(await database.read(teams)()).toEqual([{ name: '40' }]);
  });

  test('verbs that come together and take long share no transaction: the first waits for no other', async () => {
    const database = open(await emptyDatabase());
    await database.answered();
    let commits = 0;
    database.watchCommits({ committed: () => (commits += 1), refused: () => undefined, repeated: () => undefined });
    const slow = database.write(function* (tx: Transaction, name: string): Step<string> {
      yield* tx.get('SELECT pg_sleep(0.05)');
      yield* addTeam(tx, name);
      return name;
    });
    const names = Array.from({ length: 8 }, (_, at) => `team ${at}`);
    const settled: string[] = [];
    await Promise.all(names.map(async (name) => settled.push(await slow(name))));
    expect(settled).toEqual(names);
    expect(commits).toBe(names.length);
  });

  test('any text and any number comes back as it was given', async () => {
    const database = open(await emptyDatabase());
    const texts = ['\0', 'a\0b\uFDD0c\uFDD00', '\uFDD0', '', '😀 é', '\' \\ " $1 ?', 'x'.repeat(10_000_000)];
    const echo = database.read((tx: Reader, text: string) =>
      tx.get<{ text: string }>('SELECT CAST(? AS TEXT) AS text', text),
    );
    for (const text of texts) expect((await echo(text))!.text === text).toBe(true);
    // As SQLite stores them, too.
    expect(await echo('a\uD800b')).toEqual({ text: 'a\uFFFDb' });
    const values = await database.read((tx) =>
      tx.get(
        "SELECT CAST(9007199254740991 AS BIGINT) AS n, 0.5 AS half, sum(id) AS sum, 1 = 1 AS yes, NULL AS none, CAST('ab' AS BYTEA) AS bytes FROM webhooks",
      ),
    )();
    expect(values).toEqual({ n: 9007199254740991, half: 0.5, sum: null, yes: 1, none: null, bytes: Buffer.from('ab') });
  });

  test('a second daemon is refused, with the name of the first', async () => {
    const name = await emptyDatabase();
    await open(name).answered();
    await expect(open(name).answered()).rejects.toThrow(
      /in use by another Errand \(errand .+ \d+, from this machine\)/,
    );
  });

  test('a connection that ends in a transaction is replaced, and the verb carried out once', async () => {
    const name = await emptyDatabase();
    const database = open(name);
    await database.answered();
    let tries = 0;
    const slow = database.write(function* (tx: Transaction) {
      tries += 1;
      yield* addTeam(tx, 'one');
      yield* tx.get(`SELECT pg_sleep(${tries === 1 ? 30 : 0})::text AS slept`);
    });
    const done = slow();
    await waitFor(async () => (await endConnections(name, "query LIKE '%pg_sleep%' AND state = 'active'")).length > 0);
    await done;
    expect(tries).toBeGreaterThan(1);
    expect(await database.read(teams)()).toEqual([{ name: 'one' }]);
  });

  test('a connection that ends behind the commit keeps the transaction, which is not done twice', async () => {
    const name = await emptyDatabase();
    const database = open(name);
    const published: string[] = [];
    database.onCommitted((events) => void published.push(...events.map(({ type }) => type)));
    await database.answered();
    // The commit itself takes until it is ended: a trigger sleeps in it.
    await cluster.query(
      name,
      `CREATE FUNCTION sleep_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.name = 'try 1' THEN PERFORM pg_sleep(50); END IF; RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION sleep_once()`,
    );
    let tries = 0;
    const add = database.write(function* (tx: Transaction) {
      tries += 1;
      yield* addTeam(tx, `try ${tries}`);
    });
    const done = add();
    await waitFor(async () => (await endConnections(name, "query = 'COMMIT' AND state = 'active'")).length > 0);
    await done;
    const kept = await database.read(teams)();
    expect(kept).toEqual([{ name: `try ${tries}` }]);
  });

  test('tells its version, size and connections', async () => {
    const database = open(await emptyDatabase());
    const { engine, version, bytes, pool } = await database.figures();
    expect({ engine, pool }).toMatchObject({ engine: 'postgres', pool: { most: 11, waiting: 0 } });
    expect(version).toMatch(/^\d+/);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(await database.giveBack({ room: () => 10 })).toEqual({ rows: 0, more: false });
  });

  test('reads and writes go on after a restart of the server', async () => {
    const name = await emptyDatabase();
    const troubles: string[] = [];
    const database = open(name, { trouble: (words) => void troubles.push(words) });
    await database.write(addTeam)('one');
    await cluster.stop();
    await expect(database.read(teams)()).rejects.toMatchObject({ reason: 'unavailable' });
    const waiting = database
      .write(addTeam)('two')
      .catch((error: unknown) => error);
    await cluster.start();
    await waiting;
    await database.write(addTeam)('three');
    expect(await database.read(teams)()).toContainEqual({ name: 'three' });
    expect(database.fault()).toBe(null);
    expect(troubles.join()).toContain('is not reachable');
  });
});
