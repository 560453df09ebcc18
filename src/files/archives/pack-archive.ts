// Packs blobs into an archive on the snapshot thread, as a stream: memory use does not depend on the size.
import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { hasBlob, placeBlobs } from '../blobs/blob-place.ts';
import { writeAll } from '../snapshots/copy-file.ts';
import type { PackTask } from '../snapshots/snapshot-orders.ts';
import { packTarGz } from './pack-tar-gz.ts';
import { packZip } from './pack-zip.ts';
import { type Packing, readBlob } from './packing.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';
import type { Work } from '../snapshots/take-snapshot.ts';

const PACKERS: Readonly<Record<PackTask['kind'], (packing: Packing) => Promise<void>>> = {
  'tar.gz': packTarGz,
  zip: packZip,
};

/** Packs files, and reports the archive as one file without a path. */
export async function packArchive(task: PackTask, files: readonly SnapshotFile[], work: Work): Promise<void> {
  const path = join(task.scratch, 'archive');
  const file = openSync(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let size = 0;
  const to = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      try {
        hash.update(bytes);
        writeAll(file, bytes, size);
        size += bytes.length;
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
  try {
    const bytesOf = (one: SnapshotFile) => readBlob(task.blobs, one, work.pace);
    await PACKERS[task.kind]({ files, bytesOf, to, signal: work.pace.signal });
    work.pace.check();
  } finally {
    closeSync(file);
  }
  const key = hash.digest('hex');
  await work.report([{ path: '', size, sha256: key }]);
  const isThere = hasBlob(task.blobs, key);
  if (isThere) rmSync(path);
  await placeBlobs(task.blobs, isThere ? [] : [{ path, key }], isThere ? [key] : []);
}
