// The end of the audit log in a backup: in its manifest, against its rows, and beside the restored database.
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { anchorPath, readAnchorText } from '../../src/files/audit-anchor.ts';
import { makeLog } from '../../src/log/log.ts';
import { makeAnchorKeeper } from '../../src/operations/audit/keep-anchor.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openStore } from '../support/store/open-store.ts';
import { makeByHand } from '../support/backups/handmade.ts';
import { type Installation, installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { ROOT } from '../support/store/audited-fixture.ts';
import { auditOf, deriveSealKey } from '../support/store/audit.ts';

let fixture: Installation;

/** A daemon's keeper over a data directory, once it has compared and written. */
async function anchored(store: Store, dataDir: string) {
  const { clock } = fixture.fixture;
  const keeper = makeAnchorKeeper({
    store,
    node: { id: 'node', hasPeers: false },
    dataDir,
    deriveKey: deriveSealKey,
    clock,
    log: makeLog({ level: 'fatal' }),
  });
  await keeper.start();
  return keeper;
}

const record = (target: string) => auditOf(fixture.fixture).act(ROOT, 'model.check', target);

beforeEach(async () => {
  fixture = await installation();
  for (const target of ['a', 'b', 'c']) await record(target);
  await (await anchored(fixture.fixture.store, fixture.dataDir)).stop();
});

test('a backup has the anchor, and what is restored is the log that it says', async () => {
  await record('later than the anchor');
  const anchor = await readAnchorText(fixture.dataDir);
  const manifest = await take(fixture.task({ anchor }));
  expect(manifest).toMatchObject({ audit: { last_id: 4 }, audit_anchor: { last_id: 3, doubt: null } });
  expect((await verdictOf(fixture.repository, manifest.id)).faults).toEqual([]);
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const dataDir = join(target, 'data');
  expect(readFileSync(anchorPath(dataDir), 'utf8')).toBe(anchor);
  expect(readdirSync(dataDir).filter((name) => name.startsWith('errand.db'))).toEqual(['errand.db']);
  const store = openStore(join(dataDir, 'errand.db'), fixture.fixture.clock);
  expect((await anchored(store, dataDir)).fault()).toBeNull();
  await store.close();
});

test('a backup of an emptied log is not intact, and its restored copy says so', async () => {
  fixture.fixture.change('DELETE FROM audit_entries; DELETE FROM audit_head;');
  const { id } = await take(fixture.task({ anchor: await readAnchorText(fixture.dataDir) }));
  expect((await verdictOf(fixture.repository, id)).faults).toEqual([
    expect.stringContaining('Entry 3, which the log had, is missing'),
  ]);
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect((await anchored(store, join(target, 'data'))).fault()).toContain('entry 3, which the log had, is missing');
  await store.close();
});

test('a copy without its anchor, of a log that had one, is noticed', async () => {
  await take(fixture.task({ anchor: null }));
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect((await anchored(store, join(target, 'data'))).fault()).toContain(
    'the file with the anchor of the log is missing',
  );
  await store.close();
});

test('a log that ends elsewhere than the manifest says is not restored', async () => {
  const { root, repository } = fixture;
  const database = join(root, 'copy.db');
  await fixture.fixture.store.close();
  copyFileSync(fixture.fixture.file, database);
  const id = await makeByHand({ repository, database, facts: { audit: { last_id: 9, last_hash: 'a'.repeat(64) } } });
  expect((await verdictOf(repository, id)).faults).toContain('The audit log ends elsewhere than it did.');
  await expect(restore(requestOf(repository, join(root, 'target')))).rejects.toThrow(
    'ends elsewhere than its manifest says',
  );
  rmSync(database);
});
