// Other clients of the same database: their locks, deadlocks with them, and statements that they end.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { type Database, NO_ALARMS } from '../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import type { Reader, Transaction } from '../../../../src/store/engine/statement.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { type Cluster, startCluster, SUPERUSER } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let cluster: Cluster;
let made = 0;

async function aDatabase(): Promise<Database & { readonly name: string; readonly troubles: readonly string[] }> {
  const name = `contention_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
  // A deadlock is found by the daemon's side, whose statement fails then.
  await cluster.query('postgres', `ALTER ROLE errand IN DATABASE ${name} SET deadlock_timeout = '4s'`);
  await cluster.query('postgres', `ALTER ROLE ${SUPERUSER} IN DATABASE ${name} SET deadlock_timeout = '60s'`);
  const troubles: string[] = [];
  const alarms = { ...NO_ALARMS, trouble: (words: string) => void troubles.push(words) };
  const database = openPostgres(addressOf(cluster.url(name)), systemClock, { alarms });
  onTestFinished(() => database.close());
  await database.answered();
  return { ...database, name, troubles };
}

async function administrator(database: string): Promise<Client> {
  const client = new Client({ host: cluster.directory, user: SUPERUSER, database });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const addTeam = (tx: Transaction, name: string) =>
  tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
const teams = (tx: Reader) => tx.all<{ id: string; name: string }>('SELECT id, name FROM teams ORDER BY id');
const setNode = (tx: Transaction, id: string) =>
  tx.run(
    `INSERT INTO worker_nodes (id, place, name, version, address, slots, labels, running, draining, noticed, beats, contests,
       last_beat_at, registered_at) VALUES (?, '', '', '', '', 1, '[]', 0, 0, 0, 1, 0, 0, 0)`,
    id,
  );
/** Waits until the daemon waits for a lock: in the server, since the daemon waits for 5 s only. */
const UNTIL_SOMEONE_WAITS = `DO $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'errand' AND wait_event_type = 'Lock')
    LOOP PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP;
  END $$`;

describe.skipIf(!canRunPostgres())('beside other clients', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test.for([1, 8])('a deadlock undoes a transaction, whose %i verbs are each carried out once', async (number) => {
    const database = await aDatabase();
    await database.write(addTeam)('one');
    await database.write(addTeam)('two');
    const admin = await administrator(database.name);
    await admin.query("BEGIN; UPDATE teams SET name = name || ' (theirs)' WHERE id = 'two'");
    const rename = database.write(function* (tx: Transaction) {
      for (const id of ['one', 'two']) yield* tx.count("UPDATE teams SET name = name || '+' WHERE id = ?", id);
    });
    const others = Array.from({ length: number - 1 }, (_, at) => database.write(setNode)(`node ${at}`));
    // The row that the verb has changed: then each waits for the other.
    const theirs = `${UNTIL_SOMEONE_WAITS}; UPDATE teams SET name = name || ' (theirs)' WHERE id = 'one'; COMMIT`;
    await Promise.all([admin.query(theirs), rename(), ...others]);
    expect(await database.read(teams)()).toEqual([
      { id: 'one', name: 'one (theirs)+' },
      { id: 'two', name: 'two (theirs)+' },
    ]);
    const nodes = database.read((tx) => tx.get('SELECT count(*) AS number FROM worker_nodes'));
    expect(await nodes()).toEqual({ number: number - 1 });
    expect(database.troubles).toEqual([]);
  });

  test('a table that is locked refuses the verbs that need it, and no other; they wait for it together', async () => {
    const database = await aDatabase();
    const admin = await administrator(database.name);
    await admin.query('BEGIN; LOCK TABLE teams IN ACCESS EXCLUSIVE MODE');
    const settled: string[] = [];
    const call = (verb: Promise<void>, name: string) => verb.then(() => void settled.push(name));
    // One after another, they would wait for minutes.
    const refused = Array.from({ length: 40 }, (_, at) => database.write(addTeam)(`team ${at}`));
    const others = Array.from({ length: 5 }, (_, at) => call(database.write(setNode)(`node ${at}`), 'node'));
    const outcomes = await Promise.allSettled(refused);
    await Promise.all(others);
    expect(outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : one.status))).toEqual(
      Array(40).fill(expect.stringContaining('is locked by another client')),
    );
    expect(settled).toHaveLength(5);
    expect(database.fault()).toBe(null);
    expect(database.troubles.join()).toContain('See pg_stat_activity and pg_locks');
    await expect(database.read(teams)()).rejects.toThrow('is locked by another client');
    await admin.query('COMMIT');
    await database.write(addTeam)('late');
    expect(await database.read(teams)()).toEqual([{ id: 'late', name: 'late' }]);
    expect(database.fault()).toBe(null);
  });

  test('a statement that an administrator ends is refused, and its transaction undone', async () => {
    const database = await aDatabase();
    const admin = await administrator(database.name);
    const slow = database.write(function* (tx: Transaction) {
      yield* addTeam(tx, 'half');
      yield* tx.get('SELECT pg_sleep(100)::text AS slept');
    });
    const ended = expect(slow()).rejects.toThrow('is locked by another client, or too slow');
    const cancel =
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(100)%' AND usename = 'errand'";
    await waitFor(async () => (await admin.query(cancel)).rows.length > 0);
    await ended;
    await database.write(addTeam)('whole');
    expect(await database.read(teams)()).toEqual([{ id: 'whole', name: 'whole' }]);
  });
});
