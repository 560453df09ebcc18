// Databases of tests that are over: one that is as it was is used again, one whose schema a test has changed is not.
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { type Cluster, ROLE, startCluster } from './cluster.ts';
import { NOTES, takeDatabase } from './databases.ts';
import { KEEP_FIRST_ROWS } from './emptying.ts';
import { canRunPostgres } from './programs.ts';
import { makeExecute } from './statements-at-once.ts';

const TEMPLATE = 'first_of_all';

describe.skipIf(!canRunPostgres())('the databases of tests', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    mkdirSync(join(cluster.directory, NOTES));
    await cluster.query('postgres', `CREATE DATABASE ${TEMPLATE} OWNER ${ROLE}`);
    const table = 'CREATE TABLE kept (n INT); INSERT INTO kept VALUES (1)';
    await cluster.query(TEMPLATE, `${table}; ${KEEP_FIRST_ROWS}`);
  });
  afterAll(() => cluster.close());

  /** Two, one after another: a test has changed the first by a statement. */
  async function takenAfter(change: string): Promise<{ names: string[]; rows: object[] }> {
    const execute = makeExecute(cluster.directory);
    const take = (path: string) =>
      takeDatabase({ directory: cluster.directory, path: join(path, 'errand.db'), template: TEMPLATE, execute });
    const over = temporaryDirectory();
    const first = take(over);
    execute(first, change);
    await rm(over, { recursive: true });
    const second = take(temporaryDirectory());
    return { names: [first, second], rows: await cluster.query(second, 'SELECT * FROM kept') };
  }

  it('are used again with their first rows', async () => {
    const { names, rows } = await takenAfter('UPDATE kept SET n = 2');
    expect(new Set(names).size).toBe(1);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it.each(['ALTER TABLE kept ADD COLUMN added_later INT', 'CREATE TABLE made_later (n INT)'])(
    'are not used again after %s',
    async (change) => {
      const { names, rows } = await takenAfter(change);
      expect(new Set(names).size).toBe(2);
      expect(rows).toEqual([{ n: 1 }]);
    },
  );
});
