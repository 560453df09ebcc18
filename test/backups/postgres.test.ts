// Backups of a PostgreSQL database: one moment of its rows, restored to either engine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CUTS } from '../../src/backups/repository/cuts.ts';
import { restore } from '../../src/backups/restore.ts';
import { storeMarkerOf } from '../../src/files/store-marker.ts';
import { copyStore } from '../../src/store/copies/copy-store.ts';
import { referenceOf, type StoreLocation } from '../../src/store/location.ts';
import { installation, take } from '../support/backups/installation.ts';
import { requestOf, verdictOf } from '../support/backups/requests.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { addressOf } from '../support/postgres/address-of.ts';
import { type Cluster, ROLE, startCluster } from '../support/postgres/cluster.ts';
import { canRunPostgres } from '../support/postgres/programs.ts';
import { dumpFile } from '../support/store/dump-file.ts';

let cluster: Cluster;
let made = 0;

async function emptyDatabase(): Promise<StoreLocation & { readonly kind: 'postgres' }> {
  const name = `backup_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return { kind: 'postgres', address: addressOf(cluster.url(name)), connections: 4 };
}

const copy = (from: StoreLocation, to: StoreLocation) =>
  copyStore({ from, to, dataDir: null, progress: () => undefined, signal: new AbortController().signal });

/** An installation whose rows are in a database. */
async function moved() {
  const fixture = await installation();
  await fixture.addSession('some text');
  await fixture.addSession(Buffer.alloc(100_000, 'large '));
  await fixture.addRow('a row');
  await fixture.fixture.store.close();
  const there = await emptyDatabase();
  await copy({ kind: 'sqlite', file: fixture.fixture.file }, there);
  return { ...fixture, there, database: referenceOf(there), name: there.address.database };
}

describe.skipIf(!canRunPostgres())('a backup of PostgreSQL', () => {
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test('is intact, and restored to a file it has the rows that were there when it began', async () => {
    const fixture = await moved();
    const before = dumpFile(fixture.fixture.file);
    let written = 0;
    const write = () => {
      written += 1;
      return cluster.query(
        fixture.name,
        `INSERT INTO teams (id, name, created_at, updated_at) VALUES ('${written}', '${written}', 0, 0)`,
      );
    };
    // Between its parts, as a daemon does.
    const pace = { rest: async () => void (await write()), restHere: () => undefined, cancel: () => undefined };
    const manifest = await take(fixture.task({ database: fixture.database }), { pace });
    expect(written).toBeGreaterThan(5);
    expect(manifest.blobs.files).toBe(2);
    expect(await verdictOf(fixture.repository, manifest.id)).toMatchObject({ faults: [], isSealVerified: true });
    const target = temporaryDirectory();
    await restore(requestOf(fixture.repository, target));
    expect(dumpFile(join(target, 'data', 'errand.db'))).toEqual(before);
  });

  test('adds next to nothing when little has changed', async () => {
    const fixture = await moved();
    const first = await take(fixture.task({ database: fixture.database }));
    const again = await take(fixture.task({ database: fixture.database }));
    expect(again.added.bytes).toBe(0);
    expect(first.added.bytes).toBeGreaterThan(again.added.bytes);
  });

  test('is restored into an empty database, without a file beside it, and not into another', async () => {
    const fixture = await moved();
    await take(fixture.task({ database: fixture.database }));
    const rowsTo = await emptyDatabase();
    const target = temporaryDirectory();
    await restore(requestOf(fixture.repository, target, { rowsTo }));
    const data = join(target, 'data');
    expect(existsSync(join(data, 'errand.db'))).toBe(false);
    expect(readFileSync(storeMarkerOf(data), 'utf8')).toContain(rowsTo.address.database);
    const file = join(temporaryDirectory(), 'errand.db');
    await copy(rowsTo, { kind: 'sqlite', file });
    expect(dumpFile(file)).toEqual(dumpFile(fixture.fixture.file));
    const other = temporaryDirectory();
    await expect(restore(requestOf(fixture.repository, other, { rowsTo }))).rejects.toThrow('is not empty');
    expect(readdirSync(other)).toEqual([]);
  });

  test('a backup of SQLite is restored to PostgreSQL', async () => {
    const fixture = await installation();
    await fixture.addSession('some text');
    await take(fixture.task());
    const rowsTo = await emptyDatabase();
    await restore(requestOf(fixture.repository, temporaryDirectory(), { rowsTo }));
    expect(await cluster.query(rowsTo.address.database, 'SELECT count(*)::int AS n FROM sessions')).toEqual([{ n: 1 }]);
  });

  test('a server that is away fails the backup, with words that say so', async () => {
    const fixture = await moved();
    await cluster.stop();
    await expect(take(fixture.task({ database: fixture.database }))).rejects.toMatchObject({ reason: 'unavailable' });
    await cluster.start();
  });
});

test('pages that have moved are the same pieces', () => {
  const pages = Array.from({ length: 2_000 }, (_, index) => Buffer.alloc(4_096, `page ${index} `));
  const piecesOf = (all: readonly Buffer[]) => {
    const bytes = Buffer.concat(all);
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + CUTS.move.endIn(bytes.subarray(at, at + CUTS.move.most));
      pieces.push(bytes.toString('latin1', at, end));
      at = end;
    }
    expect(pieces.join('')).toBe(bytes.toString('latin1'));
    return new Set(pieces);
  };
  const before = piecesOf(pages);
  const after = piecesOf([...pages.slice(0, 500), Buffer.alloc(4_096, 'new'), ...pages.slice(500)]);
  expect(before.size).toBeGreaterThan(30);
  expect([...after].filter((piece) => !before.has(piece)).length).toBeLessThan(5);
});
