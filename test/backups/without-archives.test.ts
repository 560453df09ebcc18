// Archives in backups: they are made of files that a backup has, so it leaves them out.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { openStore } from '../support/store/open-store.ts';
import { filesIn, installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { contentsOf } from '../support/store/small-contents.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

test('a backup has no archives, its copy says that they are still to be packed, and nothing else is missing', async () => {
  const fixture = await installation();
  const { sha256 } = await fixture.addSession('some text');
  const archive = 'bytes of an archive';
  const key = createHash('sha256').update(archive).digest('hex');
  fixture.put(blobPath(join(fixture.dataDir, 'blobs'), key), archive);
  const [run] = fixture.fixture.rows<{ seq: number; session: number }>('SELECT seq, session_seq AS session FROM runs');
  const columns = 'file_count, total_size, archive_key, archive_size, archived_at';
  const values = `1, 9, '${key}', ${archive.length}, 1`;
  fixture.fixture.change(
    `INSERT INTO run_artifacts (run_seq, skipped, created_at, ${columns}) VALUES (${run!.seq}, '{}', 1, ${values})`,
  );
  fixture.fixture.change(
    `INSERT INTO workspace_exports (session_seq, run_seq, status, updated_at, ${columns}) VALUES (${run!.session}, ${run!.seq}, 'ready', 1, ${values})`,
  );

  const manifest = await take(fixture.task());
  expect(manifest).toMatchObject({ blobs: { files: 1 }, missing_blobs: 0 });
  expect(await verdictOf(fixture.repository, manifest.id)).toMatchObject({ faults: [] });
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  expect(Object.keys(filesIn(join(target, 'data', 'blobs')))).toEqual([blobPath('', sha256).slice(1)]);
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect(await store.artifacts.getWorkspaceExport(run!.session)).toMatchObject({ archive: null, isUnpacked: true });
  await store.close();
  // The original keeps its own.
  expect(await fixture.fixture.store.artifacts.getWorkspaceExport(run!.session)).toMatchObject({ archive: { key } });
});

test('an archive that is a row is left out as well, unless something else lists the same bytes', async () => {
  const fixture = await installation();
  const [listed, run] = [
    await fixture.addRow('a file that was uploaded, and packed'),
    fixture.fixture.rows<{ seq: number }>('SELECT seq FROM runs')[0]!.seq,
  ];
  const archives = [...contentsOf('an archive')];
  for (const [key, bytes] of archives)
    fixture.fixture.change(
      `INSERT INTO small_blobs (key, bytes) VALUES ('${key}', CAST('${bytes.toString()}' AS BLOB))`,
    );
  const columns = 'run_seq, file_count, total_size, skipped, created_at, archive_key, archive_size, archived_at';
  fixture.fixture.change(
    `INSERT INTO run_artifacts (${columns}) VALUES (${run}, 1, 9, '{}', 1, '${archives[0]![0]}', 10, 1)`,
  );
  fixture.fixture.change(
    `INSERT INTO workspace_exports (session_seq, run_seq, status, file_count, total_size, updated_at, archive_key, archive_size)
     SELECT session_seq, seq, 'ready', 1, 9, 1, '${listed}', 36 FROM runs`,
  );
  const { id } = await take(fixture.task());
  expect(await verdictOf(fixture.repository, id)).toMatchObject({ faults: [] });
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect((await store.smallBlobs.listUses('', 9)).map(({ key }) => key)).toEqual([listed]);
  await store.close();
  expect(await fixture.fixture.store.smallBlobs.listUses('', 9)).toHaveLength(2);
});
