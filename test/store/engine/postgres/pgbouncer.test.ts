// Behind PgBouncer: by session all is as without it, by transaction or statement the daemon refuses, and leaves nothing behind.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { copyStore } from '../../../../src/store/copies/copy-store.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { clientConfig } from '../../../../src/store/engine/postgres/connections/address.ts';
import { openServerInspector } from '../../../../src/store/engine/postgres/inspector.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { type Cluster, startCluster } from '../../../support/postgres/cluster.ts';
import { canRunPgBouncer, startPgBouncer } from '../../../support/postgres/pgbouncer.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';

let cluster: Cluster;

function open(url: string) {
  const database = openPostgres(addressOf(url), systemClock);
  onTestFinished(() => database.close());
  return database;
}

describe.skipIf(!canRunPostgres() || !canRunPgBouncer())('behind PgBouncer', () => {
  beforeAll(async () => {
    cluster = await startCluster();
    for (const name of ['by_session', 'by_transaction', 'by_statement'])
      await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
  });
  afterAll(() => cluster.close());

  test('by session, rows are written and read, and the lock is kept and given back', async () => {
    const through = await startPgBouncer(cluster, { pool_mode: 'session' });
    const first = open(through('by_session'));
    await first.write((tx) => tx.run("INSERT INTO teams (id, name, created_at, updated_at) VALUES ('a', 'a', 0, 0)"))();
    await expect(open(cluster.url('by_session')).answered()).rejects.toThrow('in use by another Errand');
    await first.close();
    const second = open(through('by_session'));
    expect(await second.read((tx) => tx.all('SELECT name FROM teams'))()).toEqual([{ name: 'a' }]);
  });

  test.for(['transaction', 'statement'])(
    'by %s it is refused, and sessions that others get stay as they were',
    async (mode) => {
      const name = `by_${mode}`;
      const through = await startPgBouncer(cluster, { pool_mode: mode });
      const refusal =
        'is behind a proxy that pools by transaction. With pgbouncer: pool_mode = session for this database.';
      const address = addressOf(through(name));
      await expect(open(through(name)).answered()).rejects.toThrow(refusal);
      await expect(openServerInspector(address)).rejects.toThrow(refusal);
      const [from, dataDir] = [{ kind: 'sqlite', file: '/nowhere/errand.db' } as const, temporaryDirectory()];
      const to = { kind: 'postgres', address, connections: 4 } as const;
      const { signal } = new AbortController();
      await expect(copyStore({ from: to, to: from, dataDir, progress: () => undefined, signal })).rejects.toThrow(
        refusal,
      );
      expect(
        await cluster.query(name, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"),
      ).toEqual([]);
      const other = new Client(clientConfig(address));
      await other.connect();
      onTestFinished(() => other.end());
      const { rows } = await other.query(
        "SELECT current_setting('enable_seqscan') AS scans, current_setting('statement_timeout') AS limit, current_setting('default_transaction_read_only') AS reads",
      );
      expect(rows).toEqual([{ scans: 'on', limit: '0', reads: 'off' }]);
    },
  );
});
