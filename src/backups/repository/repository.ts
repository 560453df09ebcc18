// A repository: the directory that holds backups, which share their objects.
//   objects/ab/<sha256>   content, each once
//   backups/<id>.json     a manifest, written last: a backup without one doesn't exist
//   incoming/             what is being written
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import { codeOf, ErrandError, messageOf } from '../../domain/errors.ts';
import { type DirectoryLock, LOCK_FILES, lockDataDirectory } from '../../store/engine/sqlite/file/lock.ts';
import type { Manifest } from '../../wire/backups/manifest.ts';
import { fullDisk, isFullDisk } from './full-disk.ts';
import { MAX_MANIFEST_BYTES, readManifest } from './manifest.ts';

const OWNER_ALONE = 0o700;
const NAME = /^(\d{8}T\d{6}Z-[0-9a-f]{6})\.json$/;
/** What a repository consists of; anything else in a directory means that it is used for something else. */
const OWN = new Set(['objects', 'backups', 'incoming', ...LOCK_FILES, 'lost+found']);

export const objectsOf = (repository: string) => join(repository, 'objects');
export const incomingOf = (repository: string) => join(repository, 'incoming');
export const manifestPath = (repository: string, id: string) => join(repository, 'backups', `${id}.json`);

/**
 * Makes the directory a repository, unless it is one, and locks it: one process at a time writes or prunes. Empties `incoming/`.
 * Throws `conflict` when it is in use or holds something else, and `unavailable` when it can't be written.
 */
export function openRepository(repository: string): DirectoryLock {
  try {
    requireNotWithinAnother(repository);
    makeDirectories(repository, OWNER_ALONE);
    const other = readdirSync(repository).find((name) => !OWN.has(name));
    if (other !== undefined)
      throw new ErrandError(
        'conflict',
        `${repository} is no directory for backups: it contains ${JSON.stringify(other)}.`,
      );
    const lock = lockRepository(repository);
    try {
      rmSync(incomingOf(repository), { recursive: true, force: true });
      for (const folder of ['objects', 'backups', 'incoming'])
        mkdirSync(join(repository, folder), { recursive: true, mode: OWNER_ALONE });
      return lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    if (error instanceof ErrandError) throw error;
    if (isFullDisk(error)) throw fullDisk(`There is no space left in ${repository}.`, messageOf(error));
    throw new ErrandError('unavailable', `Backups can't be written to ${repository}: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** What is in a repository is its own: a folder that it doesn't know would have it refuse all further backups. */
function requireNotWithinAnother(repository: string): void {
  for (let folder = dirname(resolve(repository)); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'objects')) && existsSync(join(folder, 'backups')))
      throw new ErrandError('conflict', `${repository} is within ${folder}, which has backups.`);
}

function lockRepository(repository: string): DirectoryLock {
  try {
    return lockDataDirectory(repository);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.reason !== 'conflict') throw error;
    throw new ErrandError('conflict', `Another backup or a removal of backups is in progress in ${repository}.`);
  }
}

/** The id of the backup whose manifest has this name. */
export const idOf = (name: string): string | undefined => NAME.exec(name)?.[1];

/** The ids of the backups in a repository, the oldest first; none when there is no such directory. */
export function listIds(repository: string): readonly string[] {
  return namesIn(join(repository, 'backups'))
    .flatMap((name) => idOf(name) ?? [])
    .sort();
}

/** Reads the manifest of a backup. Throws `not_found`, and as `readManifest` does. */
export function readManifestOf(repository: string, id: string): Manifest {
  const path = manifestPath(repository, id);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new ErrandError('not_found', `There is no backup ${id} in ${repository}.`);
  if (stats.size > MAX_MANIFEST_BYTES)
    throw new ErrandError('conflict', `The manifest of the backup ${id} is too large.`);
  return readManifest(readFileSync(path, 'utf8'), id);
}

/** When a backup was begun, by its id: epoch ms. */
export function timeOfId(id: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}
