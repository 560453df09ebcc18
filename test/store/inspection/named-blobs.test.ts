import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openFileInspector } from '../../../src/store/engine/sqlite/inspector.ts';
import { makeNamedBlobs } from '../../../src/store/inspection/named-blobs.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';

const keyOf = (number: number) => number.toString(16).padStart(64, '0');

function attachment(number: number, size: number) {
  const id = `a${number}-${size}`;
  const name = `${id}.txt`;
  const facts = { mimeType: 'text/plain', sha256: keyOf(number), shown: null };
  return { id, name, path: `attachments/${id}`, workspacePath: `/uploads/${name}`, size, ...facts };
}

function openOf(fixture: StoreFixture) {
  const store = openFileInspector(fixture.file);
  onTestFinished(store.close);
  return makeNamedBlobs(store);
}

test('portions follow one another by key, name each blob once, and stop at the end', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ attachments: [1, 2, 3].map((number) => attachment(number, 7)) });
  await fixture.accept({ attachments: [attachment(2, 9), attachment(4, 7)] });
  const rows = openOf(fixture);
  const first = await rows.after('', 3);
  expect(first).toEqual([1, 2, 3].map((number) => ({ key: keyOf(number), size: number === 2 ? 9 : 7, rowSize: null })));
  expect(await rows.after(first.at(-1)!.key, 3)).toEqual([{ key: keyOf(4), size: 7, rowSize: null }]);
  expect(await rows.after(keyOf(4), 3)).toEqual([]);
});

test('what only deleted sessions name is not named', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await fixture.accept({ attachments: [attachment(1, 7)] });
  const rows = openOf(fixture);
  expect(await rows.isNamed(keyOf(1))).toBe(true);
  await fixture.store.sessions.deleteSession(sessionSeq);
  expect(await rows.isNamed(keyOf(1))).toBe(false);
  expect(await rows.after('', 9)).toEqual([]);
});

test('no portion reads a table from end to end', onlyOnSqlite('its plans'), async () => {
  const fixture = await storeFixture();
  const { prepare } = Connection.prototype;
  const texts: string[] = [];
  Connection.prototype.prepare = function (this: Connection.Database, sql: string) {
    texts.push(sql);
    return prepare.call(this, sql);
  } as never;
  onTestFinished(() => void (Connection.prototype.prepare = prepare));
  const rows = openOf(fixture);
  await rows.after('', 1);
  await rows.listUses('', 1);
  await rows.isNamed('a');
  await rows.isInUse('a');
  await rows.hasFiles('a');
  const plans = texts.map((sql) =>
    fixture.rows<{ detail: string }>(
      `EXPLAIN QUERY PLAN ${sql.replaceAll('LIMIT +?', 'LIMIT 9').replaceAll('+?', "'a'")}`,
    ),
  );
  const lines = plans.flat().map(({ detail }) => detail);
  const reads = lines.filter((line) =>
    /^(SCAN|SEARCH) (?!\(subquery|CONSTANT ROW|sqlite_schema|\d|part$|named$)/.test(line),
  );
  expect(reads.length).toBeGreaterThan(20);
  expect(reads.filter((line) => !/ (USING INTEGER PRIMARY KEY|INDEX \w+) \([\w]+[=>]\?/.test(line))).toEqual([]);
});
