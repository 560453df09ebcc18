// The disk of the server is full: what was confirmed is kept, what was refused isn't, and all goes on when there is room again.
import { randomBytes } from 'node:crypto';
import { chownSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { type Database, NO_ALARMS } from '../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../src/store/engine/postgres/open-database.ts';
import type { Transaction } from '../../../../src/store/engine/statement.ts';
import { canMount, smallDisk } from '../../../support/files/small-disk.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { type ClusterOptions, startCluster } from '../../../support/postgres/cluster.ts';
import { canRunPostgres, serverUser } from '../../../support/postgres/programs.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

if (!canMount) console.warn('\n*** SKIPPED: full disks of PostgreSQL. Mounting needs root and CAP_SYS_ADMIN. ***\n');

const MB = 1_048_576;

async function aCluster(options: ClusterOptions = {}) {
  const cluster = await startCluster(options);
  onTestFinished(() => cluster.close());
  return cluster;
}

function giveToServer(path: string): string {
  const { uid, gid } = serverUser();
  if (uid !== undefined) chownSync(path, uid, gid!);
  return path;
}

function aDisk(megabytes: number) {
  const disk = smallDisk(megabytes);
  giveToServer(disk.path);
  return disk;
}

function open(url: string): Database & { readonly troubles: readonly string[] } {
  const troubles: string[] = [];
  const alarms = { ...NO_ALARMS, trouble: (words: string) => void troubles.push(words) };
  const database = openPostgres(addressOf(url), systemClock, { alarms });
  onTestFinished(() => database.close());
  return { ...database, troubles };
}

/** Writes large events until one is refused. Answers which were confirmed, and why no more. */
async function writeUntilRefused(database: Database) {
  const confirmed: number[] = [];
  for (let no = 0; no < 2_000; no += 1) {
    try {
      await adding(database)(no);
      confirmed.push(no);
    } catch (error) {
      return { confirmed, message: (error as Error).message };
    }
  }
  throw new Error('The disk was never full.');
}

const adding = (database: Database) =>
  database.write((tx: Transaction, no: number) =>
    tx.run(
      "INSERT INTO events (session_seq, type, payload, created_at) VALUES (1, 't', ?, ?)",
      randomBytes(64_000).toString('hex'),
      no,
    ),
  );
const numbers = (database: Database) =>
  database
    .read((tx) => tx.all<{ no: number }>('SELECT created_at AS no FROM events ORDER BY id'))()
    .then((rows) => rows.map(({ no }) => no));

describe.skipIf(!canRunPostgres() || !canMount)('a full disk of PostgreSQL', () => {
  test('where rows are: writing is refused in words, reading goes on', async () => {
    const disk = aDisk(64);
    const cluster = await aCluster();
    await cluster.query('postgres', `CREATE TABLESPACE small LOCATION '${disk.path}'`);
    await cluster.query('postgres', 'CREATE DATABASE errand OWNER errand TABLESPACE small');
    const database = open(cluster.url('errand'));
    await database.answered();
    disk.leave(4 * MB);
    const { confirmed, message } = await writeUntilRefused(database);
    expect(message).toBe("The daemon's database refuses to write: no space is left on its disk.");
    expect(database.fault()).toBe(message);
    expect(database.troubles.join()).toContain('Make room on the disk of the server.');
    expect(await numbers(database)).toEqual(confirmed);
    disk.leave(40 * MB);
    await adding(database)(9_999);
    expect(await numbers(database)).toEqual([...confirmed, 9_999]);
    expect(database.fault()).toBe(null);
  });

  test('where its log is: the server ends, and what was confirmed is there when it is started again', async () => {
    const disk = aDisk(160);
    const cluster = await aCluster({ within: disk.path, settings: { min_wal_size: "'32MB'", max_wal_size: "'1GB'" } });
    const rows = giveToServer(temporaryDirectory());
    await cluster.query('postgres', `CREATE TABLESPACE roomy LOCATION '${rows}'`);
    await cluster.query('postgres', 'CREATE DATABASE errand OWNER errand TABLESPACE roomy');
    const database = open(cluster.url('errand'));
    await database.answered();
    disk.leave(20 * MB);
    const writing = writeUntilRefused(database);
    await waitFor(() => cluster.log().includes('PANIC'), { what: 'the server ends' });
    disk.leave(60 * MB);
    await cluster.start();
    const { confirmed, message } = await writing;
    expect(message).toMatch(/no space is left on its disk|is not reachable/);
    await waitFor(() => adding(database)(9_999).then(() => true), { what: 'it goes on' });
    expect(await numbers(database)).toEqual([...confirmed, 9_999]);
  });
});
