// Packs blobs into an archive on the snapshot thread, piece by piece: memory use does not depend on the size.
import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasBlob, placeBlobs } from '../blobs/blob-place.ts';
import { writeAll } from '../snapshots/copy-file.ts';
import type { PackTask } from '../snapshots/snapshot-orders.ts';
import { keepZip, openEarlierZip, type PackedEntry } from './earlier-zip.ts';
import { packTarGz } from './pack-tar-gz.ts';
import { packZip } from './pack-zip.ts';
import type { Packing } from './packing.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';
import type { Work } from '../snapshots/take-snapshot.ts';

/** Packs files, and reports the archive as one file without a path. */
export async function packArchive(task: PackTask, files: readonly SnapshotFile[], work: Work): Promise<void> {
  const path = join(task.scratch, 'archive');
  const file = openSync(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let size = 0;
  const write = (bytes: Buffer) => {
    hash.update(bytes);
    writeAll(file, bytes, size);
    size += bytes.length;
  };
  let entries: PackedEntry[] | undefined;
  try {
    const packing = { files, blobs: task.blobs, write, pace: work.pace };
    if (task.kind === 'zip') entries = await packAgain(task, packing);
    else await packTarGz(packing);
    work.pace.check();
  } finally {
    closeSync(file);
  }
  const key = hash.digest('hex');
  await work.report([{ path: '', size, sha256: key }]);
  const isThere = hasBlob(task.blobs, key);
  if (isThere) rmSync(path);
  await placeBlobs(task.blobs, isThere ? [] : [{ path, key }], isThere ? [key] : []);
  if (entries !== undefined && task.notePath !== null) keepZip(task.notePath, key, entries);
}

async function packAgain({ notePath, blobs }: PackTask, packing: Packing): Promise<PackedEntry[]> {
  const earlier = notePath === null ? undefined : await openEarlierZip(notePath, blobs, packing.pace);
  try {
    return await packZip(packing, earlier);
  } finally {
    earlier?.close();
  }
}
