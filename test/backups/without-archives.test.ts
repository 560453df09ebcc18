// Archives in backups: they are made of files that a backup has, so it leaves them out.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { openStore } from '../support/store/open-store.ts';
import { filesIn, installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
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
