// The master key at a start and the rows that are used with one: asked of both engines.
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { type Config, loadConfig } from '../../../src/config/config.ts';
import { storeLocationOf } from '../../../src/config/store-location.ts';
import { initialize, renewMasterKey } from '../../../src/daemon/data/initialize.ts';
import { masterKeyLocation, settleKey } from '../../../src/daemon/data/own-key.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { deriveFrom, masterKeyIdOf } from '../../../src/files/master-key.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type Cluster, startCluster } from '../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../support/postgres/programs.ts';

let cluster: Cluster | undefined;
let made = 0;
beforeAll(async () => {
  if (canRunPostgres()) cluster = await startCluster();
}, 60_000);
afterAll(() => cluster?.close());

function configOf(database: string | undefined, dataDir = path.join(temporaryDirectory(), 'data')): Config {
  const loaded = loadConfig({ dataDir }, database === undefined ? {} : { ERRAND_DATABASE: database });
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('; '));
  return loaded.config;
}

async function emptyDatabase(): Promise<string> {
  const name = `keys_${(made += 1)}`;
  await cluster!.query('postgres', `CREATE DATABASE ${name} OWNER errand`);
  return cluster!.url(name);
}

function storeOf(config: Config) {
  const store = openStore(storeLocationOf(config), systemClock, { renderBody });
  onTestFinished(() => store.close());
  return store;
}

const start = (config: Config) => initialize(config, 'admin');
const keyFile = (config: Config) => path.join(config.locations.dataDir, 'master.key');
const idIn = (config: Config) => masterKeyIdOf(deriveFrom(readFileSync(keyFile(config))));

const ENGINES = [
  ['SQLite', () => Promise.resolve(undefined)],
  ['PostgreSQL', emptyDatabase],
] as const;

describe.each(ENGINES.filter(([name]) => name === 'SQLite' || canRunPostgres()))('rows in %s', (_, empty) => {
  test('they know the id of their key from the first start on, and another key is refused with what to do', async () => {
    const config = configOf(await empty());
    await start(config);
    writeFileSync(keyFile(config), randomBytes(32));
    for (const words of [keyFile(config), 'is another master key', 'Copy master.key', 'init --new-master-key'])
      await expect(start(config)).rejects.toMatchObject({
        reason: 'conflict',
        message: expect.stringContaining(words) as string,
      });
  });

  test('rows of before take the key of the first start', async () => {
    const config = configOf(await empty());
    await start(config);
    const store = openStore(storeLocationOf(config), systemClock, { renderBody });
    await store.installation.forgetMasterKey();
    await store.close();
    await expect(start(config)).rejects.toThrow('is already initialised.');
    expect(await storeOf(config).installation.masterKeyId()).toBe(idIn(config));
  });

  test('a key that is made in place of a lost one is theirs from then on', async () => {
    const config = configOf(await empty());
    await start(config);
    await expect(renewMasterKey(config)).rejects.toThrow('no master key is missing');
    const before = idIn(config);
    rmSync(keyFile(config));
    await renewMasterKey(config);
    expect(idIn(config)).not.toBe(before);
    await expect(start(config)).rejects.toThrow('is already initialised.');
    expect(await storeOf(config).installation.masterKeyId()).toBe(idIn(config));
  });
});

describe.skipIf(!canRunPostgres())('rows on a server', () => {
  const settling = (config: Config, store: ReturnType<typeof storeOf>) => {
    const location = storeLocationOf(config);
    return settleKey({ store, location, place: masterKeyLocation(config.locations), found: null });
  };

  test('beside users, no new key is made', async () => {
    const [first, second] = [configOf(await emptyDatabase()), configOf(undefined, temporaryDirectory())];
    await start(first);
    await expect(settling(second, storeOf(first))).rejects.toThrow(
      /master\.key is missing, and .* Copy master\.key from/,
    );
    expect(existsSync(keyFile(second))).toBe(false);
  });

  test('of two that make a key at once, one has it, and the other keeps none', async () => {
    const configs = [configOf(await emptyDatabase(), temporaryDirectory()), configOf(undefined, temporaryDirectory())];
    const store = storeOf(configs[0]!);
    const ends = await Promise.allSettled(configs.map((config) => settling(config, store)));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(configs.map((config) => existsSync(keyFile(config)))).toEqual(
      ends.map(({ status }) => status === 'fulfilled'),
    );
    const [winner, other] = ends[0]!.status === 'fulfilled' ? configs : configs.toReversed();
    copyFileSync(keyFile(winner!), keyFile(other!));
    expect(await store.installation.masterKeyId()).toBe(idIn(other!));
  });
});
