// Where a blob lies below the blobs' directory, and how one that was written beside it takes its place.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncDiskOf } from '../../disk/sync-disk.ts';

/** The path of a blob. */
export function blobPath(directory: string, key: string): string {
  return join(directory, key.slice(0, 2), key);
}

/** The folder of what is being written. Emptied at each start. */
export function incomingPath(directory: string): string {
  return join(directory, 'incoming');
}

/** Whether a blob is there. Only a hold on it makes the answer last. */
export function hasBlob(directory: string, key: string): boolean {
  return statSync(blobPath(directory, key), { throwIfNoEntry: false }) !== undefined;
}

interface Written {
  readonly path: string;
  readonly key: string;
}

/** From so many files on, one call for the whole file system costs less than one for each file and folder. */
const MANY = 32;

/**
 * Moves files to their places as blobs: first their bytes are on the disk, then their names, with those of blobs that were
 * `found` there: whoever brought them may not have come so far. For a thread that nobody waits in.
 */
export async function placeBlobs(
  directory: string,
  written: readonly Written[],
  found: readonly string[] = [],
): Promise<void> {
  const [paths, targets] = [written.map(({ path }) => path), written.map(({ key }) => blobPath(directory, key))];
  const known = found.map((key) => blobPath(directory, key));
  const folders = [...new Set([...targets, ...known].map((path) => dirname(path)))];
  if (folders.length === 0) return;
  await syncAll(directory, paths);
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [i, path] of paths.entries()) renameSync(path, targets[i]!);
  await syncAll(directory, [...folders, directory]);
}

async function syncAll(directory: string, paths: readonly string[]): Promise<void> {
  if (paths.length > MANY && (await syncDiskOf(directory))) return;
  for (const path of paths) {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
