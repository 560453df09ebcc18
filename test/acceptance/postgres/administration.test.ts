// What commands say where the rows are in a PostgreSQL database, and the settings don't name it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';

let cluster: Cluster;
let daemon: DaemonProcess;
let url: string;

beforeAll(async () => {
  cluster = await startCluster();
  for (const name of ['errand', 'other']) await cluster.query('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  url = cluster.url('errand');
  daemon = await startDaemonProcess({ database: url, errandYaml: `database: ${url}\n` });
});
afterAll(async () => {
  await daemon.close();
  await cluster.close();
});

interface Failed {
  readonly stdout: string;
  readonly stderr: string;
}
const errand = (...args: readonly string[]) => runErrand(args).catch((failed: Failed) => failed);

test('a restore says where the rows are, when the restored settings name another place', async () => {
  const place = join(temporaryDirectory(), 'backups');
  await errand('backup', 'create', '--to', place, '--data-dir', daemon.dataDir);
  const restoreTo = (target: string, ...args: readonly string[]) =>
    errand('backup', 'restore', place, '--to', target, '--without-master-key', ...args);
  const [file, database, same] = [0, 1, 2].map((no) => join(temporaryDirectory(), `data${no}`));
  expect((await restoreTo(file!)).stderr).toMatch(
    /The rows are in .+data0\/errand\.db, and .+errand\.yaml names the PostgreSQL database errand at .+remove database and database_file there\./,
  );
  expect((await restoreTo(database!, '--database', cluster.url('other'))).stderr).toMatch(
    /The rows are in the PostgreSQL database other at .+name it as database or database_file in .+data1\/config\/errand\.yaml\./,
  );
  await daemon.stop();
  await cluster.query('postgres', 'ALTER DATABASE errand RENAME TO kept');
  await cluster.query('postgres', `CREATE DATABASE errand OWNER ${ROLE}`);
  expect((await restoreTo(same!, '--database', url)).stderr).not.toContain('The rows are in');
  await cluster.query('postgres', 'DROP DATABASE errand');
  await cluster.query('postgres', 'ALTER DATABASE kept RENAME TO errand');
});

test('without settings that name it, a file beside is not taken for it', async () => {
  await daemon.stop();
  const settings = join(daemon.configDir, 'errand.yaml');
  const locations = ['--data-dir', daemon.dataDir];
  const words = `The rows of ${daemon.dataDir} are in the PostgreSQL database errand at`;
  for (const text of ['databse: [\n', 'log: { level: warn }\n']) {
    writeFileSync(settings, text);
    const found = await errand('doctor', '--offline', ...locations, '-o', 'json');
    const { checks } = JSON.parse(found.stdout) as { checks: { id: string; state: string; evidence: string }[] };
    expect(checks.find(({ id }) => id === 'database')).toMatchObject({
      state: 'failed',
      evidence: expect.stringContaining(words) as string,
    });
    expect(checks.map(({ id }) => id)).toEqual(expect.arrayContaining(['connections', 'standbys']));
    expect(checks.map(({ id }) => id)).not.toContain('wal');
    expect((await errand('gc', '--vacuum', ...locations)).stderr).toContain(words);
  }
});
