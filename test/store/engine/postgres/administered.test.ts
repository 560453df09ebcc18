// What an administrator has set for the role, or made the database with, changes nothing of what verbs promise.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { type Database, NO_ALARMS } from '../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import { SCHEMA_VERSION } from '../../../../src/store/engine/schema.ts';
import type { Reader, Transaction } from '../../../../src/store/engine/statement.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { type Cluster, startCluster } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let cluster: Cluster;
let made = 0;

async function aDatabase(how = ''): Promise<string> {
  const name = `administered_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand ${how}`);
  return name;
}

const setForRole = async (database: string, settings: Readonly<Record<string, string>>) => {
  for (const [setting, value] of Object.entries(settings))
    await cluster.query('postgres', `ALTER ROLE errand IN DATABASE ${database} SET ${setting} = ${value}`);
};

function open(name: string): Database & { readonly alarms: readonly string[] } {
  const heard: string[] = [];
  const hear = (words: string) => void heard.push(words);
  const alarms = { ...NO_ALARMS, trouble: hear, burdened: hear };
  const database = openPostgres(addressOf(cluster.url(name)), systemClock, { alarms });
  onTestFinished(() => database.close());
  return { ...database, alarms: heard };
}

const addTeam = (tx: Transaction, name: string) =>
  tx.count('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
const teams = (tx: Reader) => tx.all<{ name: string }>('SELECT name FROM teams ORDER BY name');

/** Each would break something: limits, bytes, numbers, literals, plans, what a transaction sees. */
const OTHERWISE = {
  statement_timeout: "'20ms'",
  lock_timeout: "'1ms'",
  idle_in_transaction_session_timeout: "'20ms'",
  idle_session_timeout: "'200ms'",
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  client_encoding: 'LATIN1',
  timezone: "'Asia/Kathmandu'",
  datestyle: "'German'",
  plan_cache_mode: 'force_custom_plan',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
};

describe.skipIf(!canRunPostgres())('a database that its administrator has set otherwise', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test('limits and forms that are set for the role are not those of the daemon', async () => {
    const name = await aDatabase();
    await setForRole(name, OTHERWISE);
    const database = open(name);
    const add = database.write(function* (tx: Transaction, text: string) {
      yield* addTeam(tx, text);
      yield* tx.get('SELECT pg_sleep(0.1)::text AS slept');
    });
    await add('É\\ü');
    // Longer than any of these limits.
    await cluster.query(name, 'SELECT pg_sleep(0.3)');
    await add('a');
    expect(await database.read(teams)()).toEqual([{ name: 'a' }, { name: 'É\\ü' }]);
    const [number, bytes] = [0.1 + 0.2, Buffer.from([255, 0, 92])];
    const values = database.read((tx: Reader) =>
      tx.get('SELECT CAST(? AS DOUBLE PRECISION) AS number, CAST(? AS BYTEA) AS bytes', number, bytes),
    );
    expect(await values()).toEqual({ number, bytes });
    expect([database.alarms, database.fault()]).toEqual([[], null]);
  });

  test('a role that may only read is told so, and may write again at once', async () => {
    const name = await aDatabase();
    await setForRole(name, { default_transaction_read_only: 'on' });
    await expect(open(name).answered()).rejects.toThrow('is read-only: a standby, or default_transaction_read_only');
    await setForRole(name, { default_transaction_read_only: 'off' });
    const database = open(name);
    await database.answered();
    await setForRole(name, { default_transaction_read_only: 'on' });
    await endConnections(name);
    await expect(database.write(addTeam)('one')).rejects.toThrow('refuses to write: it is read-only');
    expect(database.alarms.join()).toContain(
      'Name the primary server: this is a standby, or default_transaction_read_',
    );
    await setForRole(name, { default_transaction_read_only: 'off' });
    await endConnections(name);
    await database.write(addTeam)('two');
    expect(await database.read(teams)()).toEqual([{ name: 'two' }]);
    expect(database.fault()).toBe(null);
  });

  test('a server whose clock is another one is told of, and rows have the times of the daemon', async () => {
    const [now, alarms] = [systemClock.now() - 7_200_000, [] as string[]];
    const clock = { ...systemClock, now: () => now };
    const burdened = (words: string) => void alarms.push(words);
    const database = openPostgres(addressOf(cluster.url(await aDatabase())), clock, {
      alarms: { ...NO_ALARMS, burdened },
    });
    onTestFinished(() => database.close());
    const add = database.write((tx) =>
      tx.run("INSERT INTO teams (id, name, created_at, updated_at) VALUES ('a', 'a', ?, ?)", tx.now, tx.now),
    );
    await add();
    expect(await database.read((tx) => tx.get('SELECT created_at AS at FROM teams'))()).toEqual({ at: now });
    expect(alarms).toEqual([
      expect.stringMatching(/^the clock of the PostgreSQL .+ is 7\d\d\d s ahead of this machine's: /),
    ]);
  });

  test('a connection that is ended while nobody uses it is replaced at once, with the lock', async () => {
    const name = await aDatabase();
    const database = open(name);
    await database.answered();
    await endConnections(name);
    await waitFor(() => database.alarms.length > 0);
    expect(database.alarms).toEqual([
      expect.stringMatching(/ended the connection that writes \(terminating.+ new one/),
    ]);
    expect(database.fault()).toBe(null);
    await expect(open(name).answered()).rejects.toThrow(
      `The PostgreSQL database ${name} at ${cluster.directory}/.s.PGSQL.5432 is in use by another Errand (errand `,
    );
  });

  test('rows are in the order of their bytes, whatever the locale of the database', async () => {
    const words = ['a', 'B', 'Z', 'b', 'z', 'Ä', 'ä', 'é', 'ß', 'ss', '-a', ' a', '_', '10', '9', '', '😀', '\uE000'];
    const inOrder = words.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const icu = "LOCALE_PROVIDER icu ICU_LOCALE 'de-DE-u-co-phonebk' TEMPLATE template0";
    for (const how of ["LOCALE 'C' TEMPLATE template0", icu]) {
      const database = open(await aDatabase(how));
      for (const word of words) await database.write(addTeam)(word);
      expect((await database.read(teams)()).map(({ name }) => name)).toEqual(inOrder);
      const after = database.read((tx: Reader, word: string) =>
        tx.all<{ name: string }>('SELECT name FROM teams WHERE name > ? ORDER BY name DESC', word),
      );
      expect((await after('Z')).map(({ name }) => name)).toEqual(inOrder.filter((word) => word > 'Z').toReversed());
    }
  });

  test.for(['SQL_ASCII', 'LATIN1'])(
    'a database of the encoding %s is refused, and nothing is made there',
    async (encoding) => {
      const name = await aDatabase(`ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
      await expect(open(name).answered()).rejects.toThrow(
        `has the encoding ${encoding}, and Errand needs UTF8. Make it anew`,
      );
      expect(
        await cluster.query(name, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"),
      ).toEqual([]);
    },
  );

  test('a newer schema is refused, and stays; so does what is not ours', async () => {
    const name = await aDatabase();
    await open(name).close();
    const first = open(name);
    await first.answered();
    await first.close();
    await cluster.query(
      name,
      `UPDATE schema_version SET version = ${SCHEMA_VERSION + 1}, runs_with = ${SCHEMA_VERSION + 1}`,
    );
    await expect(open(name).answered()).rejects.toThrow(/schema .*newer/);
    expect(await cluster.query(name, 'SELECT version FROM schema_version')).toEqual([{ version: SCHEMA_VERSION + 1 }]);
    const other = await aDatabase();
    await cluster.query(other, 'CREATE TABLE theirs ()');
    await expect(open(other).answered()).rejects.toThrow("has tables that are not Errand's. Name an empty one.");
  });

  test('a role that loses its rights is told so, and goes on when it has them again', async () => {
    const name = await aDatabase();
    const database = open(name);
    await database.write(addTeam)('one');
    await cluster.query(name, 'ALTER TABLE teams OWNER TO postgres; REVOKE ALL ON teams FROM errand');
    await expect(database.write(addTeam)('two')).rejects.toThrow('refuses: rights are missing');
    await expect(database.read(teams)()).rejects.toThrow('refuses: rights are missing');
    expect(database.alarms.join()).toContain('permission denied for table teams');
    await cluster.query(name, 'ALTER TABLE teams OWNER TO errand; GRANT ALL ON teams TO errand');
    await database.write(addTeam)('three');
    expect(await database.read(teams)()).toEqual([{ name: 'one' }, { name: 'three' }]);
  });
});

/** Ends all connections of Errand. */
const endConnections = (database: string) =>
  cluster.query(
    'postgres',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND usename = 'errand'`,
  );
