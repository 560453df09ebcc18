// What became of a transaction whose connection was lost, as the server tells.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { eventsOf } from '../../../../../src/store/engine/postgres/commits/fate.ts';
import { clientConfig, readPostgresAddress } from '../../../../../src/store/engine/postgres/connections/address.ts';
import { connect } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import type { Step, Transaction } from '../../../../../src/store/engine/statement.ts';
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
    const read = readPostgresAddress(cluster.url('fates'));
    if (!read.ok) throw new Error(read.problems.join());
    const database = openPostgres(read.address, systemClock);
    onTestFinished(() => database.close());
    let own = '';
    await database.write(function* (tx: Transaction): Step<void> {
      own = (yield* tx.get<{ id: string }>('SELECT pg_current_xact_id()::text AS id'))!.id;
    })();
    const connection = await connect(clientConfig(read.address), () => undefined);
    onTestFinished(() => connection.close());
    const another = String((await connection.say('SELECT pg_current_xact_id()::text')).rows[0]![0]);
    const writer = {
      connection: async () => connection,
      lastId: () => 0,
      reached: () => undefined,
      close: async () => undefined,
    };
    const fateOf = (id: string, emits: boolean) => eventsOf({ id, emits }, writer, systemClock);
    expect([await fateOf(own, false), await fateOf(another, false), await fateOf(another, true)]).toEqual([
      [],
      null,
      null,
    ]);
  });
});
