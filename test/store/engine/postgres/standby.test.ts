// A real standby: as the address of a daemon, and when it takes over from its primary.
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { messageOf } from '../../../../src/domain/errors.ts';
import { NO_ALARMS } from '../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import { openServerInspector } from '../../../../src/store/engine/postgres/inspector.ts';
import type { Transaction } from '../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { type Cluster, startCluster } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';
import { startStandby, WITH_STANDBYS } from '../../../support/postgres/standby.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let [primary, standby]: Cluster[] = [];

function open(url: string) {
  const [troubles, losses]: [string[], string[]] = [[], []];
  const alarms = {
    ...NO_ALARMS,
    trouble: (words: string) => void troubles.push(words),
    lost: (error: unknown) => void losses.push(messageOf(error)),
  };
  const database = openPostgres(addressOf(url), systemClock, { alarms });
  onTestFinished(() => database.close());
  return { ...database, troubles, losses };
}

const addTeam = (tx: Transaction, name: string) =>
  tx.run('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);

describe.skipIf(!canRunPostgres())('a standby', () => {
  beforeAll(async () => {
    primary = await startCluster({ settings: WITH_STANDBYS });
    await primary.query('postgres', 'CREATE DATABASE errand OWNER errand');
    await primary.query('postgres', 'GRANT pg_monitor TO errand');
    standby = await startStandby(primary);
  });
  afterAll(async () => {
    await standby?.close();
    await primary?.close();
  });

  test('is refused as the address', async () => {
    await expect(open(standby!.url('errand')).answered()).rejects.toThrow(
      `The PostgreSQL database errand at ${standby!.directory}/.s.PGSQL.5432 is a standby, where nothing can be written. Name the primary server.`,
    );
  });

  test('is seen from its primary, and can be examined', async () => {
    const database = open(primary!.url('errand'));
    await database.answered();
    expect(await database.figures()).toMatchObject({ replicas: [{ state: 'streaming' }] });
    await waitFor(async () => (await standby!.query('errand', "SELECT to_regclass('teams') AS is"))[0]!['is'] !== null);
    const inspector = await openServerInspector(addressOf(standby!.url('errand')));
    onTestFinished(inspector.close);
    expect(await inspector.figures()).toMatchObject({ engine: 'postgres' });
    expect((await inspector.schema()).version).toBeGreaterThan(0);
  });

  test('that takes over ends the store, which may know what is not there; the next one goes on', async () => {
    const current = join(temporaryDirectory(), 'current');
    symlinkSync(primary!.directory, current);
    const url = primary!.url('errand').replace(encodeURIComponent(primary!.directory), encodeURIComponent(current));
    const before = open(url);
    await before.write(addTeam)('one');
    await waitFor(async () => (await standby!.query('errand', 'SELECT 1 FROM teams')).length > 0);
    // The address moves before the standby has taken over.
    unlinkSync(current);
    symlinkSync(standby!.directory, current);
    await primary!.stop();
    await expect(before.write(addTeam)('two')).rejects.toThrow('refuses to write: it is read-only');
    expect(before.losses).toEqual([]);
    await standby!.query('postgres', 'SELECT pg_promote(true)');
    await expect(before.write(addTeam)('three')).rejects.toThrow('has another history than before');
    expect(before.losses).toEqual([expect.stringContaining('a standby took over')]);
    await before.close();
    const after = open(url);
    await after.write(addTeam)('four');
    const names = after.read((tx) => tx.all<{ name: string }>('SELECT name FROM teams ORDER BY name'));
    expect(await names()).toEqual([{ name: 'four' }, { name: 'one' }]);
  });
});
