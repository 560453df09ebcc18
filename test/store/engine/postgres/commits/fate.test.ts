// What became of a transaction whose connection was lost, as the server tells.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { eventsOf } from '../../../../../src/store/engine/postgres/commits/fate.ts';
import { clientConfig, readPostgresAddress } from '../../../../../src/store/engine/postgres/connections/address.ts';
import { connect, type Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import { type Cluster, startCluster } from '../../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../../support/postgres/programs.ts';

describe.skipIf(!canRunPostgres())('the fate of a transaction', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.query('postgres', 'CREATE DATABASE fates OWNER errand');
  });
  afterAll(() => cluster.close());

  test('is known by what it has written, not by a number that another one may have after a crash', async () => {
    const connection = await opened();
    const [own, another] = [await marked(connection, 'a'), await marked(connection, 'b')];
    const none = String((await connection.say('SELECT pg_current_xact_id()::text')).rows[0]![0]);
    const fateOf = (id: string, emits: boolean) =>
      eventsOf({ id, writer: 'a', emits }, writerOf(connection), systemClock);
    expect(await fateOf(own, false)).toEqual([]);
    for (const id of [another, none]) for (const emits of [false, true]) expect(await fateOf(id, emits)).toBe(null);
  });

  test('brings the events of the transaction, and none of another', async () => {
    const connection = await opened();
    const add = (session: number) =>
      connection.say(`BEGIN; INSERT INTO events (session_seq, type, payload, created_at) VALUES (${session}, 'session.deleted', '{}', 0);
        SELECT pg_current_xact_id()::text AS id; COMMIT`);
    await add(1);
    await add(2);
    const { rows } = await connection.say('SELECT xmin::text, id FROM events WHERE session_seq = 1');
    const found = await eventsOf(
      { id: String(rows[0]![0]), writer: 'a', emits: true },
      writerOf(connection),
      systemClock,
    );
    expect(found).toMatchObject([{ id: rows[0]![1], sessionSeq: 1 }]);
  });

  /** A connection to a database with the schema. */
  async function opened(): Promise<Connection> {
    const read = readPostgresAddress(cluster.url('fates'));
    if (!read.ok) throw new Error(read.problems.join());
    const database = openPostgres(read.address, systemClock);
    await database.answered();
    await database.close();
    const connection = await connect(clientConfig(read.address), () => undefined);
    onTestFinished(() => connection.close());
    return connection;
  }
});

/** The number of a transaction without events, as a writer leaves it. */
async function marked(connection: Connection, writer: string): Promise<string> {
  const { rows } = await connection.say(
    `INSERT INTO last_transactions VALUES ('${writer}', pg_current_xact_id()) RETURNING number::text`,
  );
  return String(rows[0]![0]);
}

const writerOf = (connection: Connection) => ({
  connection: async () => connection,
  lastId: () => 0,
  reached: () => undefined,
  close: async () => undefined,
});
