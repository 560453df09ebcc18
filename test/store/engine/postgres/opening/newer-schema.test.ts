// A database that newer code has expanded, used by this code: each verb works, and an examination sees all.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspect } from '../../../../../src/store/inspection/inspect.ts';
import { openInspector } from '../../../../../src/store/inspection/open-inspector.ts';
import { SCHEMA_VERSION } from '../../../../../src/store/engine/schema.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { isPostgres } from '../../../../support/postgres/shared-cluster.ts';
import { callEveryVerb } from '../../../../support/store/every-verb.ts';
import { changeRows, locationOf } from '../../../../support/store/open-store.ts';
import { storeFixture } from '../../../../support/store/store-fixture.ts';

/** A column more in each table, and a table more. */
const EXPAND = `DO $$ DECLARE of text; BEGIN
    FOR of IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN added_later BIGINT', of);
    END LOOP; END $$;
  CREATE TABLE made_later (id BIGINT PRIMARY KEY);
  UPDATE schema_version SET version = ${SCHEMA_VERSION + 1}, runs_with = ${SCHEMA_VERSION}`;

test.skipIf(!isPostgres)('code of the version before calls each verb on a database that was expanded', async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  changeRows(file, EXPAND);
  const fixture = await storeFixture(file);
  expect(await callEveryVerb(fixture)).toEqual([]);
  const inspector = await openInspector(locationOf(fixture.file));
  onTestFinished(inspector.close);
  const request = {
    silentSince: 0,
    auditEnd: null,
    node: { id: '', hasPeers: false },
    defined: null,
    now: 0,
    largeBytes: 0,
    full: false,
  };
  expect(await inspect(inspector, request)).toMatchObject({
    schemaVersion: SCHEMA_VERSION + 1,
    isUsable: true,
    audit: { fault: null },
  });
});
