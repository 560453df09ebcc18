// How a transaction ended, where its connection ends with it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { makeStreamSeqs } from '../../../../../src/store/engine/postgres/commits/journal.ts';
import { transact } from '../../../../../src/store/engine/postgres/commits/transact.ts';
import type { Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeKeys } from '../../../../../src/store/engine/postgres/statements/keys.ts';
import type { Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import { type Cluster, startCluster } from '../../../../support/postgres/cluster.ts';
import { patientConnection } from '../../../../support/postgres/patient-connection.ts';
import { canRunPostgres } from '../../../../support/postgres/programs.ts';

describe.skipIf(!canRunPostgres())('a transaction', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.query('postgres', 'CREATE DATABASE ended OWNER errand');
  });
  afterAll(() => cluster.close());

  test('whose answer to COMMIT is lost by a fault of TLS may have been kept', async () => {
    const connection = await patientConnection(cluster.url('ended'));
    await connection.say(
      'CREATE TABLE notes (id BIGINT); CREATE TABLE last_transactions (writer TEXT PRIMARY KEY, number xid8)',
    );
    const losing: Connection = {
      ...connection,
      say: async (text) => {
        const answer = await connection.say(text);
        if (text === 'COMMIT')
          throw Object.assign(new Error('bad record mac'), { code: 'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC' });
        return answer;
      },
    };
    const verb = {
      scope: 'all',
      *verb(tx: Transaction): Step<number> {
        return yield* tx.count('INSERT INTO notes (id) VALUES (?)', 7);
      },
    } as const;
    const keys = { ...makeKeys(), refill: () => undefined };
    const parts = {
      clock: systemClock,
      keys,
      streamSeqs: makeStreamSeqs(),
      writer: 'w',
      turn: null,
      hasWaited: false,
    };
    expect(await transact(losing, [verb], parts)).toMatchObject({ kind: 'unknown', emits: false });
    expect((await connection.say('SELECT count(*)::int4 FROM notes')).rows).toEqual([[1]]);
  });
});
