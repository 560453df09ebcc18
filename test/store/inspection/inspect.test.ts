import { readFileSync, writeFileSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openFileInspector } from '../../../src/store/engine/sqlite/inspector.ts';
import { inspect } from '../../../src/store/inspection/inspect.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';

const AT_ONCE = Number.POSITIVE_INFINITY;
const WISH = {
  full: false,
  silentSince: 0,
  auditEnd: null,
  node: { id: 'node', hasPeers: false },
  defined: null,
  now: 0,
};

async function faultsOf(file: string, largeBytes: number, full: boolean) {
  const store = openFileInspector(file);
  onTestFinished(store.close);
  return (await inspect(store, { ...WISH, largeBytes, full })).faults;
}

/** The file of a closed store of which one index is overwritten with nonsense. */
async function damagedFile(): Promise<string> {
  const fixture = await storeFixture();
  for (let turns = 0; turns < 20; turns += 1) await fixture.accept();
  const [{ page } = { page: 0 }] = fixture.rows<{ page: number }>(
    "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'messages_by_session'",
  );
  await fixture.store.close();
  const bytes = readFileSync(fixture.file);
  bytes.fill(0xff, (page - 1) * 4_096 + 12, page * 4_096);
  writeFileSync(fixture.file, bytes);
  return fixture.file;
}

test(
  'a large file is searched only on request, table by table, and then the same damage is found',
  onlyOnSqlite('pages of the file'),
  async () => {
    const file = await damagedFile();
    expect(await faultsOf(file, AT_ONCE, false)).not.toEqual([]);
    expect(await faultsOf(file, 1, false)).toBeNull();
    expect(await faultsOf(file, 1, true)).toEqual(expect.arrayContaining([expect.stringMatching(/page|Tree/)]));
  },
);

test('a sound file has no faults, searched at once or table by table', onlyOnSqlite('pages of the file'), async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  for (const largeBytes of [AT_ONCE, 1]) expect(await faultsOf(fixture.file, largeBytes, true)).toEqual([]);
});

test('between two tables, the log can be emptied', onlyOnSqlite('its log'), async () => {
  const fixture = await storeFixture();
  const writer = new Connection(fixture.file, { timeout: 0 });
  onTestFinished(() => void writer.close());
  const { pragma } = Connection.prototype;
  const reset: unknown[] = [];
  // Each search is followed by a write and a checkpoint, which an open read would refuse.
  const spied = function (this: Connection.Database, source: string, options?: Connection.PragmaOptions) {
    const found = pragma.call<Connection.Database, [string, Connection.PragmaOptions?], unknown>(this, source, options);
    if (source.startsWith('quick_check')) {
      writer.exec('UPDATE sessions SET updated_at = updated_at');
      reset.push(pragma.call(writer, 'wal_checkpoint(RESTART)'));
    }
    return found;
  };
  Connection.prototype.pragma = spied;
  onTestFinished(() => void (Connection.prototype.pragma = pragma));
  await fixture.accept();
  await faultsOf(fixture.file, 1, true);
  expect(reset.length).toBeGreaterThan(20);
  expect(new Set(reset.map((rows) => (rows as { busy: number }[])[0]!.busy))).toEqual(new Set([0]));
});
