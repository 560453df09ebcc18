// Figures of a database are read beside the store that has it open, and change nothing.
import { expect, test } from 'vitest';
import { readFigures } from '../../../src/store/inspection/figures.ts';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { locationOf } from '../../support/store/open-store.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

test('an open database is told with its schema, its size and the rows of each table', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  await fixture.accept();
  const figures = await readFigures(locationOf(fixture.file));
  expect(figures).toMatchObject({ schemaVersion: SCHEMA_VERSION, knownVersion: SCHEMA_VERSION });
  expect(figures.sizeBytes + figures.walBytes).toBeGreaterThan(0);
  expect(figures.tables).toContainEqual({ name: 'runs', rows: 2, more: false });
  await fixture.accept();
});

test('a long table is not counted to its end', async () => {
  const fixture = await storeFixture();
  fixture.change(`CREATE TABLE long (n INTEGER); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10001)
    INSERT INTO long SELECT n FROM c`);
  expect((await readFigures(locationOf(fixture.file))).tables).toContainEqual({
    name: 'long',
    rows: 10_000,
    more: true,
  });
});

test('a file that is not there is not made', async () => {
  await expect(readFigures({ kind: 'sqlite', file: '/nowhere/errand.db' })).rejects.toThrow();
});
