// Packs blobs into an archive on the snapshot thread, as a stream: memory use does not depend on the size.
import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { Writable } from 'node:stream';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import { hasBlob, placeBlobs } from '../blobs/blob-place.ts';
import { writeAll } from '../blobs/write-new.ts';
import { archivePath, type PackTask } from '../snapshots/snapshot-requests.ts';
import { packTarGz } from './pack-tar-gz.ts';
import { packZip } from './pack-zip.ts';
import { makeReadBlob } from '../snapshots/read-blob.ts';
import type { Packing } from './packing.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';
import type { Work } from '../snapshots/take-snapshot.ts';

const PACKERS: Readonly<Record<PackTask['kind'], (packing: Packing) => Promise<void>>> = {
  'tar.gz': packTarGz,
  zip: packZip,
};

/** An archive up to this size is in memory until it is known whether it has to be written. */
const SMALL_BYTES = 262_144;

/** Packs files, and reports the archive as one file without a path. */
export async function packArchive(task: PackTask, files: readonly SnapshotFile[], work: Work): Promise<void> {
  const path = archivePath(task);
  const archive = receive(path);
  try {
    const bytesOf = makeReadBlob({ directory: task.blobs, files, ask: work.ask, pace: work.pace });
    await PACKERS[task.kind]({ files, bytesOf, to: archive.to, signal: work.pace.signal });
    work.pace.check();
  } finally {
    archive.close();
  }
  const { key, size, small } = archive.result();
  const file = { path: '', size, sha256: key };
  if (small !== undefined && size <= SMALL_BLOB_BYTES) return work.report([{ ...file, at: 0 }], [small], true);
  await work.report([file], [], true);
  const isThere = hasBlob(task.blobs, key);
  if (isThere && small === undefined) rmSync(path);
  await placeBlobs(task.blobs, isThere ? [] : [{ path, key, bytes: small }], isThere ? [key] : []);
}

interface Received {
  readonly key: string;
  readonly size: number;
  /** Its bytes when it is small, and in no file. */
  readonly small: Buffer | undefined;
}

/** Takes an archive in: into memory, and into a file as soon as it isn't small. */
function receive(path: string): { readonly to: Writable; close(): void; result(): Received } {
  const hash = createHash('sha256');
  let small: Buffer[] = [];
  let file: number | undefined;
  let size = 0;
  const write = (bytes: Buffer) => {
    hash.update(bytes);
    if (file === undefined && size + bytes.length > SMALL_BYTES) {
      file = openSync(path, 'wx', 0o600);
      writeAll(file, Buffer.concat(small), 0);
      small = [];
    }
    if (file === undefined) small.push(bytes);
    else writeAll(file, bytes, size);
    size += bytes.length;
  };
  return {
    to: new Writable({
      write: (bytes: Buffer, _encoding, done) => {
        try {
          write(bytes);
          done();
        } catch (error) {
          done(error as Error);
        }
      },
    }),
    close: () => {
      if (file !== undefined) closeSync(file);
    },
    result: () => ({ key: hash.digest('hex'), size, small: file === undefined ? Buffer.concat(small) : undefined }),
  };
}
