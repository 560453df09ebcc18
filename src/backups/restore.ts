// Restores a backup into an empty directory.
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freeBytes, megabytes } from '../disk/disk-space.ts';
import { giveTree } from '../disk/give-tree.ts';
import type { Owner } from '../disk/make-beneath.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { syncDiskOf } from '../disk/sync-disk.ts';
import { syncPath } from '../disk/sync-path.ts';
import { systemClock } from '../domain/clock.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { anchorPath } from '../files/audit-anchor.ts';
import { writeAtomically } from '../files/blobs/write-atomically.ts';
import { type DirectoryLock, LOCK_FILES, lockDataDirectory } from '../store/engine/sqlite/file/lock.ts';
import { type CopyStep, copyStore, examineDatabase } from '../store/copies/copy-store.ts';
import { openCopy } from '../store/copies/database-copy.ts';
import { pauseCopy } from '../store/copies/pause-copy.ts';
import { shareBucket } from '../store/copies/share-bucket.ts';
import { openDatabase } from '../store/engine/sqlite/open-database.ts';
import type { ListedFile, Manifest } from '../wire/backups/manifest.ts';
import { readList } from './repository/file-list.ts';
import { fullDisk, isFullDisk } from './repository/full-disk.ts';
import { type LeftOut, makeLeftOut } from './left-out.ts';
import { endsAs, requireKnownSchema } from './repository/manifest.ts';
import { markerOf } from '../files/restore-marker.ts';
import { markStore } from '../files/store-marker.ts';
import { nameOfStore, type StoreLocation } from '../store/location.ts';
import type { Source } from './source.ts';
import { entriesOf, spaceOf } from './summary.ts';
import type { Target } from './archive/entry-path.ts';
import { makeUnpacker, type Unpacker } from './archive/unpack.ts';

export interface RestoreRequest extends Target {
  readonly source: Source;
  readonly manifest: Manifest;
  /** Who gets all that is restored, as the daemon runs as that user; null: whoever restores it. */
  readonly service: Owner | null;
  /** Null: the operator puts it there. */
  readonly masterKey: Uint8Array | null;
  /** Disables webhooks and scheduled tasks in the copy. */
  readonly paused: boolean;
  /** An empty PostgreSQL database, which gets the rows; null: a file of the data directory has them. */
  readonly rowsTo: StoreLocation | null;
  readonly onProgress: (bytes: number) => void;
  readonly onRows: (step: CopyStep, done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** Beyond the bytes of files: the rest of their last blocks, folders and links. */
const BYTES_PER_ENTRY = 4_096;

/**
 * Restores a backup. A directory that is not complete has a marker, with which no daemon starts. Throws `conflict` for a
 * directory with content and for a backup whose database is damaged, `unavailable` when there is no space. Returns the files that
 * are damaged, and those of sessions and of the configuration that can't exist there; everything else is restored.
 */
export async function restore(request: RestoreRequest): Promise<LeftOut> {
  const { dataDir, configDir, manifest } = request;
  requireKnownSchema(manifest);
  requireEmpty(request);
  await requireDatabase(request);
  // First: what a refusal left would be in the way of the next attempt.
  requireSpace(dataDir, manifest);
  let lock: DirectoryLock | undefined;
  try {
    makeDirectories(dataDir, 0o700);
    makeDirectories(configDir, 0o755);
    lock = lockDataDirectory(dataDir);
    const marker = markerOf(dataDir);
    writeFileSync(marker, `${manifest.id}\n`, { mode: 0o600 });
    for (const path of [marker, dataDir]) syncPath(path);
    const leftOut = unpackAll(request);
    restoreAuditEnd(request);
    if (request.masterKey !== null) writeAtomically(join(dataDir, 'master.key'), request.masterKey, 0o600);
    shareBucket(join(dataDir, 'errand.db'));
    if (request.paused) await pause(join(dataDir, 'errand.db'));
    await moveRows(request);
    if (request.service !== null) {
      const { uid, gid } = request.service;
      // The configuration is the operator's; the user gets what is for its owner alone.
      giveTree(configDir, (found) => ({ uid: (found.mode & 0o040) === 0 ? uid : found.uid, gid }));
      chmodSync(configDir, 0o750);
      giveTree(dataDir, () => ({ uid, gid }));
    }
    for (const directory of [dataDir, configDir])
      if (!(await syncDiskOf(directory)))
        throw new ErrandError('unavailable', 'What was restored could not be synced.');
    rmSync(marker);
    syncPath(dataDir);
    return leftOut;
  } catch (error) {
    throw explained(error, dataDir);
  } finally {
    lock?.release();
  }
}

function unpackAll(request: RestoreRequest): LeftOut {
  const { source, manifest, onProgress, signal } = request;
  const unpacker = makeUnpacker(request, { read: source.read, keeps: true });
  const leftOut = makeLeftOut();
  const lost: string[] = [];
  let [bytes, entries] = [0, 0];
  try {
    for (const file of readList(manifest.list, source.read, (key) => void lost.push(key))) {
      signal.throwIfAborted();
      // It comes first: without it, there is nothing to restore the others to.
      if (entries === 0 && (lost.length > 0 || file.kind !== 'database')) throw noDatabase(manifest);
      entries += 1;
      const why = file.kind === 'database' ? writeDatabase(unpacker, file, manifest) : unpacker.write(file);
      if (why !== null) leftOut.add(file.kind === 'blob' ? `blob ${file.path}` : file.path, why);
      bytes += file.size;
      onProgress(bytes);
    }
    if (entries === 0) throw noDatabase(manifest);
    const unknown = entriesOf(manifest) - entries;
    for (const [index, key] of lost.entries())
      leftOut.add(`object ${key}`, 'a part of the list of files, it is damaged', index === 0 ? unknown : 0);
    return leftOut;
  } finally {
    unpacker.close();
  }
}

function writeDatabase(unpacker: Unpacker, file: ListedFile, manifest: Manifest): string | null {
  try {
    return unpacker.write(file);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.reason !== 'conflict') throw error;
    throw noDatabase(manifest, error);
  }
}

function noDatabase({ id }: Manifest, error?: ErrandError): ErrandError {
  const why = error === undefined ? 'its list of files is damaged.' : error.message;
  return new ErrandError(
    'conflict',
    `The database of the backup ${id} can't be restored: ${why} Restore another backup.`,
    {
      cause: error,
    },
  );
}

/** What a daemon compares the log with at its first start. Throws `conflict` for a log that is not that of the manifest. */
function restoreAuditEnd({ dataDir, manifest }: RestoreRequest): void {
  const { audit_anchor: anchor } = manifest;
  const database = join(dataDir, 'errand.db');
  const copy = openCopy(database);
  try {
    if (!endsAs(manifest, copy.auditEnd()))
      throw new ErrandError(
        'conflict',
        `The audit log in the backup ${manifest.id} ends elsewhere than its manifest says: one of them was altered.`,
      );
  } finally {
    copy.close();
    // A connection that only reads leaves them, empty.
    for (const suffix of ['-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
  }
  if (anchor) writeAtomically(anchorPath(dataDir), `${JSON.stringify(anchor)}\n`, 0o600);
}

/** The tables of an older schema are others. Without a pause, the daemon migrates it at its start. */
async function pause(database: string): Promise<void> {
  await openDatabase(database, systemClock).close();
  pauseCopy(database);
}

/** The file doesn't stay: the daemon would use neither. */
async function moveRows({ dataDir, rowsTo: to, onRows: progress, signal }: RestoreRequest): Promise<void> {
  if (to === null) return;
  const file = join(dataDir, 'errand.db');
  await openDatabase(file, systemClock).close();
  await copyStore({ from: { kind: 'sqlite', file }, to, dataDir: null, progress, signal });
  rmSync(file);
  markStore(dataDir, nameOfStore(to));
}

/** Before anything is written. A database whose certificate comes with the configuration can't be reached yet. */
async function requireDatabase({ rowsTo, configDir }: RestoreRequest): Promise<void> {
  if (rowsTo?.kind !== 'postgres') return;
  const { sslRootCert, sslCert, sslKey } = rowsTo.address;
  const isOfBackup = (file: string | null) => file?.startsWith(`${configDir}/`) === true;
  if (![sslRootCert, sslCert, sslKey].some(isOfBackup)) await examineDatabase(rowsTo);
}

/** Throws `conflict` unless both directories are missing or empty. */
export function requireEmpty({ dataDir, configDir }: Pick<Target, 'configDir' | 'dataDir'>): void {
  for (const directory of [dataDir, configDir]) requireNothingIn(directory);
}

function requireNothingIn(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (existsSync(markerOf(directory)))
    throw new ErrandError(
      'conflict',
      `An earlier restore into ${directory} did not complete. Remove the directory first.`,
    );
  // A restore that was killed before it wrote the marker has left its lock.
  if (!stats.isDirectory() || readdirSync(directory).some((name) => !LOCK_FILES.includes(name)))
    throw new ErrandError(
      'conflict',
      `${directory} is not an empty directory. A backup is restored into an empty one only.`,
    );
}

function requireSpace(target: string, manifest: Manifest): void {
  let directory = target;
  while (!existsSync(directory)) directory = dirname(directory);
  const needed = spaceOf(manifest) + entriesOf(manifest) * BYTES_PER_ENTRY;
  const free = freeBytes(directory);
  if (free < needed)
    throw new ErrandError(
      'unavailable',
      `The backup needs ${megabytes(needed)} MB, and ${directory} has ${megabytes(free)} MB free.`,
    );
}

function explained(error: unknown, dataDir: string): unknown {
  if (!isFullDisk(error)) return error;
  const reason = messageOf(error).replace(/\.$/, '');
  return fullDisk(`There is no space left: ${reason}. ${dataDir} is not complete; remove it.`, reason);
}
