// A data directory and the PostgreSQL database with its rows belong together: asked of a real server.
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { type Config, loadConfig } from '../../../src/config/config.ts';
import { storeLocationOf } from '../../../src/config/store-location.ts';
import { initialize } from '../../../src/daemon/data/initialize.ts';
import { markOwnRows, requireOwnRows } from '../../../src/daemon/data/own-rows.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { readStoreMark, storeMarkerOf } from '../../../src/files/store-marker.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type Cluster, startCluster } from '../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../support/postgres/programs.ts';

function configOf(dataDir: string, database?: string): Config {
  const loaded = loadConfig({ dataDir }, database === undefined ? {} : { ERRAND_DATABASE: database });
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('; '));
  return loaded.config;
}

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore(storeLocationOf(config), systemClock, { renderBody });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
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
    await expect(initialized(other, database)).rejects.toThrow(
      /has the rows of another data directory than .* errand blobs copy --to s3 .* touch \//,
    );
    writeFileSync(storeMarkerOf(other), '');
    await expect(initialized(other, database)).rejects.toThrow(/master\.key is missing/);
    copyFileSync(path.join(own, 'master.key'), path.join(other, 'master.key'));
    await expect(initialized(other, database)).rejects.toThrow('is already initialised.');
  });

  describe('whose files are in a bucket', () => {
    const BUCKET = 's3://files/errand/';
    const settings = (prefix: string) =>
      `blobs: { s3: { endpoint: "http://127.0.0.1:9", bucket: files, prefix: "${prefix}", key_file: key } }\n`;

    /** Rows whose files are in the bucket, and a new directory with the key, whose settings name a bucket with a prefix. */
    async function joining(prefix: string | null) {
      const [database, own, other] = [await emptyDatabase(), directory(), directory()];
      await initialized(own, database);
      await withStore(configOf(own, database), (store) => store.objects.setLocation(BUCKET));
      mkdirSync(path.join(other, 'config'), { recursive: true, mode: 0o700 });
      copyFileSync(path.join(own, 'master.key'), path.join(other, 'master.key'));
      writeFileSync(path.join(other, 'config', 'key'), 'id:secret');
      if (prefix !== null) writeFileSync(path.join(other, 'config', 'errand.yaml'), settings(prefix));
      return { own, other, database, config: configOf(other, database) };
    }

    test('a new directory joins them with the same bucket in its settings, and the same key', async () => {
      const { other, database, config } = await joining('errand/');
      await expect(initialized(other, database)).rejects.toThrow('joins an installation that has its administrator');
      expect(await withStore(config, (store) => requireOwnRows(config, storeLocationOf(config), store))).toBe(true);
      rmSync(path.join(other, 'master.key'));
      await expect(initialized(other, database)).rejects.toThrow(/master\.key is missing, and .* Copy master\.key/);
    });

    test.each([
      [
        null,
        /its files are in s3:\/\/files\/errand\/\. For another node of it, blobs\.s3 has to name that bucket \(docs/,
      ],
      ['other/', /blobs\.s3 has to name that bucket, not s3:\/\/files\/other\//],
    ])('it is refused where its settings say that they are elsewhere: %s', async (prefix, words) => {
      const { other, database } = await joining(prefix);
      await expect(initialized(other, database)).rejects.toThrow(words);
      expect(readStoreMark(other)).toBeNull();
    });

    test('rows that know no master key are not joined', async () => {
      const { other, database, config } = await joining('errand/');
      await withStore(config, (store) => store.installation.forgetMasterKey());
      await expect(initialized(other, database)).rejects.toThrow('Start its daemon once with this version');
    });

    test('once they are in the data directory of another node, one that has joined does not start', async () => {
      const { own, other, database, config } = await joining('errand/');
      markOwnRows(other, storeLocationOf(config), true);
      await expect(initialized(other, database)).rejects.toThrow('joins an installation');
      await withStore(config, (store) => store.objects.setLocation(null));
      await expect(initialized(other, database)).rejects.toThrow(
        /are in the data directory of another node, and no longer in a bucket/,
      );
      await expect(initialized(own, database)).rejects.toThrow('is already initialised.');
    });

    test('an empty database is refused to one that has joined', async () => {
      const { other, config } = await joining('errand/');
      markOwnRows(other, storeLocationOf(config), true);
      await expect(initialized(other, await emptyDatabase())).rejects.toThrow(/is empty, and .* has files of the rows/);
    });
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
