// A data directory and the PostgreSQL database with its rows belong together: asked of a real server.
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { initialize } from '../../src/daemon/initialize.ts';
import { readStoreMark, storeMarkerOf } from '../../src/files/store-marker.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { type Cluster, startCluster } from '../support/postgres/cluster.ts';
import { canRunPostgres } from '../support/postgres/programs.ts';

function configOf(dataDir: string, database?: string): Config {
  const loaded = loadConfig({ dataDir }, database === undefined ? {} : { ERRAND_DATABASE: database });
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('; '));
  return loaded.config;
}

describe.skipIf(!canRunPostgres())('a data directory whose rows are in PostgreSQL', () => {
  let cluster: Cluster;
  let made = 0;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 60_000);
  afterAll(() => cluster.close());

  async function emptyDatabase(): Promise<string> {
    const name = `own_${(made += 1)}`;
    await cluster.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
    return cluster.url(name);
  }
  const directory = () => path.join(temporaryDirectory(), 'data');
  const initialized = (dataDir: string, database?: string) => initialize(configOf(dataDir, database), 'admin');

  test('init makes its rows in an empty database, no file of them, and remembers where they are', async () => {
    const [dataDir, database] = [directory(), await emptyDatabase()];
    expect((await initialized(dataDir, database)).admin.username).toBe('admin');
    expect(existsSync(path.join(dataDir, 'errand.db'))).toBe(false);
    expect(readStoreMark(dataDir)).toMatch(/^the PostgreSQL database own_\d+ at \//);
    await expect(initialized(dataDir, database)).rejects.toThrow('is already initialised.');
  });

  test('without the setting, no new file is begun beside them', async () => {
    const [dataDir, database] = [directory(), await emptyDatabase()];
    await initialized(dataDir, database);
    await expect(initialized(dataDir)).rejects.toThrow(
      /has its rows in the PostgreSQL database own_\d+ at .*, and neither database nor database_file names one/,
    );
    expect(existsSync(path.join(dataDir, 'errand.db'))).toBe(false);
  });

  test('another, empty database is refused: files that no row names would be removed', async () => {
    const dataDir = directory();
    await initialized(dataDir, await emptyDatabase());
    await expect(initialized(dataDir, await emptyDatabase())).rejects.toThrow(
      /is empty, and .* has files of the rows in/,
    );
  });

  test('beside the rows of a file, an empty database is refused', async () => {
    const dataDir = directory();
    await initialized(dataDir);
    await expect(initialized(dataDir, await emptyDatabase())).rejects.toThrow(
      /errand\.db has the rows of .*errand store copy/,
    );
  });

  test('another directory than that of the rows is refused, until its owner says that they belong together', async () => {
    const [database, own, other] = [await emptyDatabase(), directory(), directory()];
    await initialized(own, database);
    await expect(initialized(other, database)).rejects.toThrow(/has the rows of another data directory than/);
    writeFileSync(storeMarkerOf(other), '');
    await expect(initialized(other, database)).rejects.toThrow(/master\.key is missing/);
    copyFileSync(path.join(own, 'master.key'), path.join(other, 'master.key'));
    await expect(initialized(other, database)).rejects.toThrow('is already initialised.');
  });

  test('a master key that is missing is lost, and not made anew', async () => {
    const [dataDir, database] = [directory(), await emptyDatabase()];
    await initialized(dataDir, database);
    rmSync(path.join(dataDir, 'master.key'));
    await expect(initialized(dataDir, database)).rejects.toThrow(/master\.key is missing/);
  });

  test('a database that is not there is told as what to run', async () => {
    await expect(initialized(directory(), cluster.url('nowhere'))).rejects.toThrow(
      /The PostgreSQL database nowhere at .* does not exist\. Run, as its administrator/,
    );
  });
});
