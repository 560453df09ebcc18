// How a server's database comes to a schema, and which code may use it meanwhile and afterwards: this one, and a newer one that is made of it.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { type Database, NO_ALARMS, type StoreAlarms } from '../../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import { LOCKS } from '../../../../../src/store/engine/postgres/opening/lock.ts';
import { MAKE_VERSION } from '../../../../../src/store/engine/postgres/opening/migrate.ts';
import { postgresSchema } from '../../../../../src/store/engine/postgres/sql/schema.ts';
import * as schema from '../../../../../src/store/engine/schema.ts';
import type { Reader, Transaction } from '../../../../../src/store/engine/statement.ts';
import { addressOf } from '../../../../support/postgres/address-of.ts';
import { type Cluster, startCluster, SUPERUSER } from '../../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../../support/postgres/programs.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';

const { MIGRATIONS, RUNS_WITH, SCHEMA_VERSION } = schema;
const NEWER = SCHEMA_VERSION + 1;
/** A column in the midst of what some statements read. */
const ADD_COLUMN = 'ALTER TABLE teams ADD COLUMN added TEXT;';

let cluster: Cluster;
let made = 0;

async function emptyDatabase(): Promise<string> {
  const name = `schemas_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
  return name;
}

function open(name: string, alarms: Partial<StoreAlarms> = {}, code = openPostgres): Database {
  const options = { alarms: { ...NO_ALARMS, ...alarms }, connections: 3, isLocked: false };
  const database = code(addressOf(cluster.url(name)), systemClock, options);
  onTestFinished(() => database.close());
  return database;
}

/** The code of the next version, whose migration adds a column. `runsWith`: the oldest version that goes on. */
async function newerCode(runsWith: number): Promise<typeof openPostgres> {
  vi.resetModules();
  vi.doMock('../../../../../src/store/engine/schema.ts', () => ({
    ...schema,
    SCHEMA_VERSION: NEWER,
    MIGRATIONS: [...MIGRATIONS, { sql: ADD_COLUMN, runsWith }],
    RUNS_WITH: Math.max(RUNS_WITH, runsWith),
    refusalOfSchema: (version: number) => (version > NEWER ? 'is newer' : null),
  }));
  const code = await import('../../../../../src/store/engine/postgres/open-database.ts');
  vi.doUnmock('../../../../../src/store/engine/schema.ts');
  // The next file of this worker shares its modules: it must not get those of the newer code.
  vi.resetModules();
  return code.openPostgres;
}

const addTeam = (tx: Transaction, name: string) =>
  tx.count('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
const teams = (tx: Reader) =>
  tx.all<{ name: string; one: number }>('SELECT t.*, 1 AS one FROM teams t ORDER BY t.name');
const versionOf = async (name: string) =>
  (await cluster.query<{ version: string; runs_with: string }>(name, 'SELECT * FROM schema_version'))[0]!;

describe.skipIf(!canRunPostgres())('the schema on a server', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test('of several processes that start with an empty database at once, one makes it', async () => {
    const name = await emptyDatabase();
    const databases = Array.from({ length: 4 }, () => open(name));
    await Promise.all(databases.map((database) => database.answered()));
    await databases[0]!.write(addTeam)('one');
    expect(await databases[3]!.read(teams)()).toMatchObject([{ name: 'one' }]);
    expect(await versionOf(name)).toMatchObject({ version: SCHEMA_VERSION, runs_with: RUNS_WITH });
  });

  test('a process that waits for another one to change it says so, and finds what that has made', async () => {
    const name = await emptyDatabase();
    const other = new Client({ connectionString: cluster.url(name) });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query(`SELECT pg_advisory_lock(${LOCKS.class}, ${LOCKS.schema})`);
    const steps: schema.MigrationStep[] = [];
    const answered = open(name, { migrating: (step) => steps.push(step) }).answered();
    await waitFor(() => steps.length > 0);
    await other.query(postgresSchema() + MAKE_VERSION);
    await other.query(`SELECT pg_advisory_unlock(${LOCKS.class}, ${LOCKS.schema})`);
    await answered;
    expect(steps).toEqual([{ kind: 'wait', from: 0, to: SCHEMA_VERSION, bytes: 0 }]);
  });

  test('of several processes that start with an older one at once, one changes it', async () => {
    const name = await emptyDatabase();
    const older = open(name);
    await older.answered();
    await older.close();
    const code = await newerCode(NEWER);
    await Promise.all(Array.from({ length: 4 }, () => open(name, {}, code).answered()));
    expect(await versionOf(name)).toMatchObject({ version: NEWER, runs_with: NEWER });
  });

  test('a process goes on while newer code expands the schema, and starts with the result', async () => {
    const name = await emptyDatabase();
    const database = open(name);
    const add = database.write(addTeam);
    const read = database.read(teams);
    await add('one');
    await Promise.all([read(), read()]);
    await open(name, {}, await newerCode(SCHEMA_VERSION)).answered();
    expect(await versionOf(name)).toMatchObject({ version: NEWER, runs_with: SCHEMA_VERSION });
    await add('two');
    expect(await Promise.all([read(), read()])).toEqual([
      [expect.objectContaining({ name: 'one', one: 1 }), expect.objectContaining({ name: 'two', one: 1 })],
      [expect.objectContaining({ name: 'one', one: 1 }), expect.objectContaining({ name: 'two', one: 1 })],
    ]);
    const again = open(name);
    await again.write(addTeam)('three');
    expect(await again.read(teams)()).toHaveLength(3);
  });

  test('a table that others read for longer than is waited for is changed when they let it go', async () => {
    const name = await emptyDatabase();
    const database = open(name);
    await database.answered();
    const reader = new Client({ connectionString: cluster.url(name) });
    await reader.connect();
    onTestFinished(() => reader.end());
    await reader.query('BEGIN; SELECT * FROM teams');
    const steps: schema.MigrationStep[] = [];
    const changed = open(name, { migrating: (step) => steps.push(step) }, await newerCode(SCHEMA_VERSION)).answered();
    const gaveUp = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND state = 'idle' AND query = 'ROLLBACK'`;
    await waitFor(async () => (await cluster.query(name, gaveUp)).length > 0);
    await database.write(addTeam)('one');
    await reader.query('COMMIT');
    await changed;
    expect(steps).toMatchObject([{ kind: 'change' }]);
  });

  test('a change that older code can’t go on with waits until none runs, and keeps it out from then on', async () => {
    const name = await emptyDatabase();
    const database = open(name);
    await database.answered();
    const code = await newerCode(NEWER);
    await expect(open(name, {}, code).answered()).rejects.toThrow(
      /is in use by an older Errand \(errand .+, from this machine\) that could not go on with the schema of this one\. Stop every older node/,
    );
    await database.write(addTeam)('one');
    await database.close();
    await open(name, {}, code).answered();
    await expect(open(name).answered()).rejects.toThrow(
      `has schema version ${NEWER}, newer than the ${SCHEMA_VERSION}`,
    );
  });

  test('a process that was away while the schema went beyond it ends', async () => {
    const name = await emptyDatabase();
    const lost = Promise.withResolvers<unknown>();
    const database = open(name, { lost: lost.resolve });
    await database.answered();
    const admin = new Client({ host: cluster.directory, user: SUPERUSER, database: name });
    await admin.connect();
    onTestFinished(() => admin.end());
    await cluster.query('postgres', `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin.query(`UPDATE schema_version SET version = ${NEWER}, runs_with = ${NEWER}`);
    await cluster.query(
      'postgres',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND usename <> '${SUPERUSER}'`,
    );
    await cluster.query('postgres', `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await expect(database.write(addTeam)('one')).rejects.toThrow();
    expect(String(await lost.promise)).toContain(`has schema version ${NEWER}, newer than the ${SCHEMA_VERSION}`);
  });
});
