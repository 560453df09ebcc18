// Writes a database anew without its free pages, beside a stopped daemon: the copy takes the place of the file at once, or not at all.
import { chownSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Connection from 'better-sqlite3';
import { freeBytes, megabytes } from '../../../../disk/disk-space.ts';
import { syncPath } from '../../../../disk/sync-path.ts';
import { MB } from '../../../../domain/byte-units.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import { makePrivateFile } from './private-file.ts';

export interface VacuumReport {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** For the log of what is read, and for what else is on the disk. */
const SPARE_BYTES = 16 * MB;

/**
 * The caller holds the lock of the data directory. `begins` is called with the size of the copy once there is room for it. Throws
 * `unavailable` without room. A kill leaves the file as it was, and a part of a copy that the next call or the next start of the
 * daemon removes. Blocks.
 */
export function vacuumFile(
  file: string,
  { begins, free = freeBytes }: { begins?(bytes: number): void; free?(path: string): number } = {},
): VacuumReport {
  const copy = copyOf(file);
  removeCopy(file);
  const beforeBytes = statSync(file).size;
  try {
    writeCopy(file, copy, (bytes) => {
      const room = free(dirname(file));
      if (room < bytes + SPARE_BYTES) throw noRoom(bytes, room);
      begins?.(bytes);
    });
    const { uid, gid } = statSync(file);
    if (process.getuid?.() === 0) chownSync(copy, uid, gid);
    syncPath(copy);
    // What an earlier log had is in the file now. One beside another database would damage it.
    if (statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined)
      throw new ErrandError('conflict', `Another process has ${file} open.`);
    renameSync(copy, file);
    syncPath(dirname(file));
  } catch (error) {
    removeCopy(file);
    throw error;
  }
  return { beforeBytes, afterBytes: statSync(file).size };
}

const copyOf = (file: string) => `${file}.vacuum`;

/** Removes what a kill has left of a copy, with its journal: SQLite would take that for the journal of the next copy. */
export function removeCopy(file: string): void {
  for (const left of [copyOf(file), `${copyOf(file)}-journal`]) rmSync(left, { force: true });
}

function writeCopy(file: string, copy: string, check: (bytes: number) => void): void {
  const connection = new Connection(file, { fileMustExist: true, timeout: 1_000 });
  try {
    const pragma = (name: string) => Number(connection.pragma(name, { simple: true }));
    check((pragma('page_count') - pragma('freelist_count')) * pragma('page_size'));
    connection.pragma('auto_vacuum = INCREMENTAL');
    makePrivateFile(copy);
    connection.prepare('VACUUM INTO ?').run(copy);
  } finally {
    // The last connection moves the log into the file, and removes it.
    connection.close();
  }
}

function noRoom(bytes: number, room: number): ErrandError {
  const needed = megabytes(bytes + SPARE_BYTES);
  return new ErrandError(
    'unavailable',
    `A copy of the database takes ${needed} MB, and ${megabytes(room)} MB are free.`,
  );
}
