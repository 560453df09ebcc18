import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeScanner } from '../../src/doctor/scan.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { openBlobsInFiles } from '../support/files/blobs-in-files.ts';
import { attachmentOf, contentsOf, keyOf } from '../support/store/small-contents.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const SIGNAL = new AbortController().signal;

function scanner() {
  const { scan, stop } = makeScanner(fakeClock());
  onTestFinished(stop);
  return (file: string, blobs: string, workspaces = temporaryDirectory(), orphansBefore = 0) =>
    scan(
      {
        store: { kind: 'sqlite', file },
        blobs,
        workspaces,
        orphansBefore,
        silentSince: Date.parse('2026-03-01'),
        full: false,
        auditEnd: null,
        node: { id: 'node', hasPeers: false },
        defined: null,
        now: 0,
      },
      SIGNAL,
    );
}

async function withFiles() {
  const blobs = temporaryDirectory();
  const stored = await openBlobsInFiles(blobs);
  const hold = stored.hold();
  const keys = [await hold.put(Buffer.from('a tide table')), await hold.put(Buffer.from('a chart'))];
  const fixture = await storeFixture();
  const attachments = keys.map((sha256, at) => ({
    id: `a${at}`,
    name: `${at}.txt`,
    path: `attachments/a${at}/${at}.txt`,
    workspacePath: `/uploads/${at}.txt`,
    mimeType: 'text/plain',
    size: at === 0 ? 12 : 7,
    sha256,
    shown: null,
  }));
  await fixture.accept({ attachments });
  hold.release();
  return { fixture, blobs, keys };
}

test('a look reads the database and finds the files that rows name', async () => {
  const { fixture, blobs } = await withFiles();
  const seen = await scanner()(fixture.file, blobs);
  expect(seen).toMatchObject({
    ok: true,
    database: { faults: [], stuck: [], webhooks: [], newestEventAt: fixture.clock.now() },
    blobs: { named: 2, missing: 0, wrong: 0, examples: [], isWhole: true },
  });
});

test('files that are gone or have another size are counted, and named', async () => {
  const { fixture, blobs, keys } = await withFiles();
  rmSync(blobPath(blobs, keys[0]!));
  truncateSync(blobPath(blobs, keys[1]!), 3);
  expect(await scanner()(fixture.file, blobs)).toMatchObject({
    blobs: { missing: 1, wrong: 1, examples: expect.arrayContaining(keys) },
  });
});

test('a file that is no database is a finding, not a failure of the look', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'errand.db');
  writeFileSync(file, 'not a database, but long enough to be read as one'.repeat(100));
  expect(await scanner()(file, directory)).toEqual({ ok: false, why: expect.stringContaining('not a database') });
  expect(await scanner()(path.join(directory, 'none.db'), directory)).toMatchObject({ ok: false });
});

test('files that no row names are counted, with their paths', async () => {
  const { fixture, blobs } = await withFiles();
  const hold = (await openBlobsInFiles(blobs)).hold();
  const key = await hold.put(Buffer.from('nobody’s'));
  const workspaces = temporaryDirectory();
  const session = '0190f6a0-0000-7000-8000-000000000001';
  mkdirSync(path.join(workspaces, session));
  const later = Date.now() + 60_000;
  expect(await scanner()(fixture.file, blobs, workspaces, later)).toMatchObject({
    orphans: {
      blobs: 1,
      workspaces: 1,
      isWhole: true,
      examples: [
        { kind: 'blob', name: key },
        { kind: 'workspace', name: session },
      ],
    },
  });
  // Young ones are of work in progress.
  expect(await scanner()(fixture.file, blobs, workspaces)).toMatchObject({ orphans: { blobs: 0, workspaces: 0 } });
});

test('small blobs that are rows are looked at as well, and are orphans however young they are', async () => {
  const fixture = await storeFixture();
  const contents = ['as listed', 'altered', 'gone'];
  const attachments = contents.map((content) => attachmentOf(content, content.replaceAll(' ', '-')));
  await fixture.accept({ attachments, contents: contentsOf(...contents) });
  fixture.change(`UPDATE small_blobs SET bytes = X'00' WHERE key = '${keyOf('altered')}'`);
  fixture.change(`DELETE FROM small_blobs WHERE key = '${keyOf('gone')}'`);
  fixture.change(`INSERT INTO small_blobs (key, bytes) VALUES ('${keyOf('left')}', X'0001')`);
  const [blobs, workspaces] = [temporaryDirectory(), temporaryDirectory()];
  expect(await scanner()(fixture.file, blobs, workspaces)).toMatchObject({
    blobs: { named: 3, missing: 1, wrong: 1, examples: [keyOf('altered'), keyOf('gone')].toSorted() },
    orphans: { blobs: 1, bytes: 2, examples: [{ kind: 'row', name: keyOf('left'), bytes: 2 }] },
  });
});
