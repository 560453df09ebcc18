// A PostgreSQL database is looked at from beside, while a store has it open.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { readPostgresAddress } from '../../../../src/store/engine/postgres/connections/address.ts';
import { SCHEMA_VERSION } from '../../../../src/store/engine/schema.ts';
import { readFigures } from '../../../../src/store/inspection/figures.ts';
import { findLostPins } from '../../../../src/store/inspection/find-lost-pins.ts';
import { inspect } from '../../../../src/store/inspection/inspect.ts';
import { makeNamedBlobs } from '../../../../src/store/inspection/named-blobs.ts';
import { openInspector } from '../../../../src/store/inspection/open-inspector.ts';
import { locationOf, referenceOf, type StoreLocation } from '../../../../src/store/location.ts';
import { openStore, type Store } from '../../../../src/store/open-store.ts';
import { renderBody } from '../../../../src/webhooks/bodies/render-body.ts';
import { type Cluster, startCluster, SUPERUSER } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';

const NOTHING = {
  model: new Set<string>(),
  scenario: new Set<string>(),
  expert: new Set<string>(),
  team: new Set<string>(),
};
const WISH = {
  largeBytes: 1,
  full: false,
  silentSince: 0,
  node: { id: 'node', hasPeers: false },
  auditEnd: { id: 1, hash: 'h' },
  defined: NOTHING,
  now: 0,
};

describe.skipIf(!canRunPostgres())('a database of PostgreSQL, from beside', () => {
  let cluster: Cluster;
  let store: Store;
  let location: StoreLocation;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.query('postgres', 'CREATE DATABASE errand OWNER errand');
    const read = readPostgresAddress(cluster.url('errand'));
    if (!read.ok) throw new Error(read.problems.join());
    location = { kind: 'postgres', address: read.address, connections: 4 };
    store = openStore(location, systemClock, { renderBody });
    await store.answered();
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await cluster.close();
  });

  test('an examination sees its schema, its server, and what it contains', async () => {
    const inspector = await openInspector(locationOf(structuredClone(referenceOf(location))));
    onTestFinished(inspector.close);
    expect(await inspect(inspector, WISH)).toMatchObject({
      schemaVersion: SCHEMA_VERSION,
      figures: { engine: 'postgres' },
      server: { maxConnections: 197, autovacuum: true, hasChecksums: false, oldestTransaction: null },
      faults: [],
      newestEventAt: null,
      stuck: [],
      webhooks: [],
      pins: { total: 0 },
      audit: { fault: 'entries_missing' },
    });
    const rows = makeNamedBlobs(inspector);
    expect(await rows.after('', 9)).toEqual([]);
    expect(await rows.isNamed('a')).toBe(false);
    expect(await rows.isInUse('a')).toBe(false);
    expect(await rows.hasFiles('a')).toBe(false);
    await expect(inspector.look((tx) => tx.all('DELETE FROM users RETURNING seq'))).rejects.toThrow('read-only');
  });

  test('its figures and its pins are told', async () => {
    const figures = await readFigures(location);
    expect(figures).toMatchObject({
      schemaVersion: SCHEMA_VERSION,
      engine: 'postgres',
      sqliteVersion: null,
      walBytes: 0,
    });
    expect(figures.tables).toContainEqual({ name: 'users', rows: 0, more: false });
    expect(await findLostPins(location, NOTHING, 0, 9)).toEqual({ pins: [], total: 0 });
  });

  test('a database without a schema has version 0, and one that is not there says what to run', async () => {
    const at = (name: string): StoreLocation => {
      const read = readPostgresAddress(cluster.url(name));
      if (!read.ok) throw new Error(read.problems.join());
      return { kind: 'postgres', address: read.address, connections: 4 };
    };
    const inspector = await openInspector(at('postgres'));
    onTestFinished(inspector.close);
    expect(await inspector.schema()).toEqual({ version: 0, runsWith: 0 });
    await expect(openInspector(at('nowhere'))).rejects.toThrow('CREATE DATABASE "nowhere" OWNER "errand"');
  });

  test('an old transaction is seen, with the client that has it, by a role that may see it', async () => {
    await cluster.query('postgres', 'GRANT pg_monitor TO errand');
    const inspector = await openInspector(location);
    onTestFinished(inspector.close);
    const report = new Client({ host: cluster.directory, user: SUPERUSER, database: 'errand' });
    await report.connect();
    onTestFinished(() => report.end());
    await report.query("SET application_name = 'a report'; BEGIN; SELECT 1");
    await expect
      .poll(async () => (await inspector.server())?.oldestTransaction)
      .toMatchObject({ who: 'a report', seconds: expect.any(Number) as number });
  });
});
