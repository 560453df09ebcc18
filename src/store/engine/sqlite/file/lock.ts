// The data directory's exclusive lock: one process at a time, and the next one's error names the holder.
import { lchownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { codeOf, ErrandError } from '../../../../domain/errors.ts';
import { makePrivateFile } from './private-file.ts';

export const LOCK_FILE = 'errand.lock';

/** What taking the lock leaves in a directory. */
export const LOCK_FILES: readonly string[] = [LOCK_FILE, 'errand.lock-journal', 'errand.pid'];

/** A held lock. Keep a reference: garbage collection releases the lock. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the lock of a data directory. The kernel releases it when the process dies, however it dies. Throws `conflict` with
 * the holder's pid when another process has it.
 */
export function lockDataDirectory(dataDir: string): DirectoryLock {
  const pidFile = join(dataDir, 'errand.pid');
  const lockFile = join(dataDir, LOCK_FILE);
  makePrivateFile(lockFile);
  leaveToOwner(dataDir, lockFile);
  const connection = new Connection(lockFile, { timeout: 0 });
  try {
    // Nothing is ever written: a full disk is no reason to refuse.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    connection.close();
    if (!(error instanceof Connection.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new ErrandError('conflict', `${dataDir} is in use by another Errand${describeHolder(pidFile)}.`, {
      cause: error,
    });
  }
  try {
    nameHolder(pidFile);
  } catch (error) {
    connection.close();
    throw error;
  }
  let held = true;
  return {
    release: () => {
      if (!held) return;
      held = false;
      rmSync(pidFile, { force: true });
      connection.close();
    },
  };
}

/** Only for the words of a refusal. */
function nameHolder(pidFile: string): void {
  // One that root left behind could not be written to.
  rmSync(pidFile, { force: true });
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error;
    rmSync(pidFile, { force: true });
  }
}

/** A file that root has made would be closed to the daemon. A link is not followed: the directory is the daemon's. */
export function leaveToOwner(dataDir: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  // Root of a user namespace, as the daemon is under its unit, can't give anything to a group that is not in its map.
  if (uid !== 0) lchownSync(file, uid, gid);
}

function describeHolder(pidFile: string): string {
  try {
    return ` (pid ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
